/// How a caller is called in the access log.
enum CallerName {
  /// Bytes of a name; the rest is cut off.
  ///
  /// 128: an address of electronic mail fits, and a log cannot be filled by who writes tokens.
  static let maximumSize = 128

  /// Of nobody, as in the common log format.
  static let nobody = "-"

  /// `sub`, which RFC 7519 §4.1.2 has as a text; some issuers have a number.
  static func subject(of claims: Claims) -> String? {
    switch claims.value(at: "sub") {
    case .string(let text): text
    case .integer(let number): String(number)
    default: nil
    }
  }

  static func name(of claims: Claims) -> String {
    guard let subject = subject(of: claims), !subject.isEmpty else { return "?" }
    return escaped(subject)
  }

  /// A text without what could end a field or a line of the log, or look like nobody: such bytes
  /// are written as `%20`.
  static func escaped(_ text: String) -> String {
    if text != nobody, text.utf8.count <= maximumSize, text.utf8.allSatisfy(isPlain) { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      let piece = isPlain(byte) && text != nobody ? [byte] : escape(byte)
      guard bytes.count + piece.count <= maximumSize else { break }
      bytes += piece
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "%")
      && byte != UInt8(ascii: "\\")
  }

  private static func escape(_ byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}
