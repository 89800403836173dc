extension String {
  /// The text with a picture in the place of each control character: ␛ for ESC.
  ///
  /// Names, data and clients bring them, and they must neither command a terminal nor begin a line
  /// that looks like one of the program's own. Unicode has pictures of C0 and DEL (the block
  /// U+2400); C1, which some terminals obey, becomes U+FFFD. O(n), n bytes; without a copy where
  /// there are none.
  ///
  /// - Parameter kept: control characters that stay as they are.
  /// - Returns: a text of as many scalars.
  package func showingControls(except kept: Set<Unicode.Scalar> = []) -> String {
    // C1 is C2 80 to C2 9F in UTF-8.
    guard utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 }) else { return self }
    return String(
      String.UnicodeScalarView(
        unicodeScalars.map { kept.contains($0) ? $0 : $0.shown }))
  }
}

extension Unicode.Scalar {
  fileprivate var shown: Unicode.Scalar {
    switch value {
    case 0..<0x20: Unicode.Scalar(0x2400 + value) ?? "\u{FFFD}"
    case 0x7F: "\u{2421}"
    case 0x80..<0xA0: "\u{FFFD}"
    default: self
    }
  }
}
