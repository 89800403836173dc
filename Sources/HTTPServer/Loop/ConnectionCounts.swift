import Synchronization

/// How many connections each address has, so that one cannot take all there are.
///
/// Some 60 bytes for each address that has a connection.
final class ConnectionCounts: Sendable {
  private let limit: Int
  private let exempt: [AddressRange]
  private let counts = Mutex<[IPAddress: Int]>([:])

  /// - Parameters:
  ///   - limit: Of one address, or of one /64 of IPv6.
  ///   - exempt: Not counted: proxies, behind which everybody comes from one address.
  init(limit: Int, exempt: [AddressRange]) {
    self.limit = limit
    self.exempt = exempt
  }

  /// Counts a connection, or refuses it.
  func enter(_ address: SocketAddress) -> Bool {
    guard let site = site(of: address) else { return true }
    return counts.withLock { counts in
      let count = counts[site, default: 0]
      guard count < limit else { return false }
      counts[site] = count + 1
      return true
    }
  }

  /// How many an address has; 0 where it is not counted.
  func count(of address: SocketAddress) -> Int {
    site(of: address).flatMap { site in counts.withLock { $0[site] } } ?? 0
  }

  /// A connection that was counted has ended.
  func leave(_ address: SocketAddress) {
    guard let site = site(of: address) else { return }
    counts.withLock { counts in
      let count = counts[site, default: 1]
      counts[site] = count > 1 ? count - 1 : nil
    }
  }

  private func site(of address: SocketAddress) -> IPAddress? {
    guard let ip = IPAddress(address), !exempt.contains(where: { $0.contains(ip) }) else {
      return nil
    }
    return ip.site
  }
}
