import Callers
import Crypto
import CryptoExtras
import Foundation

/// Seconds since 1970 at which the tests take place.
let now: UnixSeconds = 1_800_000_000

extension Collection where Element == UInt8 {
  /// In base64url without padding.
  var base64URL: String {
    Data(self).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}

/// Whoever signs tokens in the tests: with keys that are made once, and for any header.
struct Signer: Sendable {
  let algorithm: String
  let sign: @Sendable ([UInt8]) throws -> [UInt8]

  func token(header: String, payload: String) throws -> String {
    try token(header: Array(header.utf8), payload: Array(payload.utf8))
  }

  func token(header: [UInt8], payload: [UInt8]) throws -> String {
    let input = header.base64URL + "." + payload.base64URL
    return input + "." + (try sign(Array(input.utf8))).base64URL
  }

  /// A token with a plain header.
  func token(_ payload: String = #"{"sub":"ann"}"#, kid: String? = nil) throws -> String {
    let identifier = kid.map { #","kid":"\#($0)""# } ?? ""
    return try token(header: #"{"alg":"\#(algorithm)"\#(identifier)}"#, payload: payload)
  }

  /// Signs the same under another name.
  func called(_ name: String) -> Signer { Signer(algorithm: name, sign: sign) }
}

enum TestKeys {
  static let secret = Array(
    "a secret of more than sixty-four bytes, for all three of the hashes".utf8)
  static let p256 = P256.Signing.PrivateKey()
  static let p384 = P384.Signing.PrivateKey()
  static let p521 = P521.Signing.PrivateKey()
  static let ed25519 = Curve25519.Signing.PrivateKey()
  static let rsa = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

  static func hmac(_ algorithm: String = "HS256", _ secret: [UInt8] = secret) -> Signer {
    let key = SymmetricKey(data: secret)
    return Signer(algorithm: algorithm) { input in
      switch algorithm {
      case "HS512": Array(HMAC<SHA512>.authenticationCode(for: input, using: key))
      case "HS384": Array(HMAC<SHA384>.authenticationCode(for: input, using: key))
      default: Array(HMAC<SHA256>.authenticationCode(for: input, using: key))
      }
    }
  }

  static func es256(_ key: P256.Signing.PrivateKey = p256) -> Signer {
    Signer(algorithm: "ES256") { Array(try key.signature(for: $0).rawRepresentation) }
  }

  static let es384 = Signer(algorithm: "ES384") {
    Array(try p384.signature(for: $0).rawRepresentation)
  }

  static let es512 = Signer(algorithm: "ES512") {
    Array(try p521.signature(for: $0).rawRepresentation)
  }

  static let edDSA = Signer(algorithm: "EdDSA") { Array(try ed25519.signature(for: $0)) }

  static func rsa(_ algorithm: String) -> Signer {
    Signer(algorithm: algorithm) { input in
      let padding: _RSA.Signing.Padding =
        algorithm.hasPrefix("PS") ? .PSS : .insecurePKCS1v1_5
      let signature =
        switch algorithm.suffix(3) {
        case "512": try rsa.get().signature(for: SHA512.hash(data: input), padding: padding)
        case "384": try rsa.get().signature(for: SHA384.hash(data: input), padding: padding)
        default: try rsa.get().signature(for: SHA256.hash(data: input), padding: padding)
        }
      return Array(signature.rawRepresentation)
    }
  }

  // MARK: - As JWKs

  /// A key on a curve, from its two coordinates one after the other.
  static func jwk(curve: String, raw: Data, more: String = "") -> String {
    let half = raw.count / 2
    return #"""
      {"kty":"EC","crv":"\#(curve)","x":"\#(raw.prefix(half).base64URL)",
      "y":"\#(raw.suffix(half).base64URL)"\#(more)}
      """#
  }

  static func es256JWK(_ key: P256.Signing.PrivateKey = p256, more: String = "") -> String {
    jwk(curve: "P-256", raw: key.publicKey.rawRepresentation, more: more)
  }

  static func edDSAJWK(more: String = "") -> String {
    let x = ed25519.publicKey.rawRepresentation.base64URL
    return #"{"kty":"OKP","crv":"Ed25519","x":"\#(x)"\#(more)}"#
  }

  static func rsaJWK(more: String = "") throws -> String {
    let primitives = try rsa.get().publicKey.getKeyPrimitives()
    let (n, e) = (primitives.modulus.base64URL, primitives.publicExponent.base64URL)
    return #"{"kty":"RSA","n":"\#(n)","e":"\#(e)"\#(more)}"#
  }

  static func all() throws -> String {
    set([
      es256JWK(more: #","kid":"p256""#),
      jwk(curve: "P-384", raw: p384.publicKey.rawRepresentation),
      jwk(curve: "P-521", raw: p521.publicKey.rawRepresentation),
      edDSAJWK(more: #","kid":"ed""#), try rsaJWK(more: #","kid":"rsa""#),
    ])
  }

  static func set(_ keys: [String]) -> String {
    #"{"keys":["# + keys.joined(separator: ",") + "]}"
  }
}

extension TokenVerifier {
  /// With all public keys of the tests, for all algorithms that have some.
  static func forPublicKeys() throws -> TokenVerifier {
    let algorithms = SigningAlgorithm.allCases.filter { !$0.isSymmetric }
    return try TokenVerifier(jwks: try TestKeys.all(), algorithms)
  }

  static func forSecret(_ algorithms: [SigningAlgorithm] = [.hs256]) throws -> TokenVerifier {
    TokenVerifier(
      settings: TokenSettings(algorithms: algorithms),
      keys: try KeySet(secret: TestKeys.secret, algorithms: algorithms))
  }

  init(jwks: String, _ algorithms: [SigningAlgorithm]) throws {
    self.init(
      settings: TokenSettings(algorithms: algorithms),
      keys: try KeySet(jwks: jwks, algorithms: algorithms))
  }

  /// Why a token is refused; nil where it is good.
  func refusal(of token: String, at time: UnixSeconds = now) -> TokenError.Reason? {
    do {
      _ = try verify(token, now: time)
      return nil
    } catch {
      return error.reason
    }
  }
}
