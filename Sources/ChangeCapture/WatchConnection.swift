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
struct WatchConnection {
  let identity: FileIdentity
  private let connection: DatabaseQueue
  private var detector = CommitDetector()
  // Kept and read outside of the connection's queue, and good until it closes: nobody else has the
  // connection, and as long as it is open the database stays in write-ahead mode, with the same
  // file handle and the same mapping.
  /// nil: the database is not in write-ahead mode, or was not when it was last asked.
  private var index: WALIndex?
  /// The header at the last look.
  private var header: WALIndexHeader?
  /// The header at the last look that also read the file.
  private var readHeader: WALIndexHeader?

  /// Opens the file at `path`, which was `identity` a moment ago.
  ///
  /// - throws: whatever GRDB throws; `SQLITE_BUSY` while a writer has a rollback-mode file locked.
  init(path: String, identity: FileIdentity) throws {
    self.identity = identity
    connection = try DatabaseQueue(path: path, configuration: Self.configuration)
    // Commits count from here on.
    if case .unreadable(let code, let message) = look() {
      throw DatabaseError(resultCode: code, message: message)
    }
  }

  private static var configuration: Configuration {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.label = "didchange.watch"
    // The watcher looks again by itself; waiting inside SQLite would only make it deaf.
    configuration.busyMode = .immediateError
    configuration.prepareDatabase { db in
      // A memory map is dropped and faulted in again after each foreign commit: 14 µs instead of 6.
      try db.execute(
        sql: "PRAGMA mmap_size = 0; PRAGMA query_only = 1; PRAGMA trusted_schema = 0")
    }
    return configuration
  }

  /// Whether anything was committed since the look before; with `readsFile` also whether the file
  /// can be read, which the wal-index does not tell.
  mutating func look(readsFile: Bool = true) -> CommitDetector.Answer {
    // Before the statement: what is committed after this has another header at the next look.
    let found = wholeHeader()
    guard let found, !readsFile else { return lookByStatement(found) }
    defer { header = found }
    return found == header ? .unchanged : .changed
  }

  /// The same by a statement, before which the header was `found`.
  private mutating func lookByStatement(_ found: WALIndexHeader?) -> CommitDetector.Answer {
    let answer = connection.unsafeRead { detector.look($0) }
    guard answer == .changed || answer == .unchanged else { return answer }
    let isSameAsRead = found != nil && found == readHeader
    readHeader = found
    guard let found else { return answer }
    defer { header = found }
    // What the statement calls a change the header has told, unless it is as it was at the last
    // statement: after a recovery an empty log may have the header of another.
    return found != header || answer == .changed && isSameAsRead ? .changed : .unchanged
  }

  /// The header now; nil: there is none, or it is not one that can be relied on.
  private mutating func wholeHeader() -> WALIndexHeader? {
    guard index != nil else { return nil }
    do {
      // A writer takes some nanoseconds to write it.
      for _ in 0..<20 {
        if let found = try index?.header() { return found }
      }
    } catch {
      // There is no shared memory to be had: the statement tells.
    }
    return nil
  }

  /// nil: it cannot be told now.
  mutating func journalMode() -> JournalMode? {
    guard let mode = try? connection.unsafeRead({ try JournalMode(of: $0) }) else { return nil }
    if mode == .writeAheadLog, index == nil { followIndex() }
    return mode
  }

  /// From here on the header of the wal-index tells.
  private mutating func followIndex() {
    index = try? connection.unsafeRead { db in
      try db.sqliteConnection.map { WALIndex(try DatabaseFiles(of: $0)) }
    }
    header = wholeHeader()
    readHeader = nil
    // What was committed since the look before, the next one is to tell.
    if connection.unsafeRead({ detector.look($0) }) != .unchanged { header = nil }
  }

  mutating func close() {
    (index, header, readHeader) = (nil, nil, nil)
    // No statement is ever left open, so SQLite has no reason to refuse; and if it did, the
    // connection would still be closed when it is released.
    try? connection.close()
  }
}
