package import Callers
import HTTPTypes

/// How the server knows who asks: the words of `callers`.
package struct CallerSettings: Sendable, Equatable {
  /// What a caller shows.
  package enum Proof: Sendable, Equatable {
    /// A signed token, which says who it is.
    case signed(KeySource, TokenSettings)
    /// A token that says nothing: its digest is looked up by the `claims` statement.
    case opaque
    /// What a proxy says that it has checked.
    case headers([HeaderClaim])
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

/// The field by which a proxy says one claim.
package struct HeaderClaim: Sendable, Equatable {
  let claim: String
  let field: HTTPField.Name
  /// Whether it is an array of texts, which stand with commas between them; else it is a text, commas
  /// and all.
  let isList: Bool
}
