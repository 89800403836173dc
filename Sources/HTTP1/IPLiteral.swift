import Foundation

// What stands between the brackets of a host (RFC 3986 §3.2.2). All are O(n).

/// Whether bytes are an IPv6 address, or one of a version to come: `v1.any-text`.
func isIPLiteral(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
  var address = in6_addr()
  return inet_pton(AF_INET6, bytes.string(range), &address) == 1 || isFutureAddress(bytes, range)
}

/// `IPvFuture`: `v`, a hexadecimal number, a dot, and anything that a host may have, or colons.
private func isFutureAddress(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
  guard range.count > 3, bytes[range.lowerBound] | 0x20 == UInt8(ascii: "v") else { return false }
  let dot = bytes.firstIndex(of: UInt8(ascii: "."), in: range)
  guard dot > range.lowerBound + 1, dot + 1 < range.upperBound else { return false }
  for index in range.lowerBound + 1..<dot where bytes[index].hexadecimalValue == nil {
    return false
  }
  for index in dot + 1..<range.upperBound {
    guard bytes[index].isHostCharacter || bytes[index] == UInt8(ascii: ":") else { return false }
  }
  return true
}
