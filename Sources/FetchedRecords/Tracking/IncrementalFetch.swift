import GRDB
import GRDBSQLite
import OrderedResults

extension IncrementalPlan {
  /// The records of these rows that are in the result now.
  ///
  /// O(k log n), k rows of a table of n.
  func fetch(
    _ rowIDs: [Int64], arguments: QueryArguments, layout: RecordLayout, in db: Database
  ) throws -> [OrderedResults.Record] {
    var records: [OrderedResults.Record] = []
    var rest = rowIDs[...]
    while !rest.isEmpty {
      let size = Self.batchSizes.last { $0 <= rest.count } ?? 1
      let statement = try db.cachedStatement(sql: sql(forKeys: size))
      statement.bind(arguments)
      defer { sqlite3_reset(statement.sqliteStatement) }
      let first = sqlite3_bind_parameter_count(statement.sqliteStatement) - Int32(size)
      for (index, rowID) in rest.prefix(size).enumerated() {
        sqlite3_bind_int64(statement.sqliteStatement, first + Int32(index) + 1, rowID)
      }
      try statement.forEachRow(of: layout, in: db) { records.append($0.makeRecord()) }
      rest = rest.dropFirst(size)
    }
    return records
  }
}
