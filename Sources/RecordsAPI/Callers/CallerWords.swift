/// The words of `callers`.
package enum CallerWord: String, ConfigurationWord {
  case jwt, opaque, headers, cookie, claims, operators, ticketKey

  package static let owner = "`callers`"
  package static let synonyms: [String: CallerWord] = [
    "token": .jwt, "tokens": .jwt, "header": .headers, "cookies": .cookie, "session": .claims,
    "admin": .operators, "admins": .operators, "tickets": .ticketKey,
  ]
}

/// The words of `jwt`.
package enum SignedTokenWord: String, ConfigurationWord {
  case algorithms, keys, secret, issuer, audience

  package static let owner = "`jwt`"
  package static let synonyms: [String: SignedTokenWord] = [
    "alg": .algorithms, "algorithm": .algorithms, "jwks": .keys, "key": .keys, "iss": .issuer,
    "aud": .audience, "password": .secret,
  ]
}

/// The words of `secret`.
package enum SecretWord: String, ConfigurationWord {
  case env, file

  package static let owner = "`secret`"
  package static let synonyms: [String: SecretWord] = [
    "environment": .env, "variable": .env, "path": .file,
  ]
}
