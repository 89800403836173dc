/// The values of `Cookie` (RFC 6265 §4.2.1), of which one cookie is read.
enum CookieHeader {
  /// The value of a cookie; nil where there is none of its name, which is compared with its case.
  ///
  /// Several headers are read as one with `; ` between them, as HTTP/2 has them (RFC 9113 §8.2.3).
  /// Other cookies may look like anything: they are by others.
  static func value(of name: String, in headers: [String]) throws(CredentialError) -> String? {
    var found: Substring.UTF8View?
    for header in headers {
      for pair in header[...].utf8.split(separator: UInt8(ascii: ";")) {
        // Without a sign it is the value of a cookie that has no name.
        guard let sign = pair.firstIndex(of: UInt8(ascii: "=")),
          pair[..<sign].trimmed.elementsEqual(name.utf8)
        else { continue }
        // Which of two is meant nobody knows: one may be by a neighbour of the domain.
        guard found == nil else { throw .repeatedCookie }
        found = pair[sign...].dropFirst().trimmed
      }
    }
    guard let found else { return nil }
    return try unquoted(found)
  }

  private static func unquoted(_ value: Substring.UTF8View) throws(CredentialError) -> String {
    var value = value
    if value.count >= 2, value.first == quote, value.last == quote {
      value = value.dropFirst().dropLast()
    }
    guard !value.isEmpty, value.allSatisfy(isCookieOctet) else { throw .invalidCookie }
    return String(Substring(value))
  }

  private static let quote = UInt8(ascii: "\"")

  /// RFC 6265 §4.1.1: printable ASCII without blanks, quotes, commas, semicolons and backslashes.
  private static func isCookieOctet(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && !#"",;\"#.utf8.contains(byte)
  }
}
