extension UInt8 {
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let space = UInt8(ascii: " ")
  static let tab = UInt8(ascii: "\t")

  package var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
  package var isLetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }
  var isBlank: Bool { self == .space || self == .tab }

  /// Below 0x20 or DEL.
  var isControl: Bool { self < 0x20 || self == 0x7F }

  /// RFC 9110 §5.6.2, `tchar`.
  var isTokenCharacter: Bool {
    if isDigit || isLetter { return true }
    // A switch becomes one test of a bit; a table in a static property costs a check that it is
    // there, each time.
    switch Unicode.Scalar(self) {
    case "!", "#", "$", "%", "&", "'", "*", "+", "-", ".", "^", "_", "`", "|", "~": return true
    default: return false
    }
  }

  /// RFC 9110 §5.5: VCHAR, obs-text, and blanks between them.
  var isFieldValueCharacter: Bool { !isControl || self == .tab }

  /// What may stand in a request target.
  ///
  /// RFC 3986 §2 without '#', and with the marks that the WHATWG URL standard leaves unencoded in
  /// queries, because browsers send them.
  var isTargetCharacter: Bool {
    switch Unicode.Scalar(self) {
    case "#", "\"", "<", ">", "\\": false
    default: self > .space && self < 0x7F
    }
  }

  /// RFC 3986 §3.2.2, `reg-name` without percent-encodings.
  ///
  /// Also without ',', which no host has: with it, it would be two Host fields that somebody joined.
  var isHostCharacter: Bool {
    if isDigit || isLetter { return true }
    switch Unicode.Scalar(self) {
    case "-", ".", "_", "~", "!", "$", "&", "'", "(", ")", "*", "+", ";", "=": return true
    default: return false
    }
  }

  var hexadecimalValue: UInt8? {
    if isDigit { return self &- UInt8(ascii: "0") }
    let letter = (self | 0x20) &- UInt8(ascii: "a")
    return isLetter && letter < 6 ? letter + 10 : nil
  }
}

extension Span<UInt8> {
  /// Whether the bytes of a range are a word, in any case; `word` is in lower case.
  func equals(_ word: StaticString, in range: Range<Int>) -> Bool {
    guard range.count == word.utf8CodeUnitCount else { return false }
    return word.withUTF8Buffer { expected in
      for (index, byte) in expected.enumerated() {
        let own = self[range.lowerBound + index]
        guard own == byte || (own.isLetter && own | 0x20 == byte) else { return false }
      }
      return true
    }
  }

  /// The text of a range; bytes that are not UTF-8 are repaired.
  func string(_ range: Range<Int>) -> String {
    extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }

  /// Where a byte first stands in a range, or the end of the range.
  func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int {
    var index = range.lowerBound
    while index < range.upperBound, self[index] != byte { index += 1 }
    return index
  }

  /// Steps through a list: `a, b, c` (RFC 9110 §5.6.1).
  ///
  /// - Parameters:
  ///   - range: The list.
  ///   - start: Where an element begins; moved to where the one after it does.
  /// - Returns: The element without the blanks around it, which may be empty; nil at the list's end.
  func nextElement(in range: Range<Int>, from start: inout Int) -> Range<Int>? {
    guard start <= range.upperBound else { return nil }
    let end = firstIndex(of: UInt8(ascii: ","), in: start..<range.upperBound)
    defer { start = end + 1 }
    return trimmingBlanks(start..<end)
  }

  /// A range without the blanks at its ends.
  func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
    var lower = range.lowerBound
    var upper = range.upperBound
    while lower < upper, self[lower].isBlank { lower += 1 }
    while upper > lower, self[upper - 1].isBlank { upper -= 1 }
    return lower..<upper
  }
}
