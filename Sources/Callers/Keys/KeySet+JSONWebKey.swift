internal import JWTKit

extension KeySet {
  /// What a key verifies: one for each algorithm.
  static func verificationKeys(
    of key: JSONWebKey, algorithms: [SigningAlgorithm]
  ) throws(JSONWebKey.Unused) -> [VerificationKey] {
    try key.checkUse()
    let ofItsType = try SigningAlgorithm.fitting(key)
    let wanted = try key.algorithms(among: ofItsType.filter(algorithms.contains))
    guard !wanted.isEmpty else {
      throw key.harmless("is not used: it is for no algorithm that is listed")
    }
    var keys: [VerificationKey] = []
    for algorithm in wanted {
      keys.append(try VerificationKey(key, algorithm: algorithm))
    }
    return keys
  }
}

extension SigningAlgorithm {
  /// The algorithms that a key of this type and curve can be used for.
  fileprivate static func fitting(_ key: JSONWebKey) throws(JSONWebKey.Unused) -> [Self] {
    let curve = key.text("crv")
    switch (key.type, curve) {
    case ("RSA", _): return [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
    case ("EC", "P-256"): return [.es256]
    case ("EC", "P-384"): return [.es384]
    case ("EC", "P-521"): return [.es512]
    case ("OKP", "Ed25519"): return [.edDSA]
    case ("oct", _): throw key.harmless("is not used: a secret does not belong into a key set")
    default:
      let name = curve.map { key.type + " " + $0 } ?? key.type
      throw key.harmless("is not used: its type is \(name.quoted)")
    }
  }
}

extension VerificationKey {
  fileprivate init(_ key: JSONWebKey, algorithm: SigningAlgorithm) throws(JSONWebKey.Unused) {
    let signatureSize: Int
    let jwk: JWK
    switch algorithm {
    case .es256: (jwk, signatureSize) = (try key.ecdsa(.es256, .p256, size: 32), 64)
    case .es384: (jwk, signatureSize) = (try key.ecdsa(.es384, .p384, size: 48), 96)
    case .es512: (jwk, signatureSize) = (try key.ecdsa(.es512, .p521, size: 66), 132)
    case .edDSA: (jwk, signatureSize) = (try key.edDSA(), 64)
    default: (jwk, signatureSize) = try key.rsa(algorithm)
    }
    do {
      let verifier = try CallingThread.run {
        // A collection for each: one takes the first algorithm that it is asked for as the key's own.
        try await JWTKeyCollection().add(jwk: jwk).getKey(alg: algorithm.rawValue)
      }
      self.init(
        identifier: key.identifier, material: key.publicPart, algorithm: algorithm,
        signatureSize: signatureSize, verifier: verifier)
    } catch {
      throw key.broken("is not a key for \(algorithm.rawValue)")
    }
  }
}

// Only the public part is handed on, whatever the file has.
extension JSONWebKey {
  /// What makes it another key than others (RFC 7638 §3.2).
  fileprivate var publicPart: String {
    ["crv", "e", "kty", "n", "x", "y"].compactMap { name in text(name).map { "\(name)=\($0)" } }
      .joined(separator: " ")
  }

  private var jwkIdentifier: JWKIdentifier { JWKIdentifier(string: identifier ?? "") }

  fileprivate func ecdsa(
    _ algorithm: JWK.Algorithm, _ curve: ECDSACurve, size: Int
  ) throws(Unused) -> JWK {
    let x = Base64URL.encode(try bytes("x", count: size))
    let y = Base64URL.encode(try bytes("y", count: size))
    return .ecdsa(algorithm, identifier: jwkIdentifier, x: x, y: y, curve: curve)
  }

  fileprivate func edDSA() throws(Unused) -> JWK {
    let x = Base64URL.encode(try bytes("x", count: 32))
    return .octetKeyPair(.eddsa, identifier: jwkIdentifier, x: x, y: nil, curve: .ed25519)
  }

  /// A key of RSA, and the bytes of its modulus: those of a signature (RFC 8017 §8.1.2).
  fileprivate func rsa(_ algorithm: SigningAlgorithm) throws(Unused) -> (JWK, Int) {
    let modulus = try bytes("n").drop { $0 == 0 }
    let exponent = try bytes("e").drop { $0 == 0 }
    let bitCount = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
    // RFC 7518 §3.3
    guard bitCount >= 2048 else {
      throw broken("has \(bitCount) bits, and an RSA key must have 2048")
    }
    // 1 makes a signature of every text, and an even one has no inverse.
    guard exponent != [1], let last = exponent.last, last % 2 == 1 else {
      throw broken("has an exponent that RSA cannot have")
    }
    let jwk = JWK.rsa(
      JWK.Algorithm(rawValue: algorithm.rawValue), identifier: jwkIdentifier,
      modulus: Base64URL.encode(modulus), exponent: Base64URL.encode(exponent))
    return (jwk, modulus.count)
  }
}
