import GRDB

// The net under the notifications, and the identity of the files.
extension WatcherCore {
  func poll() {
    if directory?.isWatching == false { followDirectory() }
    checkFiles(reportsLoss: true)
    guard news.event == nil, let files = connection?.status else { return }
    let before = connection?.cause()
    if isWorthALook(files.database) {
      guard pollLook() else { return }
    } else if lock != nil {
      return
    }
    let isDatabaseLast = directory?.isDatabaseLast == true
    if connection?.isOutdated(
      files, before: before, isDatabaseLast: isDatabaseLast, at: .now) == true
    {
      openAnew(reportsLoss: true)
    }
  }

  /// - Returns: whether the look had an answer.
  private func pollLook() -> Bool {
    switch look(readsFile: true) {
    case .changed:
      // With a search under way the notification came, and the poll was merely first.
      if !looks.isRunning { status.statistics.commitsFoundByPoll += 1 }
      confirm()
      return true
    case .unchanged: return true
    case .unreadable(let code, let message):
      // Where nobody has a damaged log open, the next who opens it makes it usable again.
      closeConnection()
      report(DatabaseError(resultCode: code, message: message))
    case .busy, .hotJournal: reportLock()
    }
    return false
  }

  private func reportLock() {
    guard let lock, !lock.isReported, ContinuousClock.now - lock.start >= lock.patience
    else { return }
    self.lock?.isReported = true
    news.locked()
  }

  /// Spares writers of a rollback-mode file that shows no sign of a write.
  ///
  /// There a look takes a shared lock for some microseconds, and a writer without a busy timeout
  /// that wants to commit just then fails. Once a second the poll looks in spite of that. A hot
  /// journal has no writer, and its end need not show in the file.
  private func isWorthALook(_ file: FileStatus) -> Bool {
    guard connection?.journalMode == .rollbackJournal, lock?.isHotJournal != true else {
      return true
    }
    let now = ContinuousClock.now
    if let lastPoll, lastPoll.status == file, now - lastPoll.time < .seconds(1) { return false }
    lastPoll = (file, now)
    return true
  }

  /// Sees to it that the connection is to the files that stand at the path.
  ///
  /// A file that is gone or cannot be read is only reported by the poll: while one is being
  /// replaced or copied over, both are true for a moment.
  func checkFiles(reportsLoss: Bool) {
    if let connection {
      if let found = connection.status, connection.isOpen(on: found) { return }
      openAnew(reportsLoss: reportsLoss)
    } else {
      reopen(reportsLoss: reportsLoss)
    }
  }

  /// Opens the files that have taken the place of others.
  private func openAnew(reportsLoss: Bool) {
    closeConnection()
    let now = ContinuousClock.now
    let delay = reopenings.delay(for: FileStatus(path: path), at: now)
    if delay > .zero { nextOpening = now + delay }
    reopen(reportsLoss: reportsLoss)
  }

  /// Opens the database anew, which is not open.
  ///
  /// All connections of this process must be closed before: SQLite keeps one mapping of the index
  /// for all that are to the same file, and would hand out the old one.
  private func reopen(reportsLoss: Bool) {
    followDirectory()
    guard FileStatus(path: path) != nil else {
      letGo()
      nextOpening = nil
      if reportsLoss { reportLoss() }
      return
    }
    if let nextOpening, nextOpening > .now { return }
    letGo()
    do {
      status.statistics.looks += 1
      connection = try WatchConnection(path: path)
      (nextOpening, lock) = (nil, nil)
      status.statistics.reopenings += 1
      news.opened()
    } catch {
      if reportsLoss { report(error) }
    }
  }

  /// Says that nothing is at the path, or what is in the way of it.
  private func reportLoss() {
    guard let obstacle = OperatingSystem.obstacle(to: path) else { return news.removed() }
    let error = DatabaseError(resultCode: .SQLITE_CANTOPEN, message: obstacle)
    news.unreadable(DatabaseAccessError(error, path: path))
  }

  func openAtStart() throws(DatabaseAccessError) {
    do {
      connection = try WatchConnection(path: path)
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

  private func closeConnection() {
    connection?.close()
    connection = nil
    isUnreadable = false
    lock = nil
    lastPoll = nil
    looks.stop()
    nextLook = nil
  }

  /// Says why there is no connection. It is tried again less often than the poll comes: each attempt
  /// may keep others from mending what is wrong for its length.
  private func report(_ error: any Error) {
    if let error = error as? DatabaseError, error.resultCode == .SQLITE_BUSY {
      if lock == nil { lock = Lock(isHotJournal: false) }
      return reportLock()
    }
    nextOpening = ContinuousClock.now + settings.pollInterval * 4
    news.unreadable(DatabaseAccessError(error, path: path))
  }
}
