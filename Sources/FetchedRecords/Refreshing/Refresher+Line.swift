import ChangeCapture
import DequeModule
import Dispatch
import GRDB
import OrderedResults
import QueryAnalysis

// Working off what stands in line, in slices that leave the queue to commits in between.
extension Refresher {
  /// After this, no other piece of work is begun in a slice.
  private static let slice = Duration.microseconds(300)
  /// The same after a failure.
  private static let recovery = Duration.seconds(1)
  /// How long to wait before trying again what there was no room for.
  private static let memoryRetry = Duration.seconds(5)

  /// Whether everything shows the present: nothing stands in line, and no reader is at work.
  ///
  /// On ``queue`` only.
  package var isSettled: Bool { line.isEmpty && readers.allSatisfy { $0.run == nil } }

  /// Works on behind whatever waits for the queue.
  func serveSoon() {
    guard !isServing, !isStopped, !line.isEmpty else { return }
    isServing = true
    access.async { [self] in
      isServing = false
      serve()
    }
  }

  /// Does what is short, and begins what is long.
  func serve() {
    guard !isStopped else { return }
    if line.hasShort {
      mayAnalyse = true
      defer { mayAnalyse = false }
      let result = answer { try serve(in: $0) }
      if case .failure(let failure) = result { return failWaiting(failure) }
    }
    serveLong()
    if line.hasShort { serveSoon() }
  }

  /// Whoever waits for a first result, or for a result anew, is told that the database cannot be
  /// read; what is live waits on.
  private func failWaiting(_ failure: FetchFailure) {
    while let opening = line.nextOpening() { opening.completion(.failure(failure)) }
    for result in unopened.values where result.background == nil {
      fail(result, with: failure, answering: [])
    }
    for result in line.behind { answer(result.takeReceivers(), with: .failure(failure)) }
    failPages(line.takePages(), with: failure)
    announce()
  }

  /// Does what is short, within a transaction in which everything else is up to date.
  func serve(in transaction: ReadTransaction) throws {
    // Whoever hears that the database can be read again finds that queries can be, too.
    let end = ContinuousClock.now + (failure == nil ? Self.slice : Self.recovery)
    try beginNext(in: transaction.db)
    servePage(in: transaction.db)
    // Where nothing is done beside, nothing is put off. To begin a transaction costs as much as most
    // first results, so whoever waits for one is served in the same; no more of them than of others.
    while !worksBeside || ContinuousClock.now < end, let result = line.next() {
      serve(result, in: transaction)
      try beginNext(in: transaction.db)
    }
  }

  private func beginNext(in db: Database) throws {
    guard let opening = line.nextOpening(), !opening.isAbandoned else { return }
    try begin(opening, in: db)
  }

  private func serve(_ result: LiveResult, in transaction: ReadTransaction) {
    guard live.contains(result), result.isBehind else { return }
    if let time = result.notBefore, time > .now { return wait(for: result, until: time) }
    // What it is under another schema is found out for one of them in a turn.
    if result.bound == nil {
      guard mayAnalyse else { return line.append(result) }
      mayAnalyse = false
    }
    do {
      let (bound, work) = try work(for: result, in: transaction.db)
      guard mayBeShort(result, work, bound.query), update(result, work, in: transaction) else {
        return line.appendLong(result)
      }
      if result.failure == nil { settle(result) }
    } catch {
      fail(result, with: FetchFailure(any: error), answering: result.takeReceivers())
    }
  }

  private func mayBeShort(_ result: LiveResult, _ work: Query.Work, _ query: Query) -> Bool {
    guard result.opening != nil else { return isShort(work, for: result) }
    // A file is read first; and what a function does by itself is not ended after some time.
    if query.definition.isCached || query.letsClientsCallFunctions || isTakenForLong(result) {
      return !worksBeside
    }
    // Others of its kind were long, and a reader has nothing else to do.
    return !(longQueries.contains(result.snapshot.query.sql) && readers.contains { $0.run == nil })
  }

  /// What a live result shows is the present.
  private func settle(_ result: LiveResult) {
    _ = result.takeMissed()
    result.notBefore = nil
    tellLanding(of: result)
  }

  private func tellLanding(of result: LiveResult) {
    result.isToldDelayed = result.isBehind
    if result.isWaitedFor {
      pending.append((result, .landed(isCurrent: !result.isBehind)))
    }
    callAwaiting(result)
  }

  private func wait(for result: LiveResult, until time: ContinuousClock.Instant) {
    result.isWaiting = true
    let wait = (time - .now) / .nanoseconds(1)
    access.async(after: .nanoseconds(Int(max(wait, 0)))) { [self] in
      guard live.contains(result), result.notBefore == time else { return }
      result.isWaiting = false
      result.beginTurn()
      line.append(result)
      serveSoon()
    }
  }

  /// Begins to keep a query up to date, whose first result is to come.
  private func begin(_ opening: Opening, in db: Database) throws {
    let result: LiveResult
    do {
      result = try bind(opening.request, in: db)
    } catch {
      let failure = FetchFailure(any: error)
      return answers.append { opening.completion(.failure(failure)) }
    }
    result.opening = opening
    unopened[ObjectIdentifier(opening)] = result
    live.add(result)
    try followTables(in: db)
    line.append(result)
  }

