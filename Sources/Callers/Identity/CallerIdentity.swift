/// What a request proves of its caller, before the claims statement has run.
package enum CallerIdentity: Sendable, Equatable {
  case anonymous
  /// A signed token was good. `expires` has the leeway in it; `key` is the name of the key that has
  /// signed it.
  case token(claims: Claims, expires: UnixSeconds?, key: String, name: String)
  /// A token that says nothing, known by its SHA-256 in hexadecimal digits. Whether anybody has such
  /// a token, only the claims statement knows.
  case opaque(digest: String, name: String)
  /// A proxy that is trusted says so.
  case headers(claims: Claims, name: String)
}

extension CallerIdentity {
  /// The caller who has a token that says nothing. O(n) in its bytes.
  package static func opaque(token: String) -> CallerIdentity {
    let digest = TokenDigest(of: token)
    return .opaque(digest: digest.hex, name: digest.name)
  }

  /// The caller whom a proxy has made known.
  package static func headers(_ claims: Claims) -> CallerIdentity {
    .headers(claims: claims, name: CallerName.name(of: claims))
  }

  /// What is known before the claims statement ran; nil for who is anonymous.
  ///
  /// For a token that says nothing that is `token`, the argument of the statement.
  package var claims: Claims? {
    switch self {
    case .anonymous: nil
    case .token(let claims, _, _, _), .headers(let claims, _): claims
    case .opaque(let digest, _): Claims([("token", .string(digest))])
    }
  }

  /// When what it lets in ends, unless the claims statement says otherwise.
  package var expires: UnixSeconds? {
    if case .token(_, let expires, _, _) = self { expires } else { nil }
  }

  /// The name of the key that has signed for it; nil: none has.
  package var signingKey: String? {
    if case .token(_, _, let key, _) = self { key } else { nil }
  }

  /// For the access log: printable ASCII without blanks and quotes, 128 bytes at most.
  package var name: String {
    switch self {
    case .anonymous: CallerName.nobody
    case .token(_, _, _, let name), .opaque(_, let name), .headers(_, let name): name
    }
  }
}
