/// The waits after failures in a row, so that not all who failed together come back together.
///
/// A wait is drawn below a bound that doubles with each failure (AWS, "Exponential Backoff And Jitter").
struct Backoff: Sendable {
  private static let first: Duration = .milliseconds(500)
  /// Failures further apart are unrelated.
  private static let calm: Duration = .seconds(60)

  let longest: Duration
  private var failures = 0
  private var lastFailure: ContinuousClock.Instant?

  /// No wait is drawn above `longest`.
  init(longest: Duration = .seconds(30)) { self.longest = longest }

  /// The wait after one more failure: `atLeast`, and at random (in 0..<1) more, from as wide a range as
  /// `spread`.
  mutating func next(
    at now: ContinuousClock.Instant, atLeast: Duration = .zero, spread: Duration = .zero,
    random: Double
  ) -> Duration {
    if let lastFailure, now - lastFailure > Self.calm { failures = 0 }
    lastFailure = now
    let bound = min(longest, Self.first * (1 << min(failures, 16)))
    failures += 1
    return atLeast + max(bound, spread) * random
  }

  /// What came last was good for a while.
  mutating func reset() { failures = 0 }
}
