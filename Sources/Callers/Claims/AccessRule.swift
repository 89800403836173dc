/// Who may read a query, or see what is for operators: what `allow` says.
package enum AccessRule: Sendable, Equatable {
  /// Whoever reaches the server.
  case anyone
  /// Whoever is known.
  case signedIn
  /// Whoever's claims have one of the listed values, each of them: paths, and what is listed there.
  case claims([String: [ClaimValue]])
}

extension AccessRule {
  /// What a rule says of a caller.
  package enum Decision: Sendable {
    case allowed
    /// Nobody has signed in: 401.
    case signInNeeded
    /// The caller is known, and may not: 403.
    case forbidden
  }

  /// Decides, by claims that are joined already; nil is a caller who has not signed in.
  ///
  /// A claim that is missing, or for which no value is listed, matches nothing. O(n m), n values
  /// listed, m elements of the claims.
  package func decision(for claims: Claims?) -> Decision {
    if self == .anyone { return .allowed }
    guard let claims else { return .signInNeeded }
    guard case .claims(let listed) = self else { return .allowed }
    let matches = listed.allSatisfy { path, values in
      guard let value = claims.value(at: path) else { return false }
      return values.contains { value.matches($0) }
    }
    return matches ? .allowed : .forbidden
  }
}
