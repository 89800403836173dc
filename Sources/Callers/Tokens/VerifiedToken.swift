/// What a good token says.
package struct VerifiedToken: Sendable {
  package let claims: Claims

  /// From when on it is refused, and what it let in ends: `exp` and the leeway. Nil where it has no
  /// `exp`.
  package let expires: UnixSeconds?

  /// The caller that it proves.
  package let identity: CallerIdentity

  init(claims: Claims, expires: UnixSeconds?) {
    self.claims = claims
    self.expires = expires
    identity = .token(claims: claims, expires: expires, name: CallerName.name(of: claims))
  }
}
