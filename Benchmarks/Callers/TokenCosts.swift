import ArgumentParser
import Callers
import Crypto
import CryptoExtras
import Foundation

/// What it costs to know whose a signed token is, beside its signature alone.
struct TokenCosts {
  static let header = ["", "token", "signature alone", "ratio", "remembered"]

  private static let now: UnixSeconds = 1_800_000_000
  private static let secret = Array("a secret of a benchmark that is long enough for SHA-256".utf8)

  /// One algorithm: who signs, what verifies, and what the signature costs without all else.
  private struct Kind {
    let algorithm: SigningAlgorithm
    let source: KeySource
    let token: String
    /// Whether the signature is good.
    let isSigned: () -> Bool
  }

  let runs: Int
  private let folder: URL
  private let kinds: [Kind]

  /// - Parameter runs: verifications of each.
  /// - Throws: where a key cannot be made.
  init(runs: Int) throws {
    self.runs = runs
    folder = FileManager.default.temporaryDirectory
      .appending(path: "didchange-benchmark-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    kinds = [
      try Self.es256(folder), try Self.edDSA(folder), try Self.rs256(folder),
      try Self.hs256(folder),
    ]
  }

  /// A row for each algorithm.
  func rows() throws -> [[String]] {
    defer { try? FileManager.default.removeItem(at: folder) }
    return try kinds.map(row)
  }

  private func row(_ kind: Kind) throws -> [String] {
    let settings = TokenSettings(algorithms: [kind.algorithm])
    let keys = try WatchedKeys(source: kind.source, settings: settings) { _ in }
    let verifier = TokenVerifier(settings: settings, keys: keys.keys)
    guard kind.isSigned() else { throw ValidationError("\(kind.algorithm) does not sign") }
    let times = try Measure.medians(runs: runs, prepare: {}) {
      _ = try verifier.verify(kind.token, now: Self.now)
    } peer: {
      if !kind.isSigned() { throw ValidationError("a signature is not good any more") }
    }
    _ = try keys.verify(kind.token, now: Self.now)
    // One takes little more than to look at the clock.
    let batch = 100
    let remembered = try Measure.median(runs: max(1, runs / batch)) {
      for _ in 0..<batch { _ = try keys.verify(kind.token, now: Self.now) }
    }
    return [
      kind.algorithm.rawValue, (times.work * 1000).short, (times.peer * 1000).short,
      times.ratio.short, (remembered * 1000 / Double(batch)).short,
    ]
  }

  // MARK: - Keys

  private static func es256(_ folder: URL) throws -> Kind {
    let key = P256.Signing.PrivateKey()
    let raw = key.publicKey.rawRepresentation
    let set =
      #"{"kty":"EC","crv":"P-256","x":"\#(raw.prefix(32).base64URL)","#
      + #""y":"\#(raw.suffix(32).base64URL)"}"#
    let input = input(.es256)
    let signature = try key.signature(for: input)
    return Kind(
      algorithm: .es256, source: try keySet(set, folder, .es256),
      token: token(input, signature.rawRepresentation),
      isSigned: { key.publicKey.isValidSignature(signature, for: input) })
  }

  private static func edDSA(_ folder: URL) throws -> Kind {
    let key = Curve25519.Signing.PrivateKey()
    let set =
      #"{"kty":"OKP","crv":"Ed25519","x":"\#(key.publicKey.rawRepresentation.base64URL)"}"#
    let input = input(.edDSA)
    let signature = try key.signature(for: input)
    return Kind(
      algorithm: .edDSA, source: try keySet(set, folder, .edDSA),
      token: token(input, signature),
      isSigned: { key.publicKey.isValidSignature(signature, for: input) })
  }

  private static func rs256(_ folder: URL) throws -> Kind {
    let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    let numbers = try key.publicKey.getKeyPrimitives()
    let set =
      #"{"kty":"RSA","n":"\#(numbers.modulus.base64URL)","#
      + #""e":"\#(numbers.publicExponent.base64URL)"}"#
    let input = input(.rs256)
    let signature = try key.signature(
      for: SHA256.hash(data: input), padding: .insecurePKCS1v1_5)
    return Kind(
      algorithm: .rs256, source: try keySet(set, folder, .rs256),
      token: token(input, signature.rawRepresentation),
      isSigned: {
        key.publicKey.isValidSignature(
          signature, for: SHA256.hash(data: input), padding: .insecurePKCS1v1_5)
      })
  }

  private static func hs256(_ folder: URL) throws -> Kind {
    let key = SymmetricKey(data: secret)
    let path = folder.appending(path: "secret").path
    try Data(secret).write(to: URL(fileURLWithPath: path))
    let input = input(.hs256)
    let code = Data(HMAC<SHA256>.authenticationCode(for: input, using: key))
    return Kind(
      algorithm: .hs256, source: .secret(.file(path: path)), token: token(input, code),
      isSigned: { HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: input, using: key) })
  }

  // MARK: - Tokens

  /// What is signed: the claims that identity providers write.
  private static func input(_ algorithm: SigningAlgorithm) -> Data {
    let header = #"{"alg":"\#(algorithm.rawValue)","typ":"JWT"}"#
    let claims = """
      {"iss":"https://id.example.org/","sub":"auth0|5f7c8ec7c33c6c004bbafe82","aud":"didchange",\
      "iat":1799999000,"exp":1800003600,"scope":"openid profile email","user":4711,\
      "org":{"id":"acme","plan":"team"},"groups":["editors","reviewers"]}
      """
    return Data("\(Data(header.utf8).base64URL).\(Data(claims.utf8).base64URL)".utf8)
  }

  private static func token(_ input: Data, _ signature: Data) -> String {
    String(decoding: input, as: UTF8.self) + "." + signature.base64URL
  }

  private static func keySet(
    _ key: String, _ folder: URL, _ algorithm: SigningAlgorithm
  ) throws -> KeySource {
    let path = folder.appending(path: "\(algorithm.rawValue).json").path
    try Data(#"{"keys":[\#(key)]}"#.utf8).write(to: URL(fileURLWithPath: path))
    return .file(path: path)
  }
}

extension Data {
  /// Without padding: RFC 7515 §2.
  fileprivate var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }
}
