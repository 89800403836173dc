import GRDB

// The net under the notifications, and the file's identity.
extension WatcherCore {
  func poll() {
    if directory?.isWatching == false { followDirectory() }
    checkFile(reportsLoss: true)
    if status.journalMode == nil { refreshJournalMode() }
    guard connection != nil, news.event == nil, isWorthALook() else { return }
    switch look(readsFile: true) {
    case .changed:
      // With a search under way the notification came, and the poll was merely first.
      if !looks.isRunning { status.counters.commitsFoundByPoll += 1 }
      confirm()
    case .unreadable(let code, let message):
      report(DatabaseError(resultCode: code, message: message))
    case .busy: reportLock()
    case .unchanged: break
    }
  }

  /// Longer than any transaction that does not hold others up: SQLite's writers and readers commonly
  /// wait for some seconds.
  private static let lockPatience = Duration.seconds(1)

  private func reportLock() {
    guard let lock, !lock.isReported, ContinuousClock.now - lock.start >= Self.lockPatience
    else { return }
    self.lock?.isReported = true
    news.locked()
  }

  /// Spares writers of a rollback-mode file that shows no sign of a write.
  ///
  /// There a look takes a shared lock for some microseconds, and a writer without a busy timeout
  /// that wants to commit just then fails. Once a second the poll looks in spite of that.
  private func isWorthALook() -> Bool {
    guard status.journalMode == .rollbackJournal,
      let found = SystemCalls.status(ofFile: path)
    else { return true }
    let now = ContinuousClock.now
    if let lastPoll, lastPoll.status == found, now - lastPoll.time < .seconds(1) { return false }
    lastPoll = (found, now)
    return true
  }

  /// Sees to it that the connection is to the file that stands at the path.
  ///
  /// A file that is gone or cannot be read is only reported by the poll: while one is being
  /// replaced or copied over, both are true for a moment.
  func checkFile(reportsLoss: Bool) {
    let found = SystemCalls.status(ofFile: path)?.identity
    if found == connection?.identity, found != nil { return }
    followDirectory()
    closeConnection()
    guard let found else {
      if reportsLoss { news.removed() }
      return
    }
    do {
      try open(found)
      status.counters.reopenings += 1
      news.opened()
    } catch {
      if reportsLoss { report(error) }
    }
  }

  func openAtStart() throws(DatabaseAccessError) {
    do {
      guard let found = SystemCalls.status(ofFile: path)?.identity else {
        throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "unable to open database file")
      }
      try open(found)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      // The poll will try again.
    } catch {
      throw DatabaseAccessError(error, path: path)
    }
  }

  /// Watches the directory that the path leads to now.
  func followDirectory() {
    guard let directory else { return }
    let location = DatabaseLocation(resolving: path)
    if !directory.isWatching || directory.location != location {
      directory.move(to: location)
    }
    status.notificationTrouble = directory.trouble
  }

  private func open(_ identity: FileIdentity) throws {
    var opened = try WatchConnection(path: path, identity: identity)
    // The file may have been replaced between the look at its identity and the opening.
    guard SystemCalls.status(ofFile: path)?.identity == identity else {
      opened.close()
      throw DatabaseError(resultCode: .SQLITE_BUSY, message: "the file is being replaced")
    }
    connection = opened
    status.journalMode = connection?.journalMode()
  }

  private func closeConnection() {
    connection?.close()
    connection = nil
    isUnreadable = false
    lock = nil
    lastPoll = nil
    status.journalMode = nil
    looks.stop()
    nextLook = nil
  }

  private func report(_ error: any Error) {
    if let error = error as? DatabaseError, error.resultCode == .SQLITE_BUSY { return }
    news.unreadable(DatabaseAccessError(error, path: path))
  }
}
