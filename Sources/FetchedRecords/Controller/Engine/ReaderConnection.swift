import GRDB

/// The connection that an engine reads a database file with: the writer's configuration, so that
/// its functions, collations and passphrase are there, without the means to write.
enum ReaderConnection {
  static func open(
    path: String, like configuration: Configuration, guardedBy statementGuard: StatementGuard
  ) throws -> DatabaseQueue {
    var configuration = configuration
    configuration.readonly = true
    configuration.label = "FetchedRecordsController"
    // The engine begins and ends its transactions itself.
    configuration.allowsUnsafeTransactions = true
    configuration.journalMode = .default
    if case .immediateError = configuration.busyMode {
      // Without a log a commit of anyone locks the file for a moment, which is no error.
      configuration.busyMode = .timeout(ReadOnlyConnection.busyTimeout / .seconds(1))
    }
    configuration.prepareDatabase { db in
      statementGuard.watch(db)
      try DigestFunction.install(in: db)
    }
    return try DatabaseQueue(path: path, configuration: configuration)
  }
}

/// What file a writer writes to.
struct DatabaseFile {
  /// Empty: the database lives in memory.
  let path: String
  let isWriteAheadLog: Bool

  init(of writer: any DatabaseWriter) throws {
    (path, isWriteAheadLog) = try writer.unsafeReentrantWrite { db in
      // https://www.sqlite.org/pragma.html#pragma_database_list
      let path = try String.fetchOne(
        db, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'")
      let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode")
      return (path ?? "", mode == "wal" && path?.isEmpty == false)
    }
  }
}
