import GRDB
import OrderedResults
import Testing

@testable import FetchedRecords

@Suite struct `The order of records` {
  /// Values that are easy to order wrongly: numbers at the limits of Int64 and of Double, signed
  /// zeroes, text and blobs that are empty, hold NUL, differ in case or in spaces at their end.
  private static let hostile =
    [
      "NULL", "0", "0.0", "-0.0", "1", "1.0", "1.5", "-1", "-1.5", "9007199254740992",
      "9007199254740993", "9007199254740992.0", "9223372036854775807", "-9223372036854775808",
      "9223372036854775808.0", "-9223372036854775808.0", "9e999", "-9e999", "1e-300", "5e-324",
      "''", "'a'", "'A'", "'b'", "'a '", "'a  '", "' a'", "'ä'", "'Ä'", "'zoë'", "'a' || char(0)",
      "'A' || char(0) || 'b'", "'a' || char(0) || 'c'", "'a' || char(0, 0)", "'[', '_'", "'`'",
      "x''", "x'00'", "x'61'", "x'6100'", "x'ff'", "'~'", "'😀'",
    ].filter { !$0.contains("', '") } + ["'['", "'_'"]

  private static let collations: [Collation] = [.binary, .noCase, .rtrim]

  @Test(arguments: collations, [false, true])
  func `is SQLite's own`(collation: Collation, isDescending: Bool) throws {
    for nullsLast in [nil, false, true] {
      let order = RecordOrder([
        .init(
          column: 1, collation: collation, isDescending: isDescending, nullsLast: nullsLast),
        .init(column: 0),
      ])
      let nulls = nullsLast.map { $0 ? " NULLS LAST" : " NULLS FIRST" } ?? ""
      let records = try Self.records(
        "v COLLATE \(collation.rawValue)\(isDescending ? " DESC" : "")\(nulls), id")
      for (index, (left, right)) in zip(records, records.dropFirst()).enumerated() {
        #expect(order.compare(left, right) < 0, "\(left.values) \(right.values) at \(index)")
        #expect(order.compare(right, left) > 0)
      }
      // Every pair, not only neighbours: the order is transitive only if the comparison is.
      for (i, left) in records.enumerated() {
        for (j, right) in records.enumerated() {
          #expect((order.compare(left, right) < 0) == (i < j), "\(left.values) \(right.values)")
        }
      }
    }
  }

  private static func records(_ order: String) throws -> [OrderedResults.Record] {
    try DatabaseQueue().write { db in
      try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
      for value in hostile + hostile { try db.execute(sql: "INSERT INTO t(v) VALUES (\(value))") }
      let statement = try db.makeStatement(sql: "SELECT id, v FROM t ORDER BY \(order)")
      var records: [OrderedResults.Record] = []
      while try statement.step(in: db) {
        records.append(OrderedResults.Record((0..<2).map { statement.value(at: $0) }))
      }
      return records
    }
  }
}
