// The claims that say for whom and when a token is good (RFC 7519 §4.1).
extension TokenVerifier {
  func check(
    _ claims: Claims, signedBy key: VerificationKey, now: UnixSeconds
  ) throws(TokenError) -> VerifiedToken {
    let expires = try Self.time("exp", in: claims).map { $0 + settings.leeway }
    let begins = try Self.time("nbf", in: claims).map { $0 - settings.leeway }
    // It says how old the token is, which nothing here depends on.
    _ = try Self.time("iat", in: claims)
    try checkIssuer(claims)
    try checkAudience(claims)
    // RFC 7519 §4.1.4: "on or after which".
    if let expires, now >= expires { throw TokenError(.expired, "the token has expired") }
    if let begins, now < begins { throw TokenError(.notYetValid, "the token is not valid yet") }
    return VerifiedToken(claims: claims, expires: expires, key: key.name)
  }

  /// A NumericDate (RFC 7519 §2): a number, never a text, and null neither.
  private static func time(
    _ name: String, in claims: Claims
  ) throws(TokenError) -> UnixSeconds? {
    switch claims.value(named: name) {
    case nil: return nil
    case .integer(let seconds): return UnixSeconds(seconds)
    case .double(let seconds): return seconds
    default: throw TokenError(.claims, "the token's \(name) is not a number")
    }
  }

  private func checkIssuer(_ claims: Claims) throws(TokenError) {
    guard let issuer = settings.issuer else { return }
    guard claims.value(named: "iss") == .string(issuer) else {
      throw TokenError(
        .issuer, "the token's iss is \(Self.quote(claims, "iss")), and not \(issuer.quoted)")
    }
  }

  /// RFC 7519 §4.1.3: a text, or an array of texts.
  private func checkAudience(_ claims: Claims) throws(TokenError) {
    let audiences: [ClaimValue]
    switch claims.value(named: "aud") {
    case nil: audiences = []
    case .array(let texts): audiences = texts
    case .some(let text): audiences = [text]
    }
    let areTexts = audiences.allSatisfy { if case .string = $0 { true } else { false } }
    guard areTexts else {
      throw TokenError(.claims, "the token's aud is not a text, or an array of texts")
    }
    guard let audience = settings.audience else { return }
    guard audiences.contains(.string(audience)) else {
      throw TokenError(
        .audience, "the token's aud is \(Self.quote(claims, "aud")), without \(audience.quoted)")
    }
  }

  private static func quote(_ claims: Claims, _ name: String) -> String {
    switch claims.value(named: name) {
    case nil: "missing"
    case .string(let text): text.quoted
    case .some(let value): value.jsonText.quoted
    }
  }
}
