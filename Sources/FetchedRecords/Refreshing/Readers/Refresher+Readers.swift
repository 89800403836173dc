import ChangeCapture
import Dispatch
import GRDB
import OrderedResults
import QueryAnalysis

// Long work, on readers beside the queue that follows commits.
extension Refresher {
  /// How long to wait before trying again what there was no room for.
  private static let memoryRetry = Duration.seconds(5)

  /// Hands long work to the readers that are idle.
  func serveLong() {
    if isEnding { return failLong() }
    while line.hasLong, let reader = idleReader(), beginNext(on: reader) {}
    putOffLongWork()
  }

  /// Pages, live results that are known to be soon done, and those that run for the first time take turns.
  ///
  /// - Returns: false where nothing may begin now.
  private func beginNext(on reader: BackgroundReader) -> Bool {
    let mayBeLong = mayBeLong
    func nextPage() -> PageRead? { line.nextLongPage(orPutOff: mayBeLong) }
    let turn = line.takeTurn()
    if turn == .page, let page = nextPage() { return begin(page, on: reader) }
    let next = line.nextLong { result in
      if hasBusyCompanion(result) { return nil }
      switch expectation(of: result) {
      case .short: return turn == .new ? 1 : 0
      case .unknown: return turn == .new ? 0 : 1
      case .longAsOthers: return 2
      case .long: return mayBeLong ? 3 : nil
      }
    }
    if let next { return begin(next, on: reader) }
    return nextPage().map { begin($0, on: reader) } ?? false
  }

  private func idleReader() -> BackgroundReader? {
    if let idle = readers.first(where: { $0.run == nil }) { return idle }
    guard readers.count < limits.readers else { return nil }
    guard
      let reader = access.makeReader(
        number: readers.count + 1, turns: readerTurns, limits: limits, memory: memory)
    else { return nil }
    readers.append(reader)
    return reader
  }

  /// So often a reader's transaction is begun anew because a commit came in between.
  private static let attempts = 50

  /// - Returns: false where it has to be tried again.
  private func begin(_ result: LiveResult, on reader: BackgroundReader) -> Bool {
    begin(on: reader) { [self] in
      try makeRun(result, seeing: $0)
    } again: {
      if live.contains(result) { line.appendLong(result) }
    } failing: {
      if live.contains(result) { fail(result, with: $0, answering: result.takeReceivers()) }
    }
  }

  /// Within the transaction, which may have found that others are behind too.
  private func makeRun(
    _ result: LiveResult, seeing transaction: ReadTransaction
  ) throws -> BackgroundRun? {
    let results = [result] + companions(of: result)
    for result in results { line.remove(result) }
    let tasks = try results.compactMap { try makeTask($0, in: transaction.db) }
    for task in tasks where task.live.holdsUpCompanions {
      pending.append((task.live, .fetching))
    }
    if tasks.isEmpty { return nil }
    return BackgroundRun(tasks, commit: commit, versionKey: versionKey, seeing: transaction)
  }

  /// Begins a run on a reader, in a transaction on the present commit.
  ///
  /// - Parameters:
  ///   - reader: is idle.
  ///   - makeRun: makes the run when the transaction has begun; nil: there is nothing to do.
  ///   - again: puts it into line, to be tried again.
  ///   - failing: answers whoever waits for it.
  /// - Returns: false where it has to be tried again.
  func begin(
    on reader: BackgroundReader, _ makeRun: (ReadTransaction) throws -> BackgroundRun?,
    again: () -> Void, failing: (FetchFailure) -> Void
  ) -> Bool {
    attempts: for _ in 0..<Self.attempts {
      switch attemptToBegin(on: reader, makeRun) {
      case .success(true): return true
      case .success(false): continue
      case .failure(let failure) where failure.leavesLastResult: break attempts
      case .failure(let failure):
        failing(failure)
        announce()
        return true
      }
    }
    again()
    scheduleRetry()
    return false
  }

  /// - Returns: false where a commit came in between.
  private func attemptToBegin(
    on reader: BackgroundReader, _ makeRun: (ReadTransaction) throws -> BackgroundRun?
  ) -> Result<Bool, FetchFailure> {
    attempt { [self] transaction in
      try reader.begin(reading: access.files)
      var hasRun = false
      defer { if !hasRun { reader.end() } }
      guard let state = transaction.state, LogState(in: transaction.db) == state else {
        return false
      }
      guard let run = try makeRun(transaction) else { return true }
      hasRun = true
      reader.start(run, precedence(of: run)) { reader in
        WorkerThread.errands.perform { self.access.async { self.finish(reader) } }
      }
      lookAfterReaders()
      count { $0.background += 1 }
      noteReaders()
      return true
    }
  }

