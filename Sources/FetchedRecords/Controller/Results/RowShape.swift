import GRDB
import GRDBSQLite
import OrderedResults
import QueryAnalysis

/// How a request's records become rows of GRDB again.
struct RowShape: Sendable {
  let columns: [String]
  let adapter: (any RowAdapter)?
  private let sql: String

  init(columns: [String], adapter: (any RowAdapter)?) {
    self.columns = columns
    self.adapter = adapter
    sql =
      "SELECT "
      + columns.enumerated().map { "?\($0 + 1) AS \($1.quotedIdentifier)" }.joined(separator: ", ")
  }

  /// The rows of these records, with the request's adapter applied.
  ///
  /// Any thread may ask. O(b), b bytes; some 2 µs a row.
  ///
  /// - Throws: `DatabaseError` where there is no memory left.
  func rows(_ records: some Sequence<OrderedResults.Record>) throws -> [Row] {
    try Self.database.get().inDatabase { db in
      let statement = try db.cachedStatement(sql: sql)
      // GRDB then takes its arguments as given, and they are bound here without a copy.
      statement.setUncheckedArguments(StatementArguments())
      return try records.map { record in
        try record.withColumns { columns in
          sqlite3_reset(statement.sqliteStatement)
          // What is bound points into the record, and nothing reads it once the row is copied.
          defer {
            sqlite3_reset(statement.sqliteStatement)
            sqlite3_clear_bindings(statement.sqliteStatement)
          }
          for index in self.columns.indices {
            columns.next()?.bind(
              to: statement.sqliteStatement, at: Int32(index + 1), copying: false)
          }
          guard let row = try Row.fetchOne(statement, adapter: adapter) else {
            throw DatabaseError(resultCode: .SQLITE_INTERNAL)
          }
          return row
        }
      }
    }
  }

  /// GRDB makes rows from statements only, adapters included; so this database selects what is
  /// bound to it. It holds nothing.
  private static let database = Result { try DatabaseQueue() }
}