  /// Makes a live result that shows nothing yet.
  func bind(_ listener: any LiveResultListener, in db: Database) throws -> LiveResult {
    let bound = try listener.bind(in: db, reusing: live.query(for:))
    return LiveResult(for: listener, of: bound, commit: commit)
  }

  // MARK: - Long work

  /// Hands long work to the readers that are idle.
  private func serveLong() {
    if isEnding { return failLong() }
    while line.hasLong, let reader = idleReader(), beginNext(on: reader) {}
    putOffLongWork()
  }

  /// Pages and live results take turns.
  ///
  /// - Returns: false where nothing may begin now.
  private func beginNext(on reader: BackgroundReader) -> Bool {
    let mayBeLong = mayBeLong
    func nextPage() -> PageRead? { line.nextLongPage(orPutOff: mayBeLong) }
    if line.takeTurn() == .page, let page = nextPage() { return begin(page, on: reader) }
    let next = line.nextLong { !hasBusyCompanion($0) && (mayBeLong || !isKnownAsLong($0)) }
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
      makeRun(result, seeing: $0)
    } again: {
      if live.contains(result) { line.appendLong(result) }
    } failing: {
      if live.contains(result) { fail(result, with: $0, answering: result.takeReceivers()) }
    }
  }

  /// Within the transaction, which may have found that others are behind too.
  private func makeRun(_ result: LiveResult, seeing transaction: ReadTransaction) -> BackgroundRun?
  {
    let results = [result] + companions(of: result)
    for result in results { line.remove(result) }
    let tasks = results.compactMap { makeTask($0, in: transaction.db) }
    for task in tasks where task.live.holdsUpCompanions {
      pending.append((task.live, .fetching))
    }
    return tasks.isEmpty ? nil : BackgroundRun(tasks, commit: commit, seeing: transaction)
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
    on reader: BackgroundReader, _ makeRun: (ReadTransaction) -> BackgroundRun?,
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
    on reader: BackgroundReader, _ makeRun: (ReadTransaction) -> BackgroundRun?
  ) -> Result<Bool, FetchFailure> {
    attempt { [self] transaction in
      try reader.begin(reading: access.files)
      guard let state = transaction.state, LogState(in: transaction.db) == state else {
        reader.end()
        return false
      }
      guard let run = makeRun(transaction) else {
        reader.end()
        return true
      }
      reader.start(run) { reader in self.access.async { self.finish(reader) } }
      count { $0.background += 1 }
      noteReaders()
      return true
    }
  }

  private func noteReaders() {
    let busy = readers.filter { $0.run != nil }.count
    count { $0.busyReaders = busy }
  }

  private func makeTask(_ result: LiveResult, in db: Database) -> BackgroundTask? {
    guard live.contains(result), result.isBehind else { return nil }
    do {
      let (bound, work) = try work(for: result, in: db)
      let task = BackgroundTask(result, bound, work)
      result.background = task
      return task
    } catch {
      fail(result, with: FetchFailure(any: error), answering: result.takeReceivers())
      return nil
    }
  }

  private func finish(_ reader: BackgroundReader) {
    guard let run = reader.run else { return }
    reader.run = nil
    noteReaders()
    for task in run.tasks {
      if reader.isPutOff { noteUnfinished(task.live, after: run.duration) }
      finish(task, of: run, isOutdated: reader.isOutdated)
    }
    if let page = run.page {
      finish(page, isOutdated: reader.isOutdated, isPutOff: reader.isPutOff)
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

  // MARK: - Giving up

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
    while let result = line.nextLong(where: { _ in true }) {
      fail(result, with: .ending, answering: result.takeReceivers())
    }
    failPages(line.takeLongPages(), with: .ending)
    announce()
  }

  /// Nobody waits for a first result any more.
  func abandon(_ opening: Opening) {
    opening.abandon()
    access.async { [self] in
      line.openings.removeAll { $0 === opening }
      if let result = unopened[ObjectIdentifier(opening)] { drop(result) }
    }
  }

  /// Stops keeping a live result up to date, and ends the work for it.
  func drop(_ result: LiveResult) {
    line.remove(result)
    live.remove(result)
    leaveAggregates(of: result)
    noteEnd(ofQuery: result)
    letGo(result)
    if let opening = result.opening { unopened[ObjectIdentifier(opening)] = nil }
    guard let task = result.background else { return }
    for reader in readers {
      guard let run = reader.run, run.tasks.contains(where: { $0 === task }) else { continue }
      guard run.tasks.allSatisfy({ !live.contains($0.live) }) else { continue }
      reader.statementGuard.stop()
      count { $0.abandoned += 1 }
    }
  }

  /// The readers' files may be others now, or nobody wants anything any more.
  func stopReaders() {
    for reader in readers where reader.run != nil { reader.statementGuard.stop() }
    // All of them together; less where the process is about to end.
    let deadline = DispatchTime.now() + .milliseconds(isStopped ? 100 : 2000)
    for reader in readers { reader.close(by: deadline) }
  }
}
