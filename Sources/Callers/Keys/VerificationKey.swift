internal import Crypto
internal import JWTKit

/// A key with the one algorithm that it is used for.
///
/// jwt-kit keeps keys in an actor, and hands out what verifies: that is asked for once, and then
/// verifies on the thread of whoever calls.
struct VerificationKey: Sendable {
  /// `kid`
  let identifier: String?
  /// By what the same key with the same algorithm is known, whatever its `kid`: the beginning of a
  /// SHA-256 in hexadecimal digits.
  let name: String
  let algorithm: SigningAlgorithm
  /// The bytes of its signatures: another number is not even tried.
  let signatureSize: Int
  let verifier: any JWTAlgorithm

  init(
    identifier: String?, material: String, algorithm: SigningAlgorithm, signatureSize: Int,
    verifier: any JWTAlgorithm
  ) {
    self.identifier = identifier
    name = String(TokenDigest(of: "\(algorithm.rawValue) \(material)").hex.prefix(32))
    self.algorithm = algorithm
    self.signatureSize = signatureSize
    self.verifier = verifier
  }

  /// A secret, which must be as long as the hash.
  init(secret: SymmetricKey, algorithm: SigningAlgorithm) throws(KeyProblem) {
    guard let hashSize = algorithm.hashSize else {
      throw KeyProblem("\(algorithm.rawValue) has no secret")
    }
    let digest: DigestAlgorithm
    switch algorithm {
    case .hs256: digest = .sha256
    case .hs384: digest = .sha384
    default: digest = .sha512
    }
    do {
      let verifier = try CallingThread.run {
        try await JWTKeyCollection()
          .add(hmac: HMACKey(key: secret), digestAlgorithm: digest).getKey()
      }
      self.init(
        identifier: nil, material: secret.withUnsafeBytes { Base64URL.encode(Array($0)) },
        algorithm: algorithm, signatureSize: hashSize, verifier: verifier)
    } catch {
      throw KeyProblem("the secret is not a key for \(algorithm.rawValue)")
    }
  }

  /// Whether a token's signature is by this key. A comparison of HMACs takes the same time wherever
  /// they differ.
  func hasSigned(_ token: CompactToken) -> Bool {
    guard token.signature.count == signatureSize else { return false }
    // An error is a signature that BoringSSL cannot even read.
    return (try? verifier.verify(token.signature, signs: token.signingInput)) ?? false
  }
}
