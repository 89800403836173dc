import GRDB

/// The watcher's own read-only connection, used for nothing but looking for commits.
///
/// A separate one, so that looks neither wait for the owner's reads nor end up inside them. In
/// write-ahead mode its presence keeps the log's files from being deleted when the last writer
/// leaves, and keeps the database in that mode.
///
/// There the header of the wal-index, which is shared memory, names the last commit: to compare it
/// takes no lock of a file and no call of the system, where ``CommitDetector`` takes several and
/// 5–8 µs.
///
/// A reference: it is asked several times for each commit, and a copy would take as long as an answer.
final class WatchConnection {
  /// The files that stood at the path when the connection was opened.
  let identity: DatabaseIdentity
  private let location: DatabaseLocation
  private let path: String
  private let connection: DatabaseQueue
  private var detector = CommitDetector()
  private var writes = UnexplainedWrites()
  /// nil: the connection has no log open. Once it has one, it stays with it.
  private var log: Log?

  /// Opens the database at a path.
  ///
  /// - throws: whatever GRDB throws, and as ``DatabaseIdentity/opening(_:_:)``; `SQLITE_BUSY` while a
  ///   writer has a rollback-mode file locked.
  init(path: String) throws {
    guard let location = DatabaseLocation(resolving: path) else {
      throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "unable to open database file")
    }
    (self.path, self.location) = (path, location)
    let file = FileStatus(path: path)
    (connection, identity) = try DatabaseIdentity.opening(path) {
      try DatabaseQueue(path: path, configuration: Self.configuration)
    }
    // Commits count from here on.
    if case .unreadable(let code, let message) = look() {
      close()
      throw DatabaseError(resultCode: code, message: message)
    }
    // As it was before anything was read of it: a copy may be under way, and have come to nothing yet
    // that counts.
    if let file {
      _ = writes.note(file, cause() ?? .changes(0), isSettled: true, at: .now)
      log?.trust(file)
    }
  }

  private static var configuration: Configuration {
    var configuration = Configuration.readOnly(label: "didchange.watch") { db in
      // A memory map is dropped and faulted in again after each foreign commit: 14 µs instead of 6.
      try db.execute(sql: "PRAGMA mmap_size = 0")
    }
    // The watcher looks again by itself; waiting inside SQLite would only make it deaf.
    configuration.busyMode = .immediateError
    return configuration
  }

  /// The mode that the database was in at the last look; nil: no look had an answer.
  var journalMode: JournalMode? {
    log != nil ? .writeAheadLog : detector.hasLooked ? .rollbackJournal : nil
  }

  /// Whether anything was committed since the look before; with `readsFile` also whether the file
  /// can be read, which the wal-index does not tell.
  func look(readsFile: Bool = true) -> CommitDetector.Answer {
    // Before the statement: what is committed after this has another header at the next look.
    let found = log?.header()
    if let found, !readsFile { return log?.compare(found) ?? .unchanged }
    return lookByStatement(found)
  }

  /// Whether the next look finds a commit; false also where only a statement tells.
  var hasUnseenCommit: Bool { log?.hasUnseenCommit() ?? false }

  /// The same by a statement, before which the header was `found`.
  private func lookByStatement(_ found: WALIndexHeader?) -> CommitDetector.Answer {
    let answer = connection.unsafeRead { detector.look($0) }
    guard answer == .changed || answer == .unchanged else { return answer }
    guard log != nil else {
      followLog()
      return answer
    }
    return log?.compare(found, statement: answer) ?? answer
  }

  /// From here on the header of the wal-index tells, where SQLite has opened a log.
  ///
  /// It does so where the file is marked for one, and also where one merely lies beside it: the mark
  /// alone tells nothing. A read-only connection has no other journal open.
  private func followLog() {
    let files = connection.unsafeRead { db in
      db.sqliteConnection.flatMap { try? DatabaseFiles(of: $0) }
    }
    guard let files, files.hasJournal else { return }
    log = Log(files)
    // What was committed since the look before, the next one is to tell.
    if connection.unsafeRead({ detector.look($0) }) != .unchanged { log?.forgetHeader() }
  }

  // MARK: - The files

  /// The database's files as they are now; nil: there is none.
  var status: DatabaseStatus? { DatabaseStatus(path: path, location: location) }

  /// Whether the connection has the files open that stand at the path.
  ///
  /// A log that was not there is a reason to open anew as well, though it only comes once, when a
  /// writer goes over to one: else connections of one process might each find another.
  func isOpen(on status: DatabaseStatus) -> Bool {
    guard identity == status.identity else { return false }
    guard let log else { return true }
    return identity.log != nil && !status.hasCutIndex && !log.isLeft(status.log)
  }

  /// What accounts for writes to the database file now; nil: it cannot be told.
  func cause() -> UnexplainedWrites.Cause? {
    log == nil ? changeCounter.map(UnexplainedWrites.Cause.changes) : log?.cause()
  }

  /// nil: the file is too short for one, or cannot be read.
  private var changeCounter: UInt32? {
    let files = connection.unsafeRead { db in
      db.sqliteConnection.flatMap { try? DatabaseFiles(of: $0) }
    }
    return withUnsafeTemporaryAllocation(byteCount: 4, alignment: 4) { bytes in
      // https://www.sqlite.org/fileformat2.html#file_change_counter
      guard (try? files?.read(.database, at: 24, into: bytes)) == true else { return nil }
      return UInt32(bigEndian: bytes.load(as: UInt32.self))
    }
  }

  /// Whether what the connection shows is not what the files hold: the database file was written by
  /// other means than SQLite's, or the log is not the one that its index describes.
  ///
  /// - Parameters:
  ///   - status: the files before the last look, which had an answer.
  ///   - before: the cause before that look.
  ///   - isDatabaseLast: whether notifications say that the log was not written after the file.
  ///   - now: the time.
  /// - Returns: whether the database should be opened anew; once for each state of the files.
  func isOutdated(
    _ status: DatabaseStatus, before: UnexplainedWrites.Cause?, isDatabaseLast: Bool,
    at now: ContinuousClock.Instant
  ) -> Bool {
    if let file = status.log, log?.isForeign(file) == true { return true }
    if log?.isWrittenOver(status.database) == true { return true }
    guard let before, let cause = cause() else { return false }
    // Without a log the look itself has found the cause, whose file is the same before and after.
    let isSettled =
      (log == nil || before == cause) && FileStatus(path: path) == status.database
    let emptied = UnexplainedWrites.Emptying(of: status.log, isLast: !isDatabaseLast)
    return writes.note(status.database, cause, emptied: emptied, isSettled: isSettled, at: now)
  }

  /// The database file before a look that may find its cause of change; nil: in write-ahead mode that
  /// is no commit.
  var fileBeforeLook: FileStatus? {
    log == nil ? FileStatus(path: path) : nil
  }

  /// Notes that a look has found a commit, before which the database file was `before`.
  func settleCommit(_ before: FileStatus?) {
    guard let before, log == nil, let cause = cause(), FileStatus(path: path) == before else {
      return
    }
    writes.settle(before, cause)
  }

  /// Notes what a checkpoint may have written, and where the log begins anew.
  func settleCheckpoint() {
    guard log != nil, let before = cause(), !writes.knows(before),
      let files = status, cause() == before
    else { return }
    // In one step of the clock the poll knows by the notifications, which have come by then.
    writes.settle(
      files.database, before, emptied: UnexplainedWrites.Emptying(of: files.log, isLast: false))
  }

  func close() {
    log = nil
    // No statement is ever left open, so SQLite has no reason to refuse; and if it did, the
    // connection would still be closed when it is released. A read-only connection neither
    // checkpoints nor deletes: that takes an exclusive lock, which it cannot get.
    try? connection.close()
  }
}
