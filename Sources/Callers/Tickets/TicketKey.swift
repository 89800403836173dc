internal import Crypto

/// What tickets are sealed with: servers that have the same know each other's.
package struct TicketKey: Sendable, Equatable {
  private let key: SymmetricKey

  private init(_ key: SymmetricKey) { self.key = key }

  /// The key of a server that is alone, and whose tickets end with it.
  package static func random() -> TicketKey { TicketKey(SymmetricKey(size: .bits256)) }

  /// Takes a key from a file: all of its bytes, a line end too.
  ///
  /// - Throws: Where it cannot be read, or has fewer than 32 bytes.
  package init(path: String) throws(KeyProblem) {
    let bytes = try KeyFile(path: path).bytes
    guard bytes.count >= 32 else {
      throw KeyProblem(
        "\(path) has \(bytes.count) bytes, and a ticket key needs 32 at least;"
          + " openssl rand -base64 48 makes one")
    }
    key = SymmetricKey(data: bytes)
  }

  /// The key of one ticket (RFC 5869).
  ///
  /// Each has its own: with one for all, the 12 random bytes of a nonce would be the same for two
  /// tickets after some 2³² of all servers together.
  func sealingKey(salt: [UInt8]) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: key, salt: salt, info: Array("didchange ticket 1".utf8),
      outputByteCount: 32)
  }
}
