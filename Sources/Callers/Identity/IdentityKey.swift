/// By what two requests are known to be of one person, whose shares they use.
///
/// A token that is renewed is another text of the same `iss` and `sub`. A caller without a `sub` is
/// all that is said of it, and a token that says nothing is itself.
package struct IdentityKey: Hashable, Sendable {
  private enum Kind: UInt8 { case anonymous, subject, claims, opaque }

  private let kind: Kind
  private let digest: TokenDigest

  private init(_ kind: Kind, _ text: String) {
    self.kind = kind
    digest = TokenDigest(of: text)
  }

  fileprivate init(_ identity: CallerIdentity) {
    switch identity {
    case .anonymous: self.init(.anonymous, "")
    case .token(let claims, _, _, _), .headers(let claims, _): self.init(claims)
    case .opaque(let digest, _): self.init(.opaque, digest)
    }
  }

  private init(_ claims: Claims) {
    if CallerName.subject(of: claims) == nil {
      self.init(.claims, claims.jsonText)
    } else {
      let names = ["iss", "sub"].compactMap { name in claims.value(named: name).map { (name, $0) } }
      self.init(.subject, Claims(names).jsonText)
    }
  }
}

extension CallerIdentity {
  /// Whose shares it uses. O(n) in the size of the claims; keep it.
  package var key: IdentityKey { IdentityKey(self) }
}
