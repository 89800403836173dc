/// Why a token is not good. RFC 6750 §3.1 calls all of it `invalid_token`.
package struct TokenError: Error, Sendable, Equatable {
  /// The kinds of refusals that are counted.
  package enum Reason: String, Sendable, CaseIterable {
    /// It is no token, or one that this server does not read on purpose.
    case malformed
    /// It names an algorithm that is not allowed.
    case algorithm
    /// There is no key for it.
    case key
    case signature
    case expired
    case notYetValid
    case issuer
    case audience
    /// Its claims are not what RFC 7519 says.
    case claims
  }

  package let reason: Reason

  /// What helps the operator, for the log. It never has the token in it, and what it quotes of the
  /// token's header is escaped and short.
  package let explanation: String

  init(_ reason: Reason, _ explanation: String) {
    self.reason = reason
    self.explanation = explanation
  }

  /// What the client is told: whether to get a new token, and no more than that.
  package var detail: String {
    switch reason {
    case .expired: "The token has expired."
    case .notYetValid: "The token is not valid yet."
    default: "The token is not good."
    }
  }
}
