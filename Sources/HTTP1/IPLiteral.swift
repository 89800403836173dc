// What stands between the brackets of a host (RFC 3986 §3.2.2). All are O(n).

/// Whether bytes are an IPv6 address, or one of a version to come: `v1.any-text`.
func isIPLiteral(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
  isIPv6Address(bytes, range) || isFutureAddress(bytes, range)
}

/// Eight groups of up to four hexadecimal digits.
///
/// An IPv4 address may stand for the last two, and `::` once for any that are zero.
private func isIPv6Address(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
  var groups = 0
  var hasGap = range.count >= 2 && bytes.equals("::", in: range.lowerBound..<range.lowerBound + 2)
  var start = range.lowerBound + (hasGap ? 2 : 0)
  while start < range.upperBound {
    let end = bytes.firstIndex(of: UInt8(ascii: ":"), in: start..<range.upperBound)
    if end == range.upperBound, isIPv4Address(bytes, start..<end) {
      groups += 2
      break
    }
    guard isGroup(bytes, start..<end) else { return false }
    groups += 1
    if end == range.upperBound { break }
    start = end + 1
    // The address does not end with one colon.
    guard start < range.upperBound else { return false }
    if bytes[start] == UInt8(ascii: ":") {
      guard !hasGap else { return false }
      hasGap = true
      start += 1
    }
  }
  return hasGap ? groups < 8 : groups == 8
}

private func isGroup(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
  guard 1...4 ~= range.count else { return false }
  for index in range where bytes[index].hexadecimalValue == nil { return false }
  return true
}

/// Four numbers of at most 255, without zeros before them.
private func isIPv4Address(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
  var numbers = 0
  var start = range.lowerBound
  while start <= range.upperBound {
    let end = bytes.firstIndex(of: UInt8(ascii: "."), in: start..<range.upperBound)
    guard isOctet(bytes, start..<end) else { return false }
    numbers += 1
    start = end + 1
  }
  return numbers == 4
}

private func isOctet(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
  guard 1...3 ~= range.count else { return false }
  var number = 0
  for index in range {
    guard bytes[index].isDigit else { return false }
    number = number * 10 + Int(bytes[index] - UInt8(ascii: "0"))
  }
  return number <= 255 && (range.count == 1 || bytes[range.lowerBound] != UInt8(ascii: "0"))
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
