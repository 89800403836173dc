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

  /// Whether everything shows the present: nothing stands in line, no reader is at work, and all queries
  /// that are declared are analysed.
  ///
  /// On ``queue`` only.
  package var isSettled: Bool {
    line.isEmpty && readers.allSatisfy { $0.run == nil } && catalog.nextOutdated == nil
  }

  /// Works on behind whatever waits for the queue.
  ///
  /// For whoever has put something into line, and for a transaction that has succeeded; what stands there while the
  /// database cannot be read, waits for the next that does.
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
      if case .failure(let failure) = result {
        failWaiting(failure)
        if !line.isEmpty { scheduleRetry() }
        return
      }
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
    goOnWithOutlines()
    failPages(line.takePages(), with: failure)
    announce()
  }

  /// Does what is short, within a transaction in which everything else is up to date.
  func serve(in transaction: ReadTransaction) throws {
    // Whoever hears that the database can be read again finds that queries can be, too.
    let end = ContinuousClock.now + (failure == nil ? Self.slice : Self.recovery)
    try beginNext(in: transaction.db)
    try servePage(in: transaction.db)
    // Where nothing is done beside, nothing is put off. To begin a transaction costs as much as most
    // first results, so whoever waits for one is served in the same; no more of them than of others.
    var waiting: [LiveResult] = []
    defer { for result in waiting { line.append(result) } }
    while !worksBeside || ContinuousClock.now < end, let result = line.next() {
      // What it is under another schema is found out for one query in a turn.
      if worksBeside, result.bound == nil, result.listener.awaitsAnalysis {
        if !mayAnalyse {
          waiting.append(result)
          continue
        }
        mayAnalyse = false
      }
      try serve(result, in: transaction)
      try beginNext(in: transaction.db)
    }
  }

  private func beginNext(in db: Database) throws {
    guard let opening = line.nextOpening(), !opening.isAbandoned else { return }
    try begin(opening, in: db)
  }

  private func serve(_ result: LiveResult, in transaction: ReadTransaction) throws {
    guard live.contains(result), result.isBehind else { return }
    if let time = result.notBefore, time > .now { return wait(for: result, until: time) }
    let (bound, work): (BoundQuery, Query.Work)
    do {
      (bound, work) = try self.work(for: result, in: transaction.db)
    } catch {
      return try failWithinTransaction(result, with: error, in: transaction.db)
    }
    if waitsForRows(result, work, bound.query) { return }
    guard mayBeShort(result, work, bound.query), try update(result, work, in: transaction) else {
      return line.appendLong(result)
    }
    if result.failure == nil { settle(result) }
  }

  private func mayBeShort(_ result: LiveResult, _ work: Query.Work, _ query: Query) -> Bool {
    guard result.opening != nil else { return isShort(work, for: result) }
    // A file is read first; and what a function does by itself is not ended after some time.
    if query.definition.isCached { return !worksBeside }
    if case .totals(.some) = work.records, query.alongside.isEmpty { return true }
    if query.letsClientsCallFunctions || isTakenForLong(result) { return !worksBeside }
    // Others of its kind were long, and a reader has nothing else to do.
    return !(longQueries.contains(result.snapshot.query.sql) && readers.contains { $0.run == nil })
  }

  /// What a live result shows is the present.
  private func settle(_ result: LiveResult) {
    _ = result.takeMissed()
    result.notBefore = nil
    tellLanding(of: result)
  }

  func tellLanding(of result: LiveResult) {
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
      answers.append { opening.completion(.failure(failure)) }
      return try db.rethrowIfTransactionEnded(by: error)
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

  // MARK: - Giving up

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
    leaveFollowedRows(of: result)
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
}
