import ChangeCapture

/// Whether what takes long runs only while nobody else wants the processor.
///
/// Then who is woken by a commit has it at once. But beside programs that never rest it would take for ever: so it needs
/// something left over lately, and where it waits in vain nevertheless, which a container may hide, it gets its share for
/// a while. Then a commit may wait for it, up to a tick.
struct IdleReading {
  /// How much of the processors was for those who run only then.
  struct Sample {
    let time: ContinuousClock.Instant
    /// The processors' time that nobody wanted, since some beginning; nil: the system does not tell.
    let unused: Duration?

    /// - Parameters:
    ///   - ownUse: what of it this process used, by threads that let others go first.
    ///   - time: now.
    init(ownUse: Duration, at time: ContinuousClock.Instant = .now) {
      self.time = time
      unused = OperatingSystem.idleTime.map { $0 + ownUse }
    }

    init(time: ContinuousClock.Instant, unused: Duration?) {
      (self.time, self.unused) = (time, unused)
    }
  }

  /// The system counts in hundredths of a second.
  private static let shortestWindow = Duration.milliseconds(100)
  /// A fifth of a processor: twice what it would get of one that it shares.
  private static let leastUnused = 0.2
  private static let shortestPause = Duration.seconds(60)
  private static let longestPause = Duration.seconds(3600)

  /// How much longer than it would have taken anyway work may wait.
  var patience = Duration.milliseconds(250)
  private var last: Sample
  private var isEnoughUnused = false
  private var notBefore: ContinuousClock.Instant?
  private var pauseLength = Self.shortestPause

  /// - Parameter first: with which to compare.
  init(since first: Sample = Sample(ownUse: .zero)) { last = first }

  /// Whether it is time to look how much is left over: while commits come that is each second, so that there is
  /// something to compare with when something long begins.
  func isDue(forCommit isForCommit: Bool = false, at now: ContinuousClock.Instant = .now) -> Bool {
    now - last.time >= (isForCommit ? .seconds(1) : Self.shortestWindow)
  }

  /// Learns what was left over since the last time.
  mutating func note(_ sample: Sample) {
    defer { last = sample }
    isEnoughUnused = false
    guard let before = last.unused, let after = sample.unused else { return }
    isEnoughUnused = (after - before) / (sample.time - last.time) >= Self.leastUnused
  }

  /// Whether others are believed to rest at times.
  func isWorthwhile(at now: ContinuousClock.Instant = .now) -> Bool {
    isEnoughUnused && (notBefore.map { $0 <= now } ?? true)
  }

  /// Whether work has waited so long for the processor that it is better begun anew, with a share of it: it has got a
  /// tenth at most, so that little is lost. What waits for a disk may look the same, and loses no more.
  ///
  /// - Parameters:
  ///   - time: since it was woken, without the turns of others.
  ///   - processorTime: how long it had the processor meanwhile; nil: it is not known.
  /// - Returns: whether it is to begin anew.
  func isInVain(_ time: Duration, using processorTime: Duration?) -> Bool {
    time > (processorTime ?? .zero) * 10 + patience
  }

  /// Has work take its share for a while, and for longer where that was no better soon after the last time.
  mutating func pause(at now: ContinuousClock.Instant = .now) {
    // Several may have waited at the same time.
    if let notBefore, notBefore > now { return }
    let isAgain = notBefore.map { now - $0 < pauseLength } ?? false
    pauseLength = isAgain ? min(pauseLength * 2, Self.longestPause) : Self.shortestPause
    notBefore = now + pauseLength
  }
}
