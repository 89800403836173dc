/// base64url without padding (RFC 7515 §2, RFC 4648 §5), in the one way in which bytes can be written.
///
/// Foundation reads base64 with padding, and several endings as the same bytes. Here a change of a
/// text is a change of its bytes, so that one token has one text.
enum Base64URL {
  /// The bytes of a text, or nil where it has padding, another character, a length that no bytes
  /// have, or bits at its end that mean nothing (RFC 4648 §3.5). O(n).
  static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 3 / 4)
    let digits = Self.digits
    var bits: UInt32 = 0
    var bitCount = 0
    for character in text {
      let digit = digits[Int(character)]
      guard digit < 64 else { return nil }
      bits = bits << 6 | UInt32(digit)
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
      }
    }
    guard bits & ((1 << UInt32(bitCount)) - 1) == 0 else { return nil }
    return bytes
  }

  /// The text of bytes. O(n).
  static func encode(_ bytes: some Collection<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var bits: UInt32 = 0
    var bitCount = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      bitCount += 8
      while bitCount >= 6 {
        bitCount -= 6
        text.append(alphabet[Int(bits >> UInt32(bitCount) & 63)])
      }
    }
    if bitCount > 0 { text.append(alphabet[Int(bits << UInt32(6 - bitCount) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// What each byte stands for; 255 for those that are none of the alphabet.
  private static let digits: [UInt8] = {
    var digits = [UInt8](repeating: 255, count: 256)
    for (digit, character) in alphabet.enumerated() { digits[Int(character)] = UInt8(digit) }
    return digits
  }()
}
