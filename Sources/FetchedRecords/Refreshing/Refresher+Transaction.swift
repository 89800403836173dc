import ChangeCapture
import Dispatch
import GRDB
import OrderedResults

// Reading: every read transaction first catches up with what was committed before it began.
extension Refresher {
  /// Runs `body` as ``attempt(_:)`` does, for somebody who waits for the answer.
  ///
  /// While the database is known to be locked, by a writer or by the journal of one that was killed,
  /// it fails at once: whoever asks would else wait, and
  /// everybody who asks after them would wait for their turn as well.
  func answer<T>(_ body: (Database) throws -> T) -> Result<T, FetchFailure> {
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
  ///   - observing: whether ``stateBefore`` is wanted.
  ///   - body: the rest of the transaction.
  /// - Returns: what `body` returned, or why it could not run.
  func attempt<T>(
    observing: Bool = false, _ body: (Database) throws -> T
  ) -> Result<T, FetchFailure> {
    do {
      return .success(try transaction(observing: observing, body))
    } catch {
      return .failure(FetchFailure(any: error))
    }
  }

  func transaction<T>(observing: Bool = false, _ body: (Database) throws -> T) throws -> T {
    dispatchPrecondition(condition: .onQueue(queue))
    defer { announce() }
    do {
      let timeout =
        failure?.kind == .busy ? ReadOnlyConnection.retryTimeout : ReadOnlyConnection.busyTimeout
      let result = try connected().inDatabase { db in
        db.waitForLocks(atMost: timeout)
        stateBefore = observing ? LogState(in: db) : nil
        return try db.readTransaction {
          try catchUp(in: db)
          return try body(db)
        }
      }
      if connectedFiles?.log == nil, connection?.unsafeRead(\.hasOpenLog) == true {
        // It went over to a log of which it is not known whether it still stands there.
        disconnect()
      }
      isBehind = false
      noteSuccess()
      return result
    } catch let error as DatabaseError {
      throw FetchFailure(error)
    }
  }

  /// Whoever hears of a change must find that the database can be read.
  func noteSuccess() {
    guard failure != nil else { return }
    log(.recovered)
    failure = nil
  }

  private func connected() throws -> DatabaseQueue {
    if let connection { return connection }
    let opened = try DatabaseIdentity.opening(path) {
      try ReadOnlyConnection.open(path: path, guardedBy: statementGuard)
    }
    connectedFiles = opened.identity
    guard isConnectedAsWatched else {
      throw DatabaseError(resultCode: .SQLITE_BUSY, message: "the files are being replaced")
    }
    connection = opened.connection
    return opened.connection
  }

  /// Whether the watcher has the same files open, so that it would notice if others came.
  var isConnectedAsWatched: Bool {
    guard let connectedFiles, let watched = watcher?.status.identity else { return true }
    return connectedFiles == watched
  }

  /// Closes the connection; the next transaction opens the files anew.
  func disconnect() {
    stopReaders()
    try? connection?.close()
    connection = nil
    connectedFiles = nil
    source = nil
    schemaNumber = nil
  }

  /// Brings every live result up to the commit that this transaction sees.
  private func catchUp(in db: Database) throws {
    let start = ContinuousClock.now
    let source = changeSource()
    let changes = try source.changes(in: db)
    defer { capture = source.statistics }
    if changes.isNothing {
      // Nothing was missed, but some were told of a failure that is over now.
      if failure != nil {
        refetchFailed()
        try serve(in: db)
      }
      return
    }
    let schema = try db.schemaNumber()
    commit += 1
    lastChanges.note(changes, at: commit)
    if schema != schemaNumber {
      lastChanges.noteEverything(at: commit)
      db.clearSchemaCache()
      try catalog.analyze(in: db)
      live.analyze { name in Result { () throws(FetchFailure) in try self.query(named: name) } }
      for result in live.all {
        result.mustRefetch = "schema"
        postpone(result, changes)
      }
    } else {
      // What failed before was not brought up to date then, whatever changed now.
      refetchFailed()
      bringUpToDate(changes, in: db)
    }
    // Whoever has something to be told does not wait for what may take longer.
    if pending.isEmpty || failure != nil { try serve(in: db) }
    try followTables(in: db)
    schemaNumber = schema
    // Kept only when all has succeeded, so that a failure forgets no change.
    source.keep()
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
    for (live, event) in announcements { live.onEvent(event) }
    if !answers.isEmpty {
      let answers = answers
      self.answers = []
      for answer in answers { answer() }
    }
    serveSoon()
  }

  /// Whether the connection, within its transaction, sees what it saw before it.
  func isAt(_ state: LogState, in db: Database) -> Bool { LogState(in: db) == state }
}
