import GRDB
import GRDBSQLite
package import OrderedResults
import QueryAnalysis

/// A value of an alongside statement.
package struct NamedValue: Sendable, Equatable {
  package let name: String
  package let value: Value
}

extension Query {
  /// Runs the query, or another statement of the same records, and compares each row with the old result as it
  /// arrives.
  ///
  /// O(n) in the n rows of the result, and O(m log m) in the m rows that did not match in place.
  ///
  /// - Throws: `FetchFailure`.
  func fetch(
    by other: String? = nil, comparingWith old: Results, arguments: QueryArguments,
    unnamed: [Value] = [], meter: ResultMeter = .none, in db: Database
  ) throws -> (results: Results, changes: ChangeSet) {
    do {
      let statement = try db.cachedStatement(sql: other ?? sql)
      statement.bind(arguments)
      statement.bindUnnamed(unnamed)
      defer { sqlite3_reset(statement.sqliteStatement) }
      var builder = ResultsBuilder(comparingWith: old)
      var meter = definition.isPrivate ? meter.ofServer : meter
      try statement.forEachRow(of: layout, in: db) { row in
        // With where it begins in its block, which of small rows is the better half.
        try meter.add(row.byteCount + 4)
        builder.append(row)
      }
      return try builder.finish()
    } catch let error as SectionError {
      throw FetchFailure(brokenSection: error, query: self)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
      throw FetchFailure.valueTooLong(meter.limits)
    } catch let error as DatabaseError {
      throw FetchFailure(error)
    }
  }
}

extension Database {
  /// Runs a statement for one value.
  ///
  /// - Parameters:
  ///   - sql: the statement.
  ///   - arguments: values for its parameters by name.
  ///   - unnamed: values for those without.
  /// - Returns: the first column of the first row; NULL where there is none.
  /// - Throws: `DatabaseError`.
  func value(
    of sql: String, _ arguments: QueryArguments, unnamed: [Value] = []
  ) throws -> Value {
    let statement = try cachedStatement(sql: sql)
    statement.bind(arguments)
    statement.bindUnnamed(unnamed)
    defer { sqlite3_reset(statement.sqliteStatement) }
    return try statement.step(in: self) ? statement.value(at: 0) : .null
  }
}

extension Statement {
  /// Whether there is a row.
  func step(in db: Database) throws -> Bool {
    switch sqlite3_step(sqliteStatement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      throw DatabaseError(
        resultCode: ResultCode(rawValue: code),
        message: sqlite3_errmsg(db.sqliteConnection).map { String(cString: $0) }, sql: sql)
    }
  }

  func forEachRow(
    of layout: RecordLayout, in db: Database, _ body: (borrowing RecordEncoder) throws -> Void
  ) throws {
    try walkRows(of: layout, in: db) { row in
      try body(row)
      return true
    }
  }

  /// Hands over each row, until `body` wants no more.
  @inline(__always)
  func walkRows(
    of layout: RecordLayout, in db: Database, _ body: (borrowing RecordEncoder) throws -> Bool
  ) throws {
    var encoder = RecordEncoder()
    let count = Int32(layout.columnCount)
    while try step(in: db) {
      // SQLite prepares the statement again after a change of the schema; `SELECT *` may have
      // become another list of columns since the query was analysed.
      guard sqlite3_column_count(sqliteStatement) == count else {
        throw DatabaseError(resultCode: .SQLITE_SCHEMA, message: "the columns have changed")
      }
      encoder.begin()
      for column in 0..<count { encoder.append(columnOf: sqliteStatement, at: column) }
      guard try body(encoder) else { return }
    }
  }

  func value(at column: Int32) -> Value {
    switch sqlite3_column_type(sqliteStatement, column) {
    case SQLITE_INTEGER: .integer(sqlite3_column_int64(sqliteStatement, column))
    case SQLITE_FLOAT: .real(sqlite3_column_double(sqliteStatement, column))
    case SQLITE_TEXT: .text(bytes(at: column, sqlite3_column_text(sqliteStatement, column)))
    case SQLITE_BLOB: .blob(bytes(at: column, sqlite3_column_blob(sqliteStatement, column)))
    default: .null
    }
  }

  private func bytes(at column: Int32, _ start: UnsafeRawPointer?) -> [UInt8] {
    Array(
      UnsafeRawBufferPointer(
        start: start, count: Int(sqlite3_column_bytes(sqliteStatement, column))))
  }
}

extension RecordEncoder {
  /// Appends a column of the statement's current row, without copying it anywhere else first.
  ///
  /// `sqlite3_value_*` saves the mutex that each `sqlite3_column_*` takes. The value is unprotected,
  /// which is safe here: the statement is used by one thread at a time.
  @inline(__always)
  fileprivate mutating func append(columnOf statement: OpaquePointer, at column: Int32) {
    let value = sqlite3_column_value(statement, column)
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER:
      append(sqlite3_value_int64(value))
    case SQLITE_FLOAT:
      append(sqlite3_value_double(value))
    case SQLITE_TEXT:
      let text = sqlite3_value_text(value)
      append(
        text: UnsafeRawBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))))
    case SQLITE_BLOB:
      let blob = sqlite3_value_blob(value)
      append(
        blob: UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_value_bytes(value))))
    default:
      appendNull()
    }
  }
}
