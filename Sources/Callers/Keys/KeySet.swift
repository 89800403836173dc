internal import Crypto

/// The keys by which tokens are verified: the public ones of a JWK set, or one secret.
///
/// Never both. A public key that is taken for a secret is the oldest forgery (RFC 8725 §2.1): here a
/// key that came in a set can only be asked for an algorithm of its own type, and HMAC has no key but
/// the secret.
package struct KeySet: Sendable {
  let keys: [VerificationKey]

  /// What is in the set and not used, a sentence for each.
  package let unused: [String]

  /// Whether there is one key only, which is used whatever `kid` a token has.
  private let isSecret: Bool

  /// The number of keys; one that is for several algorithms is counted for each.
  package var count: Int { keys.count }

  /// Reads a JWK set (RFC 7517 §5), for some algorithms.
  ///
  /// What is for something else (`use`, `key_ops`, `alg`, another type or curve) is left out, as §5
  /// says; what is for tokens and is not good is an error, where nobody relies on the set yet. In the place of
  /// another set it lets in nobody, as the keys that are not in it: taking keys out never waits for the others.
  ///
  /// - Parameters:
  ///   - text: The set.
  ///   - algorithms: Those that tokens may have.
  ///   - isReplacing: Whether another set was in force.
  /// - Throws: Where it is no set, and at first also where no key is left.
  package init(
    jwks text: String, algorithms: [SigningAlgorithm], isReplacing: Bool = false
  ) throws(KeyProblem) {
    try Self.check(algorithms, areSymmetric: false)
    var keys: [VerificationKey] = []
    var unused: [String] = []
    for key in try JSONWebKey.set(text) {
      do throws(JSONWebKey.Unused) {
        keys += try Self.verificationKeys(of: key, algorithms: algorithms)
      } catch {
        guard error.isHarmless || isReplacing else { throw KeyProblem(error.message) }
        unused.append(error.message)
      }
    }
    guard !keys.isEmpty || isReplacing else {
      let names = algorithms.map(\.rawValue).joined(separator: ", ")
      let reasons = unused.prefix(3).map { ": " + $0 }.joined()
      throw KeyProblem("there is no key for \(names) in the key set\(reasons)")
    }
    self.keys = keys
    self.unused = unused
    isSecret = false
  }

  /// Takes a secret for HMAC.
  ///
  /// - Throws: Where it is shorter than the longest hash (RFC 7518 §3.2), and could be guessed.
  package init(secret: [UInt8], algorithms: [SigningAlgorithm]) throws(KeyProblem) {
    try Self.check(algorithms, areSymmetric: true)
    let key = SymmetricKey(data: secret)
    var keys: [VerificationKey] = []
    for algorithm in algorithms {
      try SecretSource.check(secret, for: algorithm)
      keys.append(try VerificationKey(secret: key, algorithm: algorithm))
    }
    self.keys = keys
    unused = []
    isSecret = true
  }

  private static func check(
    _ algorithms: [SigningAlgorithm], areSymmetric: Bool
  ) throws(KeyProblem) {
    guard !algorithms.isEmpty else { throw KeyProblem("no algorithm is listed") }
    guard let other = algorithms.first(where: { $0.isSymmetric != areSymmetric }) else { return }
    throw KeyProblem(
      areSymmetric
        ? "\(other.rawValue) needs keys, and there is a secret"
        : "\(other.rawValue) needs a secret, and there are keys")
  }

  /// The keys that may have signed a token.
  ///
  /// - Throws: Where there is none: its `kid` is unknown, or for another algorithm.
  func candidates(for header: TokenHeader) throws(TokenError) -> [VerificationKey] {
    var fitting = keys.filter { $0.algorithm == header.algorithm }
    if let identifier = header.keyIdentifier, !isSecret {
      fitting = fitting.filter { $0.identifier?.hasSameBytes(as: identifier) == true }
    }
    guard fitting.isEmpty else { return fitting }
    let name = header.algorithm.rawValue
    if let identifier = header.keyIdentifier {
      throw TokenError(.key, "there is no key \(identifier.quoted) for \(name)")
    }
    throw TokenError(.key, "there is no key for \(name)")
  }
}
