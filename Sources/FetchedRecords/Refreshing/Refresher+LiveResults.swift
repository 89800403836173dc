import ChangeCapture
import Dispatch
import GRDB
import OrderedResults
import QueryAnalysis

// Bringing live results up to date, within a read transaction.
extension Refresher {
  /// Brings the live results up to date that changes concern: at once where that is short, else they
  /// stand in line.
  ///
  /// - Throws: an error that has ended the transaction.
  func bringUpToDate(_ changes: DatabaseChanges, in transaction: ReadTransaction) throws {
    for group in live.groups(touchedBy: changes) {
      let work = group.query.work(for: changes, isWindow: group.isOfWindows)
      switch work.records {
      case .none:
        if work.alongside.isEmpty { continue }
        for result in group.members.values {
          try bring(work, changes, into: result, in: transaction)
        }
      case .rows(let changed):
        let assignments: [(LiveResult, [ChangedRows])]
        do {
          assignments = try group.assignments(of: changed, in: transaction.db)
        } catch {
          try transaction.db.rethrowIfTransactionEnded(by: error)
          for result in group.members.values { postpone(result, changes) }
          continue
        }
        for (result, changed) in assignments {
          var work = work
          work.records = .rows(changed)
          if try bring(work, changes, into: result, in: transaction) { group.note(result, changed) }
        }
      case .inner(_, othersChanged: false) where work.alongside.isEmpty:
        for result in group.members.values
        where result.isBehind || !showsPresentRows(result, group.query) {
          try bring(work, changes, into: result, in: transaction)
        }
      case .totals, .inner:
        for result in group.members.values {
          try bring(work, changes, into: result, in: transaction)
        }
      case .window, .total:
        break
      case .refetch where group.isOfWindows:
        for result in group.members.values {
          try bring(work, changes, into: result, in: transaction)
        }
      case .refetch:
        for result in group.members.values { postpone(result, changes) }
      }
    }
  }

  /// - Returns: whether it is done; else it stands in line.
  @discardableResult
  private func bring(
    _ work: Query.Work, _ changes: DatabaseChanges, into result: LiveResult,
    in transaction: ReadTransaction
  ) throws -> Bool {
    if !result.isBehind, let bound = try? result.bound?.get(),
      let work = try? known(work, of: result, bound, in: transaction.db),
      isShort(work, for: result), try update(result, work, in: transaction)
    {
      return true
    }
    postpone(result, changes)
    return false
  }

  /// Whether some work is to be done at once: it is short, or there is nothing to do it beside.
  func isShort(_ work: Query.Work, for result: LiveResult) -> Bool {
    !worksBeside || !result.isExplored && result.isShort(work)
  }

  /// Whether there are connections for long work beside the one that follows commits.
  var worksBeside: Bool { limits.readers > 0 }

  /// Lets a live result stand in line, with what it has missed.
  func postpone(_ result: LiveResult, _ changes: DatabaseChanges) {
    result.miss(changes, since: commit)
    result.group?.leave(result)
    (result.listener as? FollowedRows)?.hasSkipped = true
    line.append(result)
    if result.isToldDelayed { return }
    result.isToldDelayed = true
    if result.isWaitedFor { pending.append((result, .delayed)) }
  }

  /// Has a live result run again, in its turn.
  func refetch(_ result: LiveResult, because reason: String) {
    result.mustRefetch = reason
    postpone(result, .nothing)
  }

  /// What is left to be done for a live result.
  func work(
    for result: LiveResult, in db: Database
  ) throws -> (query: BoundQuery, work: Query.Work) {
    if result.bound == nil {
      live.bind(result, in: db)
      try followTables(in: db)
    }
    guard let bound = try result.bound?.get() else {
      throw FetchFailure(kind: .query, detail: "\(result.queryName) was never analysed")
    }
    let query = bound.query
    var work = query.work(for: result.missed, isWindow: bound.window != nil)
    if let reason = result.mustRefetch { work = query.refetch(because: [reason]) }
    return (bound, try known(work, of: result, bound, in: db))
  }

