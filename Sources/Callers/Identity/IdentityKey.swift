/// By what two requests are known to be of the same caller, so that their streams share what is live.
///
/// Two tokens of one person are two callers, unless they say exactly the same: what the claims
/// statement makes of them may depend on any claim.
package struct IdentityKey: Hashable, Sendable {
  private enum Kind: UInt8 { case anonymous, token, opaque, headers }

  private let kind: Kind
  private let digest: TokenDigest

  private init(_ kind: Kind, _ text: String) {
    self.kind = kind
    digest = TokenDigest(of: text)
  }

  fileprivate init(_ identity: CallerIdentity) {
    switch identity {
    case .anonymous: self.init(.anonymous, "")
    // `expires` is a claim, too.
    case .token(let claims, _, _): self.init(.token, claims.jsonText)
    case .opaque(let digest, _): self.init(.opaque, digest)
    case .headers(let claims, _): self.init(.headers, claims.jsonText)
    }
  }
}

extension CallerIdentity {
  /// The key to share by. O(n) in the size of the claims; keep it.
  package var key: IdentityKey { IdentityKey(self) }
}
