/// Why a credential cannot be read. It is there, so the caller is not anonymous: 401.
package enum CredentialError: Error, Sendable, CaseIterable {
  case repeatedAuthorization
  /// Another scheme than Bearer.
  case otherScheme
  case invalidBearer
  case repeatedCookie
  case invalidCookie
  case repeatedTicket
  case invalidTicket
  case tooLong
}

extension CredentialError {
  /// For the client.
  package var detail: String {
    switch self {
    case .repeatedAuthorization, .repeatedCookie, .repeatedTicket:
      "There is more than one token."
    case .otherScheme: "The scheme of Authorization must be Bearer."
    case .invalidBearer, .invalidCookie, .invalidTicket, .tooLong: "The token is not good."
    }
  }

  /// For the log; nothing of the credential is in it.
  package var explanation: String {
    switch self {
    case .repeatedAuthorization: "the request has two Authorization headers"
    case .otherScheme: "the scheme of Authorization is not Bearer"
    case .invalidBearer: "what follows Bearer is not one token (RFC 6750 §2.1)"
    case .repeatedCookie: "the request has two cookies of the name"
    case .invalidCookie: "the cookie's value is empty, or not one of RFC 6265 §4.1.1"
    case .repeatedTicket: "the URL has two tickets"
    case .invalidTicket: "the ticket in the URL is empty"
    case .tooLong: "the token has more than \(CompactToken.maximumSize) bytes"
    }
  }
}
