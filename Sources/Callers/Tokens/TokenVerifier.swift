/// Verifies signed tokens (RFC 7519 §7.2), with keys that are loaded.
///
/// It does not suspend, so a request can be answered where it was read. A token costs what its
/// signature costs in BoringSSL, and some microseconds; one that is not good ends earlier.
package struct TokenVerifier: Sendable {
  package let settings: TokenSettings
  package let keys: KeySet

  package init(settings: TokenSettings, keys: KeySet) {
    self.settings = settings
    self.keys = keys
  }

  /// What a token says, if it is good at this time.
  ///
  /// O(n) in its bytes, and a verification for each key that fits: one where it has a `kid`.
  ///
  /// - Throws: Why it is not.
  package func verify(_ token: String, now: UnixSeconds) throws(TokenError) -> VerifiedToken {
    let token = try CompactToken(token)
    let header = try TokenHeader(token.header, allowed: settings.algorithms)
    let candidates = try keys.candidates(for: header)
    guard let key = candidates.first(where: { $0.hasSigned(token) }) else {
      throw TokenError(.signature, "the token's signature is not good")
    }
    return try check(try token.payload(), signedBy: key, now: now)
  }
}