  private func noteReaders() {
    let busy = readers.filter { $0.run != nil }.count
    count { $0.busyReaders = busy }
  }

  /// - Throws: an error that has ended the transaction.
  private func makeTask(_ result: LiveResult, in db: Database) throws -> BackgroundTask? {
    guard live.contains(result), result.isBehind else { return nil }
    do {
      let (bound, work) = try work(for: result, in: db)
      if waitsForRows(result, work, bound.query) { return nil }
      let task = BackgroundTask(result, bound, work)
      result.background = task
      return task
    } catch {
      try failWithinTransaction(result, with: error, in: db)
      return nil
    }
  }

  private func finish(_ reader: BackgroundReader) {
    guard let run = reader.run else { return }
    reader.run = nil
    lowPriorityTime += reader.lowPriorityTime
    noteReaders()
    for task in run.tasks {
      if reader.putOffReason == .forShorter {
        noteUnfinished(task.live, after: max(run.duration, Self.longFetch + .nanoseconds(1)))
      }
      finish(task, of: run, isOutdated: reader.isOutdated)
    }
    if let page = run.page {
      finish(page, isOutdated: reader.isOutdated, reader.putOffReason)
    }
    if reader.isOutdated { reader.close() }
    announce()
    serveLong()
    serveSoon()
  }

  private func finish(_ task: BackgroundTask, of run: BackgroundRun, isOutdated: Bool) {
    let result = task.live
    result.background = nil
    guard live.contains(result) else { return }
    switch task.outcome {
    case .success(let update) where !isOutdated:
      note(update.duration, of: result)
      show(update, of: result, commit: run.commit, answering: task.receivers)
      tellLanding(of: result)
    case .failure(let failure) where failure.kind != .abandoned && !isOutdated:
      if failure.kind == .tooLong {
        count { $0.overdue += 1 }
        noteUnfinished(result, after: limits.statement)
        // It leaves the readers to others for half of the time.
        result.notBefore = .now + limits.statement
      }
      result.miss(task.covered, since: run.commit)
      result.mustRefetch = "failure"
      fail(result, with: failure, answering: task.receivers)
      // No commit tells that others have let go.
      guard failure.kind == .noMemory, live.contains(result) else { return }
      result.notBefore = .now + Self.memoryRetry
    default:
      // Ended for the sake of others, or read from a file that is gone.
      result.miss(task.covered, since: run.commit)
      result.mustRefetch = result.mustRefetch ?? "failure"
      result.receivers += task.receivers
    }
    if result.isBehind { line.append(result) }
  }

  /// Its fetch takes longer than that.
  private func noteUnfinished(_ result: LiveResult, after duration: Duration) {
    result.durations.fetch = duration
    note(duration, of: result)
  }

  private func note(_ duration: Duration, of result: LiveResult) {
    if duration > Self.longFetch {
      longQueries.insert(result.snapshot.query.sql)
    } else {
      longQueries.remove(result.snapshot.query.sql)
    }
  }

  // MARK: - The end

  /// Ends what takes long, now and from now on: whoever waits for it is refused. What is short goes
  /// on.
  ///
  /// From any thread.
  package func endLongWork() {
    access.async { [self] in
      isEnding = true
      for reader in readers where reader.run != nil { reader.statementGuard.stop() }
      failLong()
    }
  }

  private func failLong() {
    for result in unopened.values where result.background == nil {
      line.remove(result)
      fail(result, with: .ending, answering: [])
    }
    while let result = line.nextLong(by: { _ in 0 }) {
      fail(result, with: .ending, answering: result.takeReceivers())
    }
    failPages(line.takeLongPages(), with: .ending)
    announce()
  }

  /// The readers' files may be others now, or nobody wants anything any more.
  func stopReaders() {
    for reader in readers where reader.run != nil { reader.statementGuard.stop() }
    // All of them together; less where the process is about to end.
    let deadline = DispatchTime.now() + .milliseconds(isStopped ? 100 : 2000)
    for reader in readers { reader.close(by: deadline) }
  }
}
