/// When to look again for a commit that a notification announced.
///
/// The notification comes with the write to the log; the commit is visible only after a further
/// store into shared memory, and with `synchronous=FULL` after an fsync in between. Where that
/// takes T, looks whose pauses grow with the time waited find the commit after T + T/8 at the
/// latest (but for what the shortest sleep takes), whether T is 30 µs or 30 ms, in some 60 looks
/// altogether.
///
/// The first looks come as soon as others have had the processor, for most commits are visible within
/// the shortest sleep. None is spun: the writer may have been put behind this thread on its processor,
/// and a thread that has run for long is then put behind whatever else wants to run there.
///
/// No clock of its own: the time comes in as an argument.
struct LookSchedule {
  typealias Instant = ContinuousClock.Instant

  /// What to do after a look that found nothing.
  enum Step: Equatable {
    /// So soon that only the same thread can do it; zero: when others have had the processor.
    case pause(Duration)
    /// Later, by a timer: the queue is free meanwhile.
    case timer(Duration)
    /// Pauses are as long as the poll's by now.
    case leaveToPoll
  }

  private enum Cause {
    case notification
    case report
  }

  private let pollInterval: Duration
  private var start: Instant?
  private var cause = Cause.notification

  init(pollInterval: Duration) {
    self.pollInterval = pollInterval
  }

  /// Whether a look that found nothing should be followed by another.
  var isRunning: Bool { start != nil }

  /// A notification came.
  ///
  /// While earlier ones are without an answer (a long transaction is being written) the short
  /// pauses begin again only every 10 ms, so that such a transaction costs a few percent of a
  /// core and not all of it.
  mutating func notified(at now: Instant) {
    if let start, cause == .notification, now - start < Self.restartInterval { return }
    (start, cause) = (now, .notification)
  }

  /// The owner was told of a commit and has begun to read.
  ///
  /// The notification of the next commit may have been read together with that of this one, while
  /// its visible point was still to come. A few looks at growing distance catch it.
  mutating func reported(at now: Instant) {
    (start, cause) = (now, .report)
  }

  /// A commit was found, or nothing more can be expected.
  mutating func stop() { start = nil }

  /// What to do after a look that found nothing.
  mutating func next(at now: Instant) -> Step {
    guard let start else { return .leaveToPoll }
    let elapsed = now - start
    let pause: Duration =
      switch cause {
      case .notification where elapsed < Self.yieldSpan: .zero
      case .notification: max(OperatingSystem.shortestSleep, elapsed / 8)
      case .report: max(Self.firstLookAfterReport, elapsed * 7)
      }
    if pause >= pollInterval {
      stop()
      return .leaveToPoll
    }
    return cause == .notification && elapsed < Self.inlineSpan ? .pause(pause) : .timer(pause)
  }

  /// About what a writer takes from the last write to the log to what makes it visible.
  static let yieldSpan = Duration.microseconds(25)
  /// About what an fsync takes on a good disk; longer waits are not worth holding the thread.
  static let inlineSpan = Duration.milliseconds(3)
  static let restartInterval = Duration.milliseconds(10)
  static let firstLookAfterReport = Duration.microseconds(250)
}
