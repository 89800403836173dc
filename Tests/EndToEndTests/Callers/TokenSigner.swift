import Crypto
import Foundation

/// Makes signed tokens, as an identity provider does (RFC 7515 §3.1).
struct TokenSigner {
  let algorithm: String
  var keyID: String?
  let sign: (Data) throws -> Data

  static let secret = "a secret of a test that is long enough for SHA-256"

  static func hs256(_ secret: String = secret) -> TokenSigner {
    let key = SymmetricKey(data: Data(secret.utf8))
    return TokenSigner(algorithm: "HS256") {
      Data(HMAC<SHA256>.authenticationCode(for: $0, using: key))
    }
  }

  static func es256(_ key: P256.Signing.PrivateKey, keyID: String? = nil) -> TokenSigner {
    TokenSigner(algorithm: "ES256", keyID: keyID) { try key.signature(for: $0).rawRepresentation }
  }

  static func edDSA(_ key: Curve25519.Signing.PrivateKey) -> TokenSigner {
    TokenSigner(algorithm: "EdDSA") { try key.signature(for: $0) }
  }

  func token(_ payload: String) throws -> String {
    let identifier = keyID.map { #","kid":"\#($0)""# } ?? ""
    let header = #"{"alg":"\#(algorithm)","typ":"JWT"\#(identifier)}"#
    let input = Data(header.utf8).base64URL + "." + Data(payload.utf8).base64URL
    return input + "." + (try sign(Data(input.utf8))).base64URL
  }

  /// A token field with these members beside an end in an hour.
  func bearer(_ members: String) throws -> [String] {
    let end = Int(Date().timeIntervalSince1970) + 3600
    return ["Authorization: Bearer \(try token("{\(members),\"exp\":\(end)}"))"]
  }

  // MARK: - Keys

  /// A JWK of a public key (RFC 7518 §6.2.1).
  static func jwk(_ key: P256.Signing.PrivateKey, keyID: String) -> String {
    let raw = key.publicKey.rawRepresentation
    return #"""
      {"kty":"EC","crv":"P-256","kid":"\#(keyID)","x":"\#(raw.prefix(32).base64URL)",
      "y":"\#(raw.suffix(32).base64URL)"}
      """#
  }

  /// RFC 8037 §2
  static func jwk(_ key: Curve25519.Signing.PrivateKey, keyID: String) -> String {
    let x = key.publicKey.rawRepresentation.base64URL
    return #"{"kty":"OKP","crv":"Ed25519","kid":"\#(keyID)","x":"\#(x)"}"#
  }

  static func keySet(_ keys: String...) -> String {
    #"{"keys":["# + keys.joined(separator: ",") + "]}"
  }
}

extension Data {
  /// In base64url without padding: RFC 7515 §2.
  var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }
}
