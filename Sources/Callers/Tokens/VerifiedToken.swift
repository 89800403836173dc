/// What a good token says.
package struct VerifiedToken: Sendable {
  package let claims: Claims

  /// From when on it is refused, and what it let in ends: `exp` and the leeway. Nil where it has no
  /// `exp`.
  package let expires: UnixSeconds?

  /// The caller that it proves.
  package let identity: CallerIdentity

  /// Takes what a token says; `key` is the name of the key that has signed it.
  init(claims: Claims, expires: UnixSeconds?, key: String) {
    self.claims = claims
    self.expires = expires
    identity = .token(
      claims: claims, expires: expires, key: key, name: CallerName.name(of: claims))
  }
}
