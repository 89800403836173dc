package import GRDB

/// Which state of the database the next read transaction of any connection begins with.
///
/// Two transactions that begin between two equal states see the same commit: in write-ahead mode
/// because the header of the log's index differs for every commit
/// (https://www.sqlite.org/walformat.html#the_wal_index_header), without a log because nobody can
/// commit while one of them holds its shared lock.
package struct LogState: Sendable, Equatable {
  /// nil: the connection has no log open.
  private let header: WALIndexHeader?

  /// Looks through a connection, inside a transaction or outside.
  ///
  /// O(1), some 100 ns: no call of the system.
  ///
  /// - Returns: nil where the state cannot be told, because a writer is just changing it.
  package init?(in db: Database) {
    guard let connection = db.sqliteConnection, let files = try? DatabaseFiles(of: connection)
    else { return nil }
    guard files.hasJournal else {
      header = nil
      return
    }
    var index = WALIndex(files)
    guard let found = try? index.header() else { return nil }
    header = found
  }
}
