/// The value of `Authorization` for a token (RFC 6750 §2.1).
enum BearerHeader {
  /// The token in a value: `Bearer`, in letters of any case, blanks, and one token68.
  static func token(in value: String) throws(CredentialError) -> String {
    let value = value[...].utf8.trimmed
    let scheme = value.prefix { !$0.isBlank }
    guard scheme.map({ $0 | 0x20 }) == Array("bearer".utf8) else { throw .otherScheme }
    let token = value.dropFirst(scheme.count).drop { $0 == 0x20 }
    guard isToken68(token) else { throw .invalidBearer }
    return String(Substring(token))
  }

  /// RFC 9110 §11.2: letters, digits and `-._~+/`, and then as many `=` as there may be.
  private static func isToken68(_ text: Substring.UTF8View) -> Bool {
    let rest = text.drop { $0.isAlphanumeric || "-._~+/".utf8.contains($0) }
    return rest.count < text.count && rest.allSatisfy { $0 == UInt8(ascii: "=") }
  }
}
