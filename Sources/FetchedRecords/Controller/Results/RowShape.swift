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
            columns.next()?.bind(to: statement.sqliteStatement, at: Int32(index + 1))
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

extension ColumnView {
  /// Binds the column where it stands: the bytes must outlive the binding.
  fileprivate func bind(to statement: SQLiteStatement, at index: Int32) {
    switch self {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
    case .real(let real): sqlite3_bind_double(statement, index, real)
    case .text(let bytes):
      sqlite3_bind_text(
        statement, index, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), nil)
    case .blob(let bytes):
      // A null pointer would bind NULL instead of the empty blob.
      if bytes.isEmpty {
        sqlite3_bind_zeroblob(statement, index, 0)
      } else {
        sqlite3_bind_blob(statement, index, bytes.baseAddress, Int32(bytes.count), nil)
      }
    }
  }
}
