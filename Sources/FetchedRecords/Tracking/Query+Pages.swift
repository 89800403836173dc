import GRDB
import GRDBSQLite
import OrderedResults
package import QueryAnalysis

extension Query {
  /// How its pages are read by themselves, if they are.
  ///
  /// The sections of free SQL have to be looked at to know that they come in runs, and a result that
  /// outlives the process is there as a whole.
  var pagedStatement: PagedStatement? {
    let namesSections =
      if case .sql = definition.form { layout.section != nil } else { false }
    return definition.isCached || namesSections ? nil : plan?.pages
  }

  /// Whether a page costs the rows that it shows and skips, and not the whole result.
  package var isReadInPages: Bool { pagedStatement != nil }
}

extension PagedStatement {
  /// The number of records. O(n) for n rows, some milliseconds a million where no condition is asked.
  func count(_ arguments: QueryArguments, in db: Database) throws -> Int {
    let statement = try db.cachedStatement(sql: count)
    statement.bind(arguments)
    defer { sqlite3_reset(statement.sqliteStatement) }
    guard try statement.step(in: db) else { return 0 }
    return Int(sqlite3_column_int64(statement.sqliteStatement, 0))
  }

  /// Hands over the rows from an offset on, until `body` wants no more.
  ///
  /// O(offset + k), k rows.
  func walkRows(
    of layout: RecordLayout, from offset: Int, atMost limit: Int? = nil,
    _ arguments: QueryArguments, in db: Database,
    _ body: (borrowing RecordEncoder) throws -> Bool
  ) throws {
    let statement = try db.cachedStatement(sql: page)
    statement.bind(arguments)
    defer { sqlite3_reset(statement.sqliteStatement) }
    // A negative limit is none: https://www.sqlite.org/lang_select.html#limitoffset
    statement.bindUnnamed([.integer(Int64(limit ?? -1)), .integer(Int64(offset))])
    try statement.walkRows(of: layout, in: db, body)
  }
}
