import ChangeCapture
import Dispatch
import GRDB
import HeldMemory
import OrderedResults

// Reading: every read transaction first catches up with what was committed before it began.
extension Refresher {
  /// Runs `body` as ``attempt(_:)`` does, for somebody who waits for the answer.
  ///
  /// While the database is known to be locked, by a writer or by the journal of one that was killed,
  /// it fails at once: whoever asks would else wait, and
  /// everybody who asks after them would wait for their turn as well.
  func answer<T>(_ body: (ReadTransaction) throws -> T) -> Result<T, FetchFailure> {
    if let failure, failure.leavesLastResult { return .failure(failure) }
    let result = attempt(body)
    if case .failure(let failure) = result, failure.leavesLastResult {
      note(failure)
      scheduleRetry()
    }
    return result
  }

  /// Runs `body` in a read transaction in which all live results are up to date, and tells what
  /// changed once the transaction is over.
  ///
  /// - Parameters:
  ///   - notesLog: whether the transaction is to know the state of the log before it began.
  ///   - body: the rest of the transaction.
  /// - Returns: what `body` returned, or why it could not run.
  func attempt<T>(
    notesLog: Bool = true, _ body: (ReadTransaction) throws -> T
  ) -> Result<T, FetchFailure> {
    do {
      return .success(try transaction(notesLog: notesLog, body))
    } catch {
      return .failure(FetchFailure(any: error))
    }
  }

  func transaction<T>(
    notesLog: Bool = true, _ body: (ReadTransaction) throws -> T
  ) throws -> T {
    access.preconditionInTurn()
    defer { announce() }
    do {
      let result = try access.read(isLocked: failure?.kind == .busy) { db in
        try checkNotInTransaction(db)
        let transaction = ReadTransaction(
          db: db, state: notesLog ? LogState(in: db) : nil, path: path)
        return try db.readTransaction {
          try catchUp(in: transaction)
          return try body(transaction)
        }
      }
      if access.isOutdated { disconnect() }
      isBehind = false
      noteSuccess()
      noteUnused(forCommit: true)
      readAheadSoon()
      serveSoon()
      return result
    } catch {
      let failure = FetchFailure(any: error)
      withdrawRecoveries(because: self.failure ?? failure)
      throw error is DatabaseError ? failure : error
    }
  }

  /// Nobody is told that a failure is over by a transaction that fails as well.
  private func withdrawRecoveries(because failure: FetchFailure) {
    pending.removeAll { result, event in
      guard case .recovered = event else { return false }
      live.noteFailure(of: result)
      _ = result.fail(with: failure)
      return true
    }
  }

  /// Whoever hears of a change must find that the database can be read.
  func noteSuccess() {
    guard failure != nil else { return }
    (failure, retries) = (nil, 0)
    log(.recovered)
  }

  private func checkNotInTransaction(_ db: Database) throws {
    guard db.isInsideTransaction else { return }
    throw FetchedRecordsError(
      kind: .transaction,
      message: """
        records cannot be fetched inside a transaction, whose changes may still be rolled back: \
        fetch before or after it
        """)
  }

  /// Closes the connection; the next transaction opens the files anew.
  func disconnect() {
    stopReaders()
    access.disconnect()
    finder = nil
    (outlines, outlinesToRead) = ([], [])
    schemaNumber = nil
    goOnWithOutlines()
  }

  /// Brings every live result up to the commit that this transaction sees.
  private func catchUp(in transaction: ReadTransaction) throws {
    let start = ContinuousClock.now
    let db = transaction.db
    let finder = changeFinder()
    var changes = try finder.changes(in: db)
    defer { capture = finder.statistics }
    if isEverythingNew { changes = .everything([]) }
    if changes.isNothing {
      // Nothing was missed, but some were told of a failure that is over now.
      if failure != nil {
        refetchFailed()
        try serve(in: transaction)
      }
      return
    }
    let schema = try db.schemaNumber()
    commit += 1
    lastChanges.note(changes, at: commit)
    // What failed before was not brought up to date then, whatever changed now.
    refetchFailed()
    if schema != schemaNumber {
      lastChanges.noteEverything(at: commit)
      try learnSchema(changes, in: db)
    }
    for index in live.searchIndexes { try changes.findDocuments(of: index, in: db) }
    try bringUpToDate(changes, in: transaction)
    // Whoever has something to be told does not wait for what may take longer.
    if line.hasShort, pending.isEmpty || failure != nil || !worksBeside {
      try serve(in: transaction)
    }
    try followTables(in: db)
    schemaNumber = schema
    // Kept only when all has succeeded, so that a failure forgets no change.
    finder.keep()
    isEverythingNew = false
    let duration = ContinuousClock.now - start
    count {
      $0.refreshes += 1
      $0.duration += duration
    }
  }

  private func refetchFailed() {
    for result in live.allFailed where result.background == nil {
      refetch(result, because: "failure")
    }
  }

  /// Tells what is pending.
  func announce() {
    let announcements = pending
    pending = []
    if announcements.count > 1 {
      for (live, event) in announcements where live.listener.hearsFirst {
        live.listener.receive(event, &sleepers)
      }
    }
    for (live, event) in announcements where announcements.count == 1 || !live.listener.hearsFirst {
      live.listener.receive(event, &sleepers)
    }
    if !leavesSleepers { sleepers.take().wake() }
    if !answers.isEmpty {
      let answers = answers
      self.answers = []
      for answer in answers { answer() }
    }
    // What is kept row by row grows without asking.
    if !memory.hasRoom() { memory.makeRoomSoon() }
  }
}
