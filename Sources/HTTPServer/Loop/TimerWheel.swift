/// Deadlines by the thousand: a ring of buckets, one for each tick.
///
/// Scheduling and firing are O(1). A deadline is never taken out: whoever is woken looks whether it
/// is still due, and schedules again if it has moved. So a connection whose deadline moves with each
/// request touches the wheel once in a while only. 8 bytes an entry.
struct TimerWheel {
  private static let size: Int64 = 1024

  /// How late a timeout may be, in nanoseconds.
  private let tick: Int64

  private var buckets = [[UInt64]](repeating: [], count: Int(size))
  /// The next tick to fire.
  private var current: Int64
  private(set) var count = 0

  init(now: Moment, tick: Duration = .milliseconds(50)) {
    self.tick = max(1, tick.wholeNanoseconds)
    current = now.nanoseconds / self.tick
  }

  /// Wakes `token` at a time, or earlier where that is further away than the wheel is round
  /// (1023 ticks; 51 s by default).
  ///
  /// - Returns: the time at which it will wake: who is woken earlier than wanted schedules again.
  @discardableResult
  mutating func schedule(_ token: UInt64, at moment: Moment) -> Moment {
    let wanted = moment.nanoseconds / tick + 1
    let last = current + Self.size - 1
    buckets[Int(min(max(wanted, current), last) % Self.size)].append(token)
    count += 1
    return wanted > last ? Moment(nanoseconds: last * tick) : moment
  }

  /// Takes out everything that is due.
  mutating func advance(to now: Moment) -> [UInt64] {
    let target = now.nanoseconds / tick
    guard target >= current else { return [] }
    var due: [UInt64] = []
    // After a long sleep each bucket is due once.
    for number in max(current, target - Self.size + 1)...target {
      let index = Int(number % Self.size)
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
    for number in current..<current + Self.size where !buckets[Int(number % Self.size)].isEmpty {
      return Moment(nanoseconds: number * tick)
    }
    return nil
  }
}
