/// Where the keys are that tokens are verified by.
package enum KeySource: Sendable, Equatable {
  /// A file with a JWK set, which is read again when it changes.
  case file(path: String)
  /// A secret, which is read once.
  case secret(SecretSource)
}

extension KeySource {
  /// Reads the keys, and the file that they were in.
  func load(for algorithms: [SigningAlgorithm]) throws(KeyProblem) -> (KeySet, KeyFile?) {
    switch self {
    case .file(let path):
      let file = try KeyFile(path: path)
      return (try Self.keys(file, path: path, algorithms: algorithms), file)
    case .secret(let source):
      let secret = try source.read(for: algorithms)
      return (try KeySet(secret: secret, algorithms: algorithms), nil)
    }
  }

  static func keys(
    _ file: KeyFile, path: String, algorithms: [SigningAlgorithm], isReplacing: Bool = false
  ) throws(KeyProblem) -> KeySet {
    guard let text = String(validating: file.bytes, as: UTF8.self) else {
      throw KeyProblem("\(path): the key set is not UTF-8")
    }
    do throws(KeyProblem) {
      return try KeySet(jwks: text, algorithms: algorithms, isReplacing: isReplacing)
    } catch {
      throw KeyProblem("\(path): \(error.message)")
    }
  }
}
