import Locks

/// How many connections each address has, so that one cannot take all there are.
///
/// Some 60 bytes for each address that has a connection.
final class ConnectionCounts: Sendable {
  private struct State {
    var limit: Int
    var exempt: [AddressRange]
    var counts: [IPAddress: Int] = [:]

    func site(of address: SocketAddress) -> IPAddress? {
      guard let ip = IPAddress(address), !exempt.contains(where: { $0.contains(ip) }) else {
        return nil
      }
      return ip.site
    }
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - limit: Of one address, or of one /64 of IPv6.
  ///   - exempt: Not counted: proxies, behind which everybody comes from one address.
  init(limit: Int, exempt: [AddressRange]) {
    state = Mutex(State(limit: limit, exempt: exempt))
  }

  /// Counts by others from now on. Of those addresses that were not counted and now are, connections
  /// that are open count as none.
  func use(limit: Int, exempt: [AddressRange]) {
    state.withLock { ($0.limit, $0.exempt) = (limit, exempt) }
  }

  /// Counts a connection, or refuses it.
  func enter(_ address: SocketAddress) -> Bool {
    state.withLock { state in
      guard let site = state.site(of: address) else { return true }
      let count = state.counts[site, default: 0]
      guard count < state.limit else { return false }
      state.counts[site] = count + 1
      return true
    }
  }

  /// How many an address has; 0 where it is not counted.
  func count(of address: SocketAddress) -> Int {
    state.withLock { state in state.site(of: address).flatMap { state.counts[$0] } } ?? 0
  }

  /// A connection that was counted has ended.
  func leave(_ address: SocketAddress) {
    state.withLock { state in
      guard let site = state.site(of: address) else { return }
      let count = state.counts[site, default: 1]
      state.counts[site] = count > 1 ? count - 1 : nil
    }
  }
}
