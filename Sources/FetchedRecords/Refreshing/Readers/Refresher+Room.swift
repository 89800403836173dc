import Dispatch
import QueryAnalysis

// Making room on the readers.
extension Refresher {
  /// A fetch longer than this leaves half of the readers to shorter ones.
  static let longFetch = Duration.milliseconds(250)

  /// How many readers may be at work that is long.
  private var readersForLong: Int { max(1, limits.readers / 2) }

  /// So long runs what others of its statement, with other arguments, were long, if shorter work waits: many
  /// of them may be asked for at once.
  private static let trial = longFetch / 5

  /// Readers whose work has turned out to be long.
  private var longReaders: [BackgroundReader] {
    readers.filter { reader in
      guard let run = reader.run else { return false }
      return reader.isLong(beyond: areOthersLong(run) ? Self.trial : Self.longFetch)
    }
  }

  /// Whether others of its statements were long.
  private func areOthersLong(_ run: BackgroundRun) -> Bool {
    let statements = run.tasks.map(\.live.snapshot.query.sql)
    return !statements.isEmpty && statements.allSatisfy(longQueries.contains)
  }

  /// How long a live result may take on a reader.
  enum Expectation {
    /// It was no longer when it last ran.
    case short
    /// It never ran.
    case unknown
    /// It never ran, and others of its statement were long.
    case longAsOthers
    case long
  }

  func expectation(of result: LiveResult) -> Expectation {
    if isKnownAsLong(result) { return .long }
    // A first fetch that was begun in vain on the queue is known for no more than that.
    if result.opening == nil, result.durations.fetch != nil { return .short }
    return longQueries.contains(result.snapshot.query.sql) ? .longAsOthers : .unknown
  }

  /// Whether work may begin that is known to be long.
  var mayBeLong: Bool { longReaders.count < readersForLong }

  func isKnownAsLong(_ result: LiveResult) -> Bool {
    result.knownDuration ?? .zero > Self.longFetch
  }

  /// Puts off long work where all readers are at work, most of them at what is long, and something
  /// waits that may be short: nobody knows of a query that it is long before it has run.
  ///
  /// What began last is put off, which has least to do again. It waits like others that are known to
  /// be long.
  func putOffLongWork() {
    guard !isEnding, readers.count >= limits.readers, readers.allSatisfy({ $0.run != nil }),
      line.waitsForReader(where: { !hasBusyCompanion($0) && !isKnownAsLong($0) })
    else { return }
    let long = longReaders
    if long.contains(where: { $0.putOffReason != nil }) { return }
    guard long.count > readersForLong, let youngest = long.max(by: { $0.began < $1.began }) else {
      return lookAgainLater()
    }
    youngest.putOff(.forShorter)
    count { $0.putOff += 1 }
  }

  /// Whether a run lets others go first from its beginning.
  func precedence(of run: BackgroundRun) -> WorkerThread.Precedence {
    noteUnused()
    if idleReading.isWorthwhile() { return .whenIdle }
    return areOthersLong(run) || run.isExpected(beyond: Self.longFetch) ? .behind : .equal
  }

  /// Looks how much of the processors is left over, where it was not looked lately.
  func noteUnused(forCommit isForCommit: Bool = false) {
    guard idleReading.isDue(forCommit: isForCommit) else { return }
    let running = readers.lazy.filter { $0.run != nil }.map(\.lowPriorityTime)
    idleReading.note(IdleReading.Sample(ownUse: running.reduce(lowPriorityTime, +)))
  }

  /// Lets others go before work that turns out to be long: what may be short is not held up by what
  /// else the machine does. What waited in vain for others to rest begins anew.
  func lookAfterReaders() {
    noteUnused()
    for reader in readers where reader.run != nil {
      let clock = reader.statementGuard
      switch reader.precedence {
      case .equal where clock.processorTime ?? clock.ownTime ?? .zero > Self.trial:
        reader.yieldToOthers()
      case .whenIdle where idleReading.isInVain(clock.turnTime, using: clock.processorTime):
        guard reader.putOffReason == nil else { break }
        idleReading.pause()
        reader.putOff(.starved)
        count { $0.starved += 1 }
      case .behind: break
      case .equal, .whenIdle: lookAgainLater()
      }
    }
  }

  private func lookAgainLater() {
    guard !willLookAgain else { return }
    willLookAgain = true
    access.async(after: .milliseconds(Int(Self.trial / .milliseconds(1)))) { [self] in
      willLookAgain = false
      if isStopped { return }
      lookAfterReaders()
      putOffLongWork()
    }
  }

  /// After a first fetch of a statement that took longer than what is short, others of it, with other
  /// arguments, are not begun on the queue for so long: many of them would take it from commits.
  private static let pauseOfBeginnings = LiveResult.shortWork * 50
  /// Some more than there are queries in most configurations.
  private static let mostBeginnings = 1000

  func noteVainBeginning(of result: LiveResult) {
    guard result.opening != nil else { return }
    if vainBeginnings.count >= Self.mostBeginnings { vainBeginnings = [:] }
    vainBeginnings[result.snapshot.query.sql] = .now
  }

  /// Whether a first fetch is not even begun on the queue.
  func isTakenForLong(_ result: LiveResult) -> Bool {
    if isKnownAsLong(result) { return true }
    let last = vainBeginnings[result.snapshot.query.sql]
    return last.map { .now - $0 < Self.pauseOfBeginnings } ?? false
  }
}
