internal import Crypto
import Foundation

/// Where the secret for HMAC is kept: not in the configuration, which is shown and shared.
package enum SecretSource: Sendable, Equatable {
  /// An environment variable.
  case environment(String)
  /// A file; one line end after the secret does not belong to it.
  case file(path: String)
}

extension SecretSource {
  /// Reads the secret, for these algorithms: its bytes as they are, base64 or not.
  ///
  /// - Throws: Where it is missing, or shorter than a hash.
  package func read(for algorithms: [SigningAlgorithm]) throws(KeyProblem) -> [UInt8] {
    let secret = try bytes()
    for algorithm in algorithms { try Self.check(secret, for: algorithm, in: title) }
    return secret
  }

  /// Words that say nothing of the secret, and are the same wherever it is (RFC 5869).
  ///
  /// - Parameters:
  ///   - count: how many, at most 1020.
  ///   - purpose: words for another purpose are others.
  /// - Returns: the words.
  /// - Throws: where the secret is missing, or has fewer than 16 bytes: it could be guessed.
  package func words(_ count: Int, for purpose: String) throws(KeyProblem) -> [UInt64] {
    let secret = try bytes()
    guard secret.count >= 16 else {
      throw KeyProblem(
        "\(title) has \(secret.count) bytes, and needs 16 at least; openssl rand -base64 48 makes one"
      )
    }
    let derived = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), info: Array(purpose.utf8),
      outputByteCount: 8 * count)
    return derived.withUnsafeBytes { bytes in
      (0..<count).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self) }
    }
  }

  private var title: String {
    switch self {
    case .environment(let name): "the secret in the environment variable \(name)"
    case .file(let path): "the secret in \(path)"
    }
  }

  private func bytes() throws(KeyProblem) -> [UInt8] {
    switch self {
    case .environment(let name):
      guard let value = ProcessInfo.processInfo.environment[name] else {
        throw KeyProblem(
          "the environment variable \(name) is not set: set it where the server starts")
      }
      return Array(value.utf8)
    case .file(let path):
      var bytes = try KeyFile(path: path).bytes
      if bytes.last == UInt8(ascii: "\n") {
        bytes.removeLast()
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
      }
      return bytes
    }
  }

  /// RFC 7518 §3.2: a secret is at least as long as the hash.
  static func check(
    _ secret: [UInt8], for algorithm: SigningAlgorithm, in title: String = "the secret"
  ) throws(KeyProblem) {
    guard let size = algorithm.hashSize, secret.count < size else { return }
    throw KeyProblem(
      "\(title) has \(secret.count) bytes, and \(algorithm.rawValue) needs \(size) at least;"
        + " openssl rand -base64 48 makes one")
  }
}
