/// Where words stand in a text, for messages.
struct WordPlaces {
  let lines: [String]

  init(lines: [String]) { self.lines = lines }

  /// By scalars: `"\r\n"` is one `Character`.
  init(_ text: String) {
    lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
  }

  /// The first place of a whole word. O(n), n characters.
  ///
  /// - Parameters:
  ///   - word: some characters.
  ///   - start: where to begin.
  ///   - end: what is not looked at any more; nil: all is.
  /// - Returns: nil where it does not stand there.
  func first(
    _ word: String, from start: TextPosition = .start, to end: TextPosition? = nil
  ) -> TextPosition? {
    let sought = Array(word.unicodeScalars)
    guard let first = sought.first, let last = sought.last else { return nil }
    let end = end ?? TextPosition(line: lines.count + 1, column: 1)
    // libYAML, which counts the lines of a mark, knows breaks that YAML 1.2 has no more (NEL, LS).
    guard start.line <= lines.count else { return nil }
    for line in start.line...max(start.line, min(end.line, lines.count)) {
      var scalars = Array(lines[line - 1].unicodeScalars)
      if line == end.line { scalars = Array(scalars.prefix(end.column - 1)) }
      var index = line == start.line ? start.column - 1 : 0
      while index + sought.count <= scalars.count {
        let after = index + sought.count
        let isCut =
          (index > 0 && scalars[index - 1].isWordPart && first.isWordPart)
          || (after < scalars.count && scalars[after].isWordPart && last.isWordPart)
        if !isCut, scalars[index..<after].elementsEqual(sought) {
          return TextPosition(line: line, column: index + 1)
        }
        index += 1
      }
    }
    return nil
  }
}

extension Unicode.Scalar {
  /// A part of an SQL identifier.
  fileprivate var isWordPart: Bool {
    properties.isAlphabetic || ("0"..."9").contains(self) || self == "_" || self == "$"
  }
}
