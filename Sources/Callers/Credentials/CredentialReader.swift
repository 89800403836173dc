/// Finds the credential of a request in the raw values of its headers and its URL.
///
/// One counts, and the others are not looked at: a ticket, which is in the URL of exactly this
/// request; then `Authorization`, which a program has set; then the cookie, which the browser sends
/// with everything. One that is there and cannot be read is an error, and never a lesser one or
/// nobody instead.
package struct CredentialReader: Sendable {
  /// Nil where no cookie counts.
  package let cookieName: String?

  package init(cookieName: String?) { self.cookieName = cookieName }

  /// The credential of a request. O(n) in what it reads.
  ///
  /// - Parameters:
  ///   - authorization: The values of all `Authorization` headers.
  ///   - cookies: The values of all `Cookie` headers.
  ///   - tickets: The values of all `access_token` in the URL, decoded.
  /// - Returns: The one that counts, or none.
  /// - Throws: Where there is one that is not good, or two of a kind.
  package func credential(
    authorization: [String], cookies: [String], tickets: [String]
  ) throws(CredentialError) -> Credential {
    if let ticket = tickets.first {
      guard tickets.count == 1 else { throw .repeatedTicket }
      guard !ticket.isEmpty else { throw .invalidTicket }
      return .ticket(try Self.checkSize(ticket))
    }
    if let value = authorization.first {
      guard authorization.count == 1 else { throw .repeatedAuthorization }
      return .bearer(try Self.checkSize(try BearerHeader.token(in: value)))
    }
    if let cookieName, let value = try CookieHeader.value(of: cookieName, in: cookies) {
      return .cookie(try Self.checkSize(value))
    }
    return .none
  }

  private static func checkSize(_ token: String) throws(CredentialError) -> String {
    guard token.utf8.count <= CompactToken.maximumSize else { throw .tooLong }
    return token
  }

  /// Whether a cookie can have this name (RFC 6265 §4.1.1: a token of RFC 9110 §5.6.2).
  package static func isCookieName(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        byte.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
  }
}

extension UInt8 {
  /// An ASCII letter or digit.
  var isAlphanumeric: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// A space or a tab: OWS of RFC 9110 §5.6.3.
  var isBlank: Bool { self == 0x20 || self == 0x09 }
}

extension Substring.UTF8View {
  /// Without the blanks around it.
  var trimmed: Substring.UTF8View {
    var rest = drop { $0.isBlank }
    while let last = rest.last, last.isBlank { rest.removeLast() }
    return rest
  }
}
