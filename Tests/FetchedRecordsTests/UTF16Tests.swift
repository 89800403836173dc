import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// Databases that hold text in UTF-16, which need not be valid: it is read as UTF-8.
@Suite struct `Text held in UTF-16` {
  private static let encodings = ["UTF-16le", "UTF-16be"]
  private static let units: [UInt16] = [
    0, 1, 0x20, 0x41, 0x61, 0x7F, 0x80, 0x100, 0x4100, 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDC41,
    0xDFFF, 0xE000, 0xFEFF, 0xFFFD, 0xFFFE, 0xFFFF,
  ]

  /// Every text of at most two of the units, and some of three.
  private static let texts: [[UInt16]] =
    [[]] + units.map { [$0] }
    + units.flatMap { a in
      units.flatMap { b in [[a, b], [0xD800, a, b], [a, 0xD801, b], [0x61, a, b]] }
    }

  private static func insert(_ texts: [[UInt16]], _ encoding: String, in db: Database) throws {
    for text in texts {
      let bytes = text.flatMap { unit -> [UInt8] in
        let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
        return encoding == "UTF-16be" ? [high, low] : [low, high]
      }
      let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      try db.execute(sql: "INSERT INTO t(v) VALUES (CAST(x'\(hex)' AS TEXT))")
    }
  }

  @Test(arguments: encodings, ["", "COLLATE NOCASE", "COLLATE RTRIM", "DESC", "NULLS LAST"])
  func `is ordered as SQLite orders it`(encoding: String, term: String) throws {
    let db = try DatabaseQueue()
    try db.write { db in
      try db.execute(
        sql: "PRAGMA encoding = '\(encoding)'; CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
      try Self.insert(Self.texts, encoding, in: db)
      try db.execute(sql: "INSERT INTO t(v) VALUES (NULL), (1), (2.5), (x''), (x'D800')")
      let query = try Query.analyzed(
        QueryDefinition(name: "q", form: .sql("SELECT id, v FROM t ORDER BY v \(term)")), in: db)
      let order = try #require(query.plan?.order, "\(query.tracking.reason)")
      let statement = try db.makeStatement(sql: query.sql)
      var records: [OrderedResults.Record] = []
      try statement.forEachRow(of: query.layout, in: db) { records.append($0.makeRecord()) }
      #expect(records.count > 1000)
      for (left, right) in zip(records, records.dropFirst()) {
        #expect(order.compare(left, right) < 0, "\(left.values) \(right.values)")
      }
      for _ in 0..<100_000 {
        let (i, j) = (Int.random(in: records.indices), Int.random(in: records.indices))
        let comparison = order.compare(records[i], records[j])
        #expect(comparison.signum() == (i - j).signum(), "\(records[i]) \(records[j])")
      }
    }
  }

  @Test(arguments: encodings)
  func `that reads alike is as many groups, and they run again`(encoding: String) throws {
    let fixture = try Fixture(
      schema: """
        PRAGMA encoding = '\(encoding)';
        CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); CREATE INDEX i ON t(v);
        INSERT INTO t(v) VALUES ('a'), ('a'), ('b'), (char(0x1F600));
        """,
      queries: .definitions([
        QueryDefinition(name: "q", form: .sql("SELECT v, count(*) AS n FROM t GROUP BY v"))
      ]))
    let watched = try fixture.open("q")
    func change(_ sql: String) throws -> (maintained: Int, refetches: Int) {
      let before = fixture.refresher.statistics
      try fixture.write(sql)
      fixture.refresh()
      let expected = try fixture.writer.read { db in
        try String.fetchAll(db, sql: "SELECT v || count(*) FROM t GROUP BY v ORDER BY v")
      }
      let shown = watched.snapshot.results.shown.flatMap(\.records).map { $0[0].text + $0[1].text }
      #expect(shown == expected)
      let after = fixture.refresher.statistics
      return (after.maintained - before.maintained, after.refetches - before.refetches)
    }
    #expect(try change("INSERT INTO t(v) VALUES ('b')") == (0, 1))
    #expect(try change("INSERT INTO t(v) VALUES (char(0x1F600))") == (1, 0))
    // U+10041 as it should be, and with its second half missing.
    try fixture.writer.write { try Self.insert([[0xD800, 0xDC41]], encoding, in: $0) }
    #expect(try change("INSERT INTO t(v) VALUES ('c')") == (1, 0))
    try fixture.writer.write { try Self.insert([[0xD800, 0x41]], encoding, in: $0) }
    #expect(try change("INSERT INTO t(v) VALUES ('d')") == (0, 1))
    #expect(try change("INSERT INTO t(v) VALUES ('d')") == (0, 1))
    #expect(watched.snapshot.results.count == 7)
  }
}