  /// Some work with what is known of it in the engine's transaction.
  private func known(
    _ work: Query.Work, of result: LiveResult, _ bound: BoundQuery, in db: Database
  ) throws -> Query.Work {
    try placed(known(work, of: result, bound.query), of: result, bound, in: db)
  }

  /// Does work in a moment, or not at all.
  ///
  /// - Parameters:
  ///   - result: what is to be brought up to date.
  ///   - work: by which work.
  ///   - transaction: reads it.
  /// - Returns: whether it is done, with success or without; false: it takes longer.
  /// - Throws: an error that has ended the transaction.
  func update(
    _ result: LiveResult, _ work: Query.Work, in transaction: ReadTransaction
  ) throws -> Bool {
    let meter = ResultMeter(limits, memory, mayWait: false)
    do {
      guard let bound = try result.bound?.get() else { return true }
      let mayCount = worksBeside && (result.opening != nil || work.mayCount)
      let update = try access.statementGuard.run(
        atMost: LiveResult.shortWork, counting: mayCount ? transaction.db : nil
      ) {
        result.opening == nil
          ? try result.update(work, of: bound, meter: meter, in: transaction)
          : try result.firstUpdate(work, of: bound, known: nil, meter: meter, in: transaction)
      }
      show(update, of: result, commit: commit, answering: result.takeReceivers())
    } catch StatementGuard.Interruption.time {
      result.forgetUnlessUnfinished()
      noteVainBeginning(of: result)
      switch work.records {
      case .rows: result.durations.isLongByRows = true
      case .inner(.some, _): result.durations.inner = LiveResult.shortWork
      case .none, .window, .total, .totals, .inner(nil, _), .refetch:
        result.durations.fetch = LiveResult.shortWork
      }
      return false
    } catch is ResultMeter.NeedsRoom {
      result.forgetIndex()
      return false
    } catch {
      try failWithinTransaction(result, with: error, in: transaction.db)
    }
    return true
  }

  /// Shows the next state of a live result, which is that of a commit.
  ///
  /// - Parameters:
  ///   - update: the state.
  ///   - result: whose it is.
  ///   - number: the commit.
  ///   - receivers: who waited for it.
  func show(
    _ update: LiveUpdate, of result: LiveResult, commit number: Int,
    answering receivers: [LiveResult.Receiver]
  ) {
    count(update, of: result)
    live.noteSuccess(of: result)
    noteSuccess(ofQuery: result)
    if result.opening != nil { return begin(result, with: update, commit: number) }
    followRows(of: result, update.query, update.ranAlongside + update.ranTotals)
    if let areKnown = update.areGroupsKnown {
      noteGroups(areKnown: areKnown, of: result, update.query)
    }
    result.hasWaitedForRows = false
    if let rows = result.listener as? FollowedRows {
      note(update, ofRows: rows, commit: number)
    }
    let old = result.snapshot
    let new = update.snapshot(after: old, commit: number, key: versionKey)
    let hasRecovered = result.succeed(with: new, values: update.values)
    if let index = update.index { result.index = index }
    switch update.succession(to: old) {
    case .change: pending.append((result, .changed(update.changes, from: old, to: new)))
    case .reset: pending.append((result, .reset(new)))
    case .same:
      if hasRecovered { pending.append((result, .recovered)) }
      if new.total != old.total { pending.append((result, .counted(new))) }
    }
    answer(receivers, with: .success(new))
  }

