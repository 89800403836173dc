/// Whether bytes are `uri-host [":" port]` (RFC 9110 §7.2, RFC 3986 §3.2.2), or nothing.
///
/// O(n). Nothing is allowed where the target has no authority (RFC 9112 §3.2).
func isHost(_ bytes: Span<UInt8>) -> Bool {
  var index = 0
  if bytes.count > 0, bytes[0] == UInt8(ascii: "[") {
    index = 1
    while index < bytes.count, isAddressCharacter(bytes[index]) { index += 1 }
    guard index > 3, index < bytes.count, bytes[index] == UInt8(ascii: "]") else { return false }
    index += 1
  } else {
    while index < bytes.count, bytes[index] != UInt8(ascii: ":") {
      if bytes[index] == UInt8(ascii: "%") {
        guard index + 2 < bytes.count, bytes[index + 1].hexadecimalValue != nil,
          bytes[index + 2].hexadecimalValue != nil
        else { return false }
        index += 3
      } else {
        guard bytes[index].isHostCharacter else { return false }
        index += 1
      }
    }
    // A port without a host.
    if index == 0 { return bytes.count == 0 }
  }
  return isPort(bytes, from: index)
}

private func isAddressCharacter(_ byte: UInt8) -> Bool {
  byte.isHostCharacter || byte == UInt8(ascii: ":")
}

private func isPort(_ bytes: Span<UInt8>, from start: Int) -> Bool {
  if start == bytes.count { return true }
  guard bytes[start] == UInt8(ascii: ":"), bytes.count - start <= 6 else { return false }
  for index in start + 1..<bytes.count where !bytes[index].isDigit { return false }
  return true
}
