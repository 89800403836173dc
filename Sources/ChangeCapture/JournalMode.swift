package import GRDB

/// How a database's writers make their transactions atomic.
package enum JournalMode: String, Sendable {
  /// https://www.sqlite.org/wal.html: readers never wait for writers.
  case writeAheadLog
  /// https://www.sqlite.org/lockingv3.html: a reader and a committing writer exclude each other.
  case rollbackJournal

  /// Reads the mode that the database file is in now.
  ///
  /// Without an argument the pragma only asks. Only `wal` is a property of the file; which of the
  /// rollback modes another process uses cannot be known, so they are one here
  /// (https://www.sqlite.org/pragma.html#pragma_journal_mode).
  package init(of db: Database) throws {
    let name = try String.fetchOne(db, sql: "PRAGMA journal_mode")
    self = name == "wal" ? .writeAheadLog : .rollbackJournal
  }
}
