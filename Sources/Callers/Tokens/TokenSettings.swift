/// Seconds since 1970, as tokens have them (RFC 7519 §2, NumericDate).
package typealias UnixSeconds = Double

/// What a signed token must be like.
package struct TokenSettings: Sendable, Equatable {
  /// Those that may have signed it.
  package var algorithms: [SigningAlgorithm]

  /// What `iss` must be; nil for anything.
  package var issuer: String?

  /// What must be among `aud`; nil for anything, also for a token that is for others.
  package var audience: String?

  /// How far the clocks of the issuer and of this machine may be apart.
  ///
  /// Default 30 s: what machines without a synchronised clock drift in some weeks.
  package var leeway: UnixSeconds

  package init(
    algorithms: [SigningAlgorithm], issuer: String? = nil, audience: String? = nil,
    leeway: UnixSeconds = 30
  ) {
    self.algorithms = algorithms
    self.issuer = issuer
    self.audience = audience
    self.leeway = leeway
  }
}
