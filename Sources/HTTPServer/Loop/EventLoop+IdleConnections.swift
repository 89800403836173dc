import Dispatch
import Locks

// When descriptors run out, idle connections go: a server may close them at any time
// (RFC 9112 §9.5), and a client that finds one closed opens another.
extension EventLoop {
  /// So many go at least.
  private static let least = 4
  /// Of many, one in so many goes at a time: each look costs something for all of them.
  private static let share = 16
  /// Younger than this, a connection that has brought no request is not idle: its first one is on its
  /// way.
  private static let youth = Duration.seconds(1)
  /// The same of an address that has many: so many are opened ahead of need, and others wait behind them.
  private static let youthOfMany = Duration.milliseconds(100)
  private static let many = 8

  private struct Candidate {
    let connection: Connection
    let since: Moment
    /// Connections of its address.
    let siblings: Int

    /// Whose address has more connections goes first, and of these who has been idle for longest.
    func goesBefore(_ other: Candidate) -> Bool {
      siblings != other.siblings ? siblings > other.siblings : since < other.since
    }
  }

  /// Closes some idle connections, first of the address that has most connections.
  ///
  /// O(n log n), n connections of the loop.
  ///
  /// - Returns: how many.
  func closeIdle() -> Int {
    dispatchPrecondition(condition: .onQueue(queue))
    let candidates = connections.compactMap { connection -> Candidate? in
      guard let since = connection.machine.idleSince else { return nil }
      let siblings = settings.counts.count(of: connection.address)
      let youth = siblings > Self.many ? Self.youthOfMany : Self.youth
      if !connection.machine.hasServed, now - since < youth { return nil }
      return Candidate(connection: connection, since: since, siblings: siblings)
    }
    var left = max(Self.least, candidates.count / Self.share)
    var closed = 0
    for candidate in candidates.sorted(by: { $0.goesBefore($1) }) where left > 0 {
      // What came and was not read yet is a request.
      if SystemCalls.hasNews(candidate.connection.descriptor) { continue }
      candidate.connection.abort()
      left -= 1
      closed += 1
    }
    counters.update { $0.idleClosed += closed }
    return closed
  }
}

extension ConnectionDealer {
  /// Closes some idle connections of all loops; tells how many, on any queue.
  func closeIdle(_ completion: @escaping @Sendable (Int) -> Void) {
    let closed = IdleCount()
    let group = DispatchGroup()
    for loop in loops {
      group.enter()
      loop.perform { loop in
        closed.count.wrappingAdd(loop.closeIdle(), ordering: .relaxed)
        group.leave()
      }
    }
    group.notify(queue: .global()) { completion(closed.count.load(ordering: .relaxed)) }
  }
}

/// Counted on several loops.
private final class IdleCount: Sendable {
  let count = Atomic(0)
}
