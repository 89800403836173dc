/// Deadlines by the thousand: a ring of buckets, one for each tick.
///
/// Scheduling and firing are O(1). A deadline is never taken out: whoever is woken looks whether it
/// is still due, and schedules again if it has moved. So a connection whose deadline moves with each
/// request touches the wheel once in a while only. 8 bytes an entry.
struct TimerWheel {
  /// How late a timeout may be.
  ///
  /// They are seconds long; nobody sees a tenth.
  static let tick: Int64 = 50_000_000
  private static let size: Int64 = 1024

  private var buckets = [[UInt64]](repeating: [], count: Int(size))
  /// The next tick to fire.
  private var current: Int64
  private(set) var count = 0

  init(now: Moment) { current = now.nanoseconds / Self.tick }

  /// Wakes `token` at a time, or earlier where that is further away than the wheel is round
  /// (51 s).
  mutating func schedule(_ token: UInt64, at moment: Moment) {
    let wanted = moment.nanoseconds / Self.tick + 1
    let tick = min(max(wanted, current), current + Self.size - 1)
    buckets[Int(tick % Self.size)].append(token)
    count += 1
  }

  /// Takes out everything that is due.
  mutating func advance(to now: Moment) -> [UInt64] {
    let target = now.nanoseconds / Self.tick
    guard target >= current else { return [] }
    var due: [UInt64] = []
    // After a long sleep each bucket is due once.
    for tick in max(current, target - Self.size + 1)...target {
      let index = Int(tick % Self.size)
      if buckets[index].isEmpty { continue }
      due += buckets[index]
      buckets[index] = []
    }
    count -= due.count
    current = target + 1
    return due
  }

  /// When the next entry is due, or nil when there is none.
  ///
  /// O(ticks until then).
  var next: Moment? {
    guard count > 0 else { return nil }
    for tick in current..<current + Self.size where !buckets[Int(tick % Self.size)].isEmpty {
      return Moment(nanoseconds: tick * Self.tick)
    }
    return nil
  }
}
