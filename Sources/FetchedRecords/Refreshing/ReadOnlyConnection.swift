import ChangeCapture
import GRDB
import GRDBSQLite

/// The connection that a refresher reads with: it can change nothing in the database.
enum ReadOnlyConnection {
  /// How long a read waits for a writer's lock. In WAL mode readers do not wait at all.
  static let busyTimeout = Duration.seconds(1)
  /// The same where the lock is known to last: long enough to get in between two commits, and short,
  /// because everything else waits meanwhile.
  static let retryTimeout = Duration.milliseconds(100)

  /// - Parameters:
  ///   - path: the database file.
  ///   - limits: what a query may take.
  ///   - statementGuard: what may end its statements early.
  /// - Returns: the connection.
  /// - Throws: `DatabaseError`.
  static func open(
    path: String, _ limits: RefresherLimits, guardedBy statementGuard: StatementGuard
  ) throws -> DatabaseQueue {
    var configuration = Configuration.readOnly(label: "didchange.read") { db in
      statementGuard.watch(db)
      db.limitValues(toBytes: limits.valueBytes)
    }
    configuration.busyMode = .timeout(busyTimeout / .seconds(1))
    // The refresher begins and ends its transactions itself.
    configuration.allowsUnsafeTransactions = true
    return try DatabaseQueue(path: path, configuration: configuration)
  }
}

extension Database {
  /// How long statements from now on wait for a lock: https://www.sqlite.org/c3ref/busy_timeout.html
  func waitForLocks(atMost duration: Duration) {
    sqlite3_busy_timeout(sqliteConnection, Int32(duration / .milliseconds(1)))
  }

  /// Throws an error again that has ended the transaction, as some do: what is read after it would be of
  /// another commit. https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction
  func rethrowIfTransactionEnded(by error: any Error) throws {
    if !isInsideTransaction { throw error }
  }

  /// Runs `body` in one read transaction, so that all of it sees one commit.
  func readTransaction<T>(_ body: () throws -> T) throws -> T {
    do {
      try run("BEGIN DEFERRED")
      let result = try body()
      guard isInsideTransaction else { throw FetchFailure.transactionEnded }
      try run("COMMIT")
      return result
    } catch {
      endRead()
      throw error
    }
  }

  /// Begins a read transaction, and takes its snapshot: ``endRead()`` must follow, unless it throws.
  ///
  /// A statement that is interrupted at its end has done what it was to do: a transaction may be there
  /// though BEGIN has failed.
  func beginRead() throws {
    do {
      try run("BEGIN DEFERRED")
      _ = try schemaNumber()
    } catch {
      endRead()
      throw error
    }
  }

  /// Ends the transaction, if there is one.
  func endRead() {
    // Some errors end it by themselves: https://www.sqlite.org/lang_transaction.html
    if isInsideTransaction { try? execute(sql: "ROLLBACK") }
  }

  /// The largest text or BLOB that statements make from now on:
  /// https://www.sqlite.org/c3ref/limit.html
  func limitValues(toBytes bytes: Int) {
    _ = sqlite3_limit(sqliteConnection, SQLITE_LIMIT_LENGTH, Int32(clamping: bytes))
  }

  /// A number that every change of the schema changes:
  /// https://www.sqlite.org/pragma.html#pragma_schema_version
  func schemaNumber() throws -> Int64 {
    let statement = try cachedStatement(sql: "PRAGMA schema_version")
    defer { sqlite3_reset(statement.sqliteStatement) }
    return try statement.step(in: self) ? sqlite3_column_int64(statement.sqliteStatement, 0) : 0
  }

  /// Runs a statement that returns nothing, and keeps it prepared.
  private func run(_ sql: String) throws {
    let statement = try cachedStatement(sql: sql)
    defer { sqlite3_reset(statement.sqliteStatement) }
    _ = try statement.step(in: self)
  }
}
