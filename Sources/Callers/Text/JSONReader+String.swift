extension JSONReader {
  /// Reads a string (RFC 8259 §7).
  mutating func string() throws(JSONProblem) -> String {
    index += 1
    var text: [UInt8] = []
    var copied = index
    skipPlain()
    if next == UInt8(ascii: "\"") {
      // As almost all are: without an escape.
      defer { index += 1 }
      return String(decoding: bytes[copied..<index], as: UTF8.self)
    }
    while next != UInt8(ascii: "\"") {
      // 0 is the end of the bytes, too.
      guard next >= 0x20 else { throw problem("a string does not end, or has a control character") }
      if next == UInt8(ascii: "\\") {
        text += bytes[copied..<index]
        index += 1
        text.append(contentsOf: try escape().utf8)
        copied = index
      } else {
        index += 1
      }
    }
    text += bytes[copied..<index]
    index += 1
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func skipPlain() {
    while next >= 0x20, next != UInt8(ascii: "\""), next != UInt8(ascii: "\\") { index += 1 }
  }

  private mutating func escape() throws(JSONProblem) -> Unicode.Scalar {
    let letter = next
    index += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
      return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try escapedScalar()
    default: throw problem("an escape is none")
    }
  }

  private mutating func escapedScalar() throws(JSONProblem) -> Unicode.Scalar {
    let unit = try codeUnit()
    if unit == 0 { throw problem("a string has U+0000") }
    if let scalar = Unicode.Scalar(unit) { return scalar }
    // Half of a surrogate pair; the other must follow.
    guard unit < 0xDC00, take("\\"), take("u") else { throw problem("half of a surrogate pair") }
    let low = try codeUnit()
    guard (0xDC00..<0xE000).contains(low),
      let scalar = Unicode.Scalar(
        UInt32(0x10000) + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
    else { throw problem("half of a surrogate pair") }
    return scalar
  }

  private mutating func codeUnit() throws(JSONProblem) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(next)).hexDigitValue, next < 0x80 else {
        throw problem("a hexadecimal digit is missing")
      }
      unit = unit << 4 | UInt16(digit)
      index += 1
    }
    return unit
  }
}
