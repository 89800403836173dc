import GRDB

/// The watcher's own read-only connection, used for nothing but looking for commits.
///
/// A separate one, so that looks neither wait for the owner's reads nor end up inside them. In
/// write-ahead mode its presence keeps the log's files from being deleted when the last writer
/// leaves, and keeps the database in that mode.
struct WatchConnection {
  let identity: FileIdentity
  private let connection: DatabaseQueue
  private var detector = CommitDetector()

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

  /// Whether anything was committed since the look before.
  mutating func look() -> CommitDetector.Answer {
    connection.unsafeRead { detector.look($0) }
  }

  /// nil: it cannot be told now.
  func journalMode() -> JournalMode? {
    try? connection.unsafeRead { try JournalMode(of: $0) }
  }

  func close() {
    // No statement is ever left open, so SQLite has no reason to refuse; and if it did, the
    // connection would still be closed when it is released.
    try? connection.close()
  }
}
