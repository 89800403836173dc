import Foundation

/// An address without a port, IPv4 as the IPv6 that stands for it (RFC 4291 §2.5.5.2), so that one
/// client of a dual-stack socket has one address.
struct IPAddress: Sendable, Hashable {
  var high: UInt64
  var low: UInt64

  private static let mappedPrefix: UInt64 = 0xFFFF_0000_0000

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads an address as people write it: `10.0.0.1`, `::1`.
  init?(_ text: String) {
    var v4 = in_addr()
    if inet_pton(AF_INET, text, &v4) == 1 {
      self.init(high: 0, low: Self.mappedPrefix | UInt64(UInt32(bigEndian: v4.s_addr)))
      return
    }
    var v6 = in6_addr()
    guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
    self.init(v6)
  }

  /// The address of a peer; nil where it has none: a Unix-domain socket.
  init?(_ address: SocketAddress) {
    switch Int32(address.storage.sin6_family) {
    case AF_INET6: self.init(address.storage.sin6_addr)
    case AF_INET:
      // sockaddr_in has its address, in network order, at byte 4.
      let bytes = withUnsafeBytes(of: address.storage) {
        $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
      }
      self.init(high: 0, low: Self.mappedPrefix | UInt64(UInt32(bigEndian: bytes)))
    default: return nil
    }
  }

  private init(_ address: in6_addr) {
    let (high, low) = withUnsafeBytes(of: address) {
      ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    self.init(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
  }

  var isIPv4: Bool { high == 0 && low >> 32 == Self.mappedPrefix >> 32 }

  /// What one customer of a network has: an IPv4 address, or a /64 of IPv6 (RFC 6177).
  var site: IPAddress { isIPv4 ? self : IPAddress(high: high, low: 0) }
}
