package import Callers
package import HTTPTypes

/// How the server knows who asks: the words of `callers`.
package struct CallerSettings: Sendable {
  /// What a caller shows.
  package enum Proof: Sendable {
    /// A signed token, which says who it is.
    case signed(KeySource, TokenSettings)
    /// A token that says nothing: its digest is looked up by the `claims` statement.
    case opaque
    /// The fields by which a proxy says what it has checked, and the claims that they are.
    case headers([(claim: String, field: HTTPField.Name)])
  }

  package var proof: Proof
  /// The cookie that may have the token, beside `Authorization`.
  package var cookie: String?
  /// A SELECT of at most one row, whose columns join the claims; nil: there is none.
  package var claims: String?
  /// Who sees how the server does its work; nil: nobody.
  package var operators: AccessRule?
  /// Where the key of tickets is; nil: each server has one of its own.
  package var ticketKey: String?
}
