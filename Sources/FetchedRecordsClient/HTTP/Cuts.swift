/// Whether something on the way cuts streams, or they broke because their server died.
///
/// What limits streams on the way lets them live equally long; a server dies at any time.
struct Cuts: Sendable {
  /// Streams that are cut further apart are unrelated.
  private static let unrelated: Duration = .seconds(60)
  private static let tolerance: Duration = .milliseconds(250)

  private var last: (time: ContinuousClock.Instant, life: Duration)?

  /// A stream was cut that had lived so long; whether the one before had lived as long.
  mutating func isRegular(_ life: Duration, at now: ContinuousClock.Instant) -> Bool {
    defer { last = (now, life) }
    guard let last, now - last.time < Self.unrelated else { return false }
    let difference = life > last.life ? life - last.life : last.life - life
    return difference < Self.tolerance + life / 10
  }

  /// There was no connection: a server has died.
  mutating func forget() { last = nil }
}