  /// Shows the first state of a live result to who waits for it.
  private func begin(_ result: LiveResult, with update: LiveUpdate, commit number: Int) {
    guard let opening = result.opening else { return }
    var number = number
    if let cached = update.cached, cached.commit >= commit {
      // Commits are numbers of one life; for who has seen the earlier one they should not go back. What
      // is of an earlier commit than the present must not be told as of a later one, though.
      let isPresent = number == commit
      commit = cached.commit + 1
      if isPresent { number = commit }
    }
    let first = max(ResultsVersion.firstNumber, (update.cached?.number ?? 0) + 1)
    let snapshot = update.snapshot(first, commit: number, key: versionKey)
    result.resumed = update.cached.map { ($0, update.changes) }
    result.opening = nil
    unopened[ObjectIdentifier(opening)] = nil
    _ = result.succeed(with: snapshot, values: update.values)
    (result.index, result.hasWaitedForRows) = (update.index, false)
    followRows(ofFirst: result)
    answers.append { opening.completion(.success(result)) }
  }

  private func count(_ update: LiveUpdate, of result: LiveResult) {
    if !update.query.alongside.isEmpty {
      count {
        $0.ranAlongside += update.ranAlongside.count
        $0.knownAlongside += update.knownAlongside
      }
    }
    guard let reasons = update.refetchReasons else {
      count {
        $0.maintained += 1
        $0.queries[result.queryName, default: QueryRefreshes()].maintained += 1
      }
      return log(.refreshed(query: result.queryName, .incremental, update.duration))
    }
    // A first fetch is none that runs again.
    if result.opening != nil { return }
    count {
      $0.refetches += 1
      $0.rowsFetched += update.results.count
      $0.queries[result.queryName, default: QueryRefreshes()].count(reasons)
    }
    log(.refreshed(query: result.queryName, .refetch, update.duration))
  }

  /// Fails a live result by an error that the transaction goes on after.
  ///
  /// - Throws: the error, if it does not.
  func failWithinTransaction(
    _ result: LiveResult, with error: any Error, in db: Database
  ) throws {
    fail(result, with: FetchFailure(any: error), answering: result.takeReceivers())
    try db.rethrowIfTransactionEnded(by: error)
  }

  /// A live result that fails keeps its last good state, until something else changes.
  func fail(
    _ result: LiveResult, with failure: FetchFailure, answering receivers: [LiveResult.Receiver]
  ) {
    note(failure, ofQuery: result)
    if let opening = result.opening {
      drop(result)
      answers.append { opening.completion(.failure(failure)) }
      return
    }
    if result.background == nil { result.forgetIndex() }
    if let rows = result.listener as? FollowedRows {
      if failure.kind == .noMemory { return rest(rows, result) }
      release(rows)
    }
    live.noteFailure(of: result)
    if failure.mayPass { retryLater(result, after: failure) }
    result.isToldDelayed = false
    count {
      $0.failures += 1
      $0.queries[result.queryName, default: QueryRefreshes()].failures += 1
    }
    if result.fail(with: failure) {
      pending.append((result, .failed(failure)))
    } else if result.isWaitedFor {
      pending.append((result, .landed(isCurrent: true)))
    }
    answer(receivers, with: .failure(failure))
    callAwaiting(result)
  }

  /// Tries again what may succeed though nothing is committed, each time in vain after a wait twice as long.
  private func retryLater(_ result: LiveResult, after failure: FetchFailure) {
    let first = failure.kind == .tooLong ? limits.statement * 3 : .seconds(1)
    let pause = min(result.retry.map { $0.pause * 2 } ?? first, first * 64)
    let time = ContinuousClock.now + pause
    result.retry = (time, pause)
    access.async(after: .milliseconds(Int(min(pause / .milliseconds(1), 1e9)))) { [self] in
      guard !isStopped, live.contains(result), result.retry?.time == time,
        result.failure?.mayPass == true, result.background == nil
      else { return }
      refetch(result, because: "failure")
      announce()
      serveSoon()
    }
  }

  func answer(
    _ receivers: [LiveResult.Receiver], with answer: Result<ResultsSnapshot, FetchFailure>
  ) {
    if receivers.isEmpty { return }
    answers.append { for receiver in receivers { receiver(answer) } }
  }
}
