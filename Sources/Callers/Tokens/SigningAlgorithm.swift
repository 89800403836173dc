/// The algorithms of RFC 7518 §3.1 and RFC 8037 §3.1 by which tokens may be signed.
///
/// `none` is not among them, so there is no way to allow it.
package enum SigningAlgorithm: String, Sendable, CaseIterable {
  case es256 = "ES256"
  case es384 = "ES384"
  case es512 = "ES512"
  /// Ed25519; jwt-kit has no other curve.
  case edDSA = "EdDSA"
  case rs256 = "RS256"
  case rs384 = "RS384"
  case rs512 = "RS512"
  case ps256 = "PS256"
  case ps384 = "PS384"
  case ps512 = "PS512"
  case hs256 = "HS256"
  case hs384 = "HS384"
  case hs512 = "HS512"
}

extension SigningAlgorithm {
  /// Whether who verifies could sign, too: the key is a secret, and never from a key set.
  package var isSymmetric: Bool {
    switch self {
    case .hs256, .hs384, .hs512: true
    default: false
    }
  }

  /// The bytes of an HMAC, and the fewest that a secret for it may have (RFC 7518 §3.2); nil for the
  /// other algorithms.
  var hashSize: Int? {
    switch self {
    case .hs256: 32
    case .hs384: 48
    case .hs512: 64
    default: nil
    }
  }
}
