internal import Crypto

extension TicketKey {
  /// The random bytes of a ticket, which are the salt of its key, and by which it is known when it
  /// has been used.
  static let saltSize = 16

  /// What no ticket of another form begins with.
  private static let prefix = Array("t1.".utf8)

  /// Seals bytes: the prefix, and in base64url a salt, a nonce, the cipher text and its tag
  /// (RFC 8439 §2.8).
  func seal(_ bytes: [UInt8]) -> String? {
    var random = SystemRandomNumberGenerator()
    let words: (UInt64, UInt64) = (random.next(), random.next())
    let salt = withUnsafeBytes(of: words) { Array($0) }
    let box = try? ChaChaPoly.seal(
      bytes, using: sealingKey(salt: salt), authenticating: Self.prefix)
    guard let box else { return nil }
    return "t1." + Base64URL.encode(salt + box.combined)
  }

  /// The salt and the bytes of a ticket that was sealed with this key; nil for anything else.
  func open(_ text: String) -> (salt: [UInt8], bytes: [UInt8])? {
    guard text.utf8.starts(with: Self.prefix),
      let sealed = Base64URL.decode(text.utf8.dropFirst(Self.prefix.count)),
      sealed.count > Self.saltSize
    else { return nil }
    let salt = Array(sealed[..<Self.saltSize])
    guard let box = try? ChaChaPoly.SealedBox(combined: sealed[Self.saltSize...]),
      let bytes = try? ChaChaPoly.open(
        box, using: sealingKey(salt: salt), authenticating: Self.prefix)
    else { return nil }
    return (salt, Array(bytes))
  }
}
