import Dispatch
import Locks

/// When requests that wait are answered at the latest: one timer for all that are due together.
///
/// O(1) for each, and some 40 bytes.
final class PollTimes: Sendable {
  /// Counted from the start of the machine; answers may be so late.
  private static let tick: UInt64 = 50_000_000

  private let polls = Mutex<[UInt64: [ObjectIdentifier: Poll]]>([:])

  /// Nobody waits longer.
  private static let longest = 3600.0

  /// The first tick that is not before a time.
  static func tick(after seconds: Double) -> UInt64 {
    let seconds = min(max(0, seconds), longest)
    let time = DispatchTime.now().uptimeNanoseconds + UInt64(seconds * 1e9)
    return (time + tick - 1) / tick
  }

  static func hasPassed(_ number: UInt64) -> Bool {
    DispatchTime.now().uptimeNanoseconds >= number * tick
  }

  /// Requests that wait. O(ticks with any).
  var count: Int { polls.withLock { $0.values.reduce(0) { $0 + $1.count } } }

  func add(_ poll: Poll) {
    let isFirst = polls.withLock { polls in
      polls[poll.end, default: [:]][ObjectIdentifier(poll)] = poll
      return polls[poll.end]?.count == 1
    }
    guard isFirst else { return }
    let time = DispatchTime(uptimeNanoseconds: poll.end * Self.tick)
    Poll.queue.asyncAfter(deadline: time) { [self, end = poll.end] in
      let due = polls.withLock { $0.removeValue(forKey: end) }
      for poll in (due ?? [:]).values { poll.timePassed() }
    }
  }

  func remove(_ poll: Poll) {
    polls.withLock { polls in
      polls[poll.end]?[ObjectIdentifier(poll)] = nil
      if polls[poll.end]?.isEmpty == true { polls[poll.end] = nil }
    }
  }
}
