import HTTP1

/// Addresses with a common beginning, such as `10.0.0.0/8`, `::1`; or `unix`, whoever connects to
/// a Unix-domain socket.
package struct AddressRange: Sendable, Equatable {
  /// Nil: the peers of Unix-domain sockets.
  private let network: IPAddress?
  private let highMask: UInt64
  private let lowMask: UInt64

  /// Reads a range; nil where the text is none.
  package init?(_ text: String) {
    if text == "unix" {
      (network, highMask, lowMask) = (nil, 0, 0)
      return
    }
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(String(parts[0])) else { return nil }
    let width = parts[0].contains(":") ? 128 : 32
    var length = width
    if parts.count == 2 {
      guard parts[1].utf8.allSatisfy(\.isDigit), let written = Int(parts[1]), written <= width
      else { return nil }
      length = written
    }
    let bits = length + 128 - width
    highMask = bits >= 64 ? .max : ~(UInt64.max >> UInt64(bits))
    lowMask = bits <= 64 ? 0 : bits == 128 ? .max : ~(UInt64.max >> UInt64(bits - 64))
    network = IPAddress(high: address.high & highMask, low: address.low & lowMask)
  }

  /// Whether the text is an address of the range; a name is none.
  package func contains(_ text: String) -> Bool { IPAddress(text).map(contains) ?? false }

  func contains(_ address: IPAddress) -> Bool {
    guard let network else { return false }
    return address.high & highMask == network.high && address.low & lowMask == network.low
  }

  func contains(_ address: SocketAddress) -> Bool {
    guard let address = IPAddress(address) else { return network == nil }
    return contains(address)
  }
}
