package import GRDB

/// Which files a database is made of: in write-ahead mode there are three.
///
/// SQLite opens the log and its index by their names, once. When one of them is removed, moved or
/// replaced, connections that have it open go on with the old one, and whoever opens the database
/// anew gets another: the two neither see each other's commits nor their locks
/// (https://www.sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use).
package struct DatabaseIdentity: Sendable, Equatable {
  package var database: FileIdentity
  /// The write-ahead log; nil: there is none.
  package var log: FileIdentity?
  /// The log's index; nil: there is none.
  package var index: FileIdentity?

  /// The files that stand at a path now; nil: no database does.
  ///
  /// Three calls of `stat`, and those that resolve the path.
  package init?(path: String) {
    guard let location = DatabaseLocation(resolving: path),
      let status = DatabaseStatus(path: path, location: location)
    else { return nil }
    self = status.identity
  }

  /// Opens a database so that it is known which files the connection has: an open file keeps its
  /// number, so what stands at the path before and after is what was opened.
  ///
  /// - Parameters:
  ///   - path: the database file.
  ///   - open: makes a read-only connection. GRDB reads the schema in this, which opens a log.
  /// - Returns: what `open` returned, and the files.
  /// - Throws: what `open` throws; `SQLITE_CANTOPEN` where there is no regular file, `SQLITE_BUSY` where one
  ///   was replaced meanwhile, `SQLITE_CORRUPT` where to open it would delete its log.
  package static func opening(
    _ path: String, _ open: () throws -> DatabaseQueue
  ) throws -> (connection: DatabaseQueue, identity: DatabaseIdentity) {
    guard let location = DatabaseLocation(resolving: path),
      let before = DatabaseStatus(path: path, location: location)
    else {
      throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "unable to open database file")
    }
    guard before.isOfFiles else {
      throw DatabaseError(
        resultCode: .SQLITE_CANTOPEN,
        message: "a folder, a pipe or a device is there in the place of a file")
    }
    guard !before.wouldLoseLog else {
      throw DatabaseError(
        resultCode: .SQLITE_CORRUPT,
        message: "the database file is empty, but there is a write-ahead log beside it")
    }
    let connection = try open()
    guard let after = DatabaseStatus(path: path, location: location)?.identity,
      after.follows(before.identity),
      after.log != nil && after.index != nil || !connection.unsafeRead(\.hasOpenLog)
    else {
      try? connection.close()
      throw DatabaseError(resultCode: .SQLITE_BUSY, message: "the files are being replaced")
    }
    return (connection, after)
  }

  init(_ status: DatabaseStatus) {
    database = status.database.identity
    log = status.log?.identity
    index = status.index?.identity
  }

  /// Whether these can be the files that stood there before, with what opening them made.
  private func follows(_ earlier: DatabaseIdentity) -> Bool {
    database == earlier.database && (earlier.log == nil || log == earlier.log)
      && (earlier.index == nil || index == earlier.index)
  }
}

extension Database {
  /// Whether this connection, which only reads, has a write-ahead log open: it has no other journal.
  package var hasOpenLog: Bool {
    sqliteConnection.flatMap { try? DatabaseFiles(of: $0) }?.hasJournal ?? false
  }
}

/// What the system says of a database's files.
struct DatabaseStatus: Equatable {
  var database: FileStatus
  var log: FileStatus?
  var index: FileStatus?

  /// - Parameters:
  ///   - path: the database file, or a symbolic link to it.
  ///   - location: where that was when the path was last resolved; the names of the others follow
  ///     from it.
  init?(path: String, location: DatabaseLocation) {
    guard let database = FileStatus(path: path) else { return nil }
    self.database = database
    log = FileStatus(path: location.path + "-wal")
    index = FileStatus(path: location.path + "-shm")
  }

  var identity: DatabaseIdentity { DatabaseIdentity(self) }

  /// Whether all that is there can be opened: to open a pipe waits for who writes it, for ever.
  var isOfFiles: Bool { [database, log, index].allSatisfy { $0?.isRegular ?? true } }

  /// Whether opening the database would delete its log: SQLite takes a log beside an empty file for
  /// a leftover, and even a read-only connection removes it (`pagerOpenWalIfPresent` in pager.c).
  /// While a file is being copied to the path, it is empty for a moment.
  var wouldLoseLog: Bool { database.size == 0 && (log?.size ?? 0) > 0 }

  /// Whether the index has lost memory that connections have mapped: to touch it is the end of the
  /// process (SIGBUS).
  var hasCutIndex: Bool { index.map { $0.size < Int64(WALIndex.regionSize) } ?? false }
}
