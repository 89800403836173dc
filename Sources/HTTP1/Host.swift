/// Whether bytes are `uri-host [":" port]` (RFC 9110 §7.2, RFC 3986 §3.2.2).
///
/// O(n). An empty host is none: an `http` URI has one (RFC 9110 §4.2.1), and the target of every
/// request here is such a URI.
func isHost(_ bytes: Span<UInt8>) -> Bool {
  var index = 0
  if bytes.count > 0, bytes[0] == UInt8(ascii: "[") {
    let end = bytes.firstIndex(of: UInt8(ascii: "]"), in: 1..<bytes.count)
    guard end < bytes.count, isIPLiteral(bytes, 1..<end) else { return false }
    index = end + 1
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
    // Nothing, or a port without a host.
    if index == 0 { return false }
  }
  return isPort(bytes, from: index)
}

private func isPort(_ bytes: Span<UInt8>, from start: Int) -> Bool {
  if start == bytes.count { return true }
  guard bytes[start] == UInt8(ascii: ":"), bytes.count - start <= 6 else { return false }
  for index in start + 1..<bytes.count where !bytes[index].isDigit { return false }
  return true
}
