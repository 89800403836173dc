import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// Queries that are made of the rows which a SELECT in their FROM has up to LIMIT.
@Suite struct `What is made of rows up to LIMIT` {
  private static let schema = """
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE message (id INTEGER PRIMARY KEY, author INTEGER, room INTEGER, body TEXT, at INTEGER);
    CREATE TABLE mark (message INTEGER, kind TEXT);
    CREATE INDEX marksOf ON mark(message);
    CREATE VIEW latest AS SELECT * FROM message ORDER BY at DESC, id LIMIT 6;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO message SELECT i, i % 7, i % 3, 'm' || i * 13 % 100, i * 7 % 90 FROM n;
    INSERT INTO person SELECT DISTINCT author, 'p' || author FROM message;
    INSERT INTO mark SELECT id * 11 % 300, 'seen' FROM message;
    """

  private static let queries = [
    "SELECT * FROM (SELECT id, body, at FROM message ORDER BY at DESC, id LIMIT 5) ORDER BY at, id",
    """
    SELECT m.id, body, name FROM (SELECT * FROM message WHERE room = 1 ORDER BY at DESC, id LIMIT 9) AS m
    LEFT JOIN person ON person.id = m.author WHERE body <> 'm7' ORDER BY name DESC, m.id LIMIT 6
    """,
    """
    WITH m AS (SELECT * FROM message ORDER BY body, id LIMIT 12 OFFSET 3)
    SELECT m.id, at, count(kind) AS marks FROM m LEFT JOIN mark ON mark.message = m.id
    GROUP BY m.id ORDER BY at
    """,
    "SELECT id, at, (SELECT count(*) FROM mark WHERE message = latest.id) AS n FROM latest ORDER BY n",
    "SELECT id, name FROM person WHERE id IN (SELECT author FROM message ORDER BY at DESC, id LIMIT 4) ORDER BY name DESC",
    """
    SELECT person.id, name, kind FROM person LEFT JOIN mark ON mark.message = person.id
    WHERE person.id = (SELECT author FROM message WHERE room = 1 ORDER BY at DESC, id LIMIT 1) ORDER BY kind, name
    """,
  ]

  private func fixture(_ sql: String, dear: Duration = .zero) throws -> Fixture {
    var limits = RefresherLimits()
    limits.dearStatement = dear
    return try Fixture(
      schema: Self.schema, queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]),
      limits: limits)
  }

  private static let changes = [
    "UPDATE message SET at = 100 WHERE id = 50", "UPDATE message SET at = 1 WHERE id = 50",
    "UPDATE message SET body = 'm0', at = 89, room = 1 WHERE id IN (1, 7, 99)",
    "UPDATE person SET name = name || '!' WHERE id = 3", "DELETE FROM mark WHERE message % 2",
    "DELETE FROM message WHERE at > 86", "INSERT INTO message VALUES (900, 2, 1, 'm', 89)",
    "UPDATE message SET author = NULL WHERE at > 80",
    "UPDATE message SET room = 3 - room WHERE id % 40 = 2",
  ]

  @Test(arguments: queries)
  func `is what SQLite returns`(sql: String) throws {
    let fixture = try fixture(sql)
    let watched = try fixture.open("q")
    #expect(watched.snapshot.query.tracking.mode == .incremental)
    // So often it runs again before what is dear is followed.
    for name in 0..<3 { try fixture.expect(watched, toShow: sql, after: Self.touch(name)) }
    #expect(fixture.refresher.queue.sync { fixture.refresher.followedRows.count } == 1)
    for change in Self.changes { try fixture.expect(watched, toShow: sql, after: change) }
    // On a busy machine it may run again where the rows are not known in a moment.
    let counts = try #require(fixture.refresher.statistics.queries["q"])
    #expect(counts.refetches >= 3 && counts.maintained > 0, "\(counts)")
  }

  private static func touch(_ name: Int) -> String {
    "UPDATE message SET body = 't\(name)', at = 95 WHERE id = 20"
  }

  @Test func `is left alone where they, and what they are joined with, stay`() throws {
    let fixture = try fixture(Self.queries[1])
    let watched = try fixture.open("q")
    for name in 0..<3 { try fixture.write(Self.touch(name)); fixture.refresh() }
    _ = watched.takeEvents()
    let number = watched.snapshot.number
    let result = watched.controller
    fixture.refresher.queue.sync { result.durations.inner = nil }
    try fixture.expect(
      watched, toShow: Self.queries[1], after: "UPDATE message SET body = 'x' WHERE at = 2")
    #expect(fixture.refresher.queue.sync { result.durations.inner } == nil)
    #expect(watched.takeEvents().isEmpty && watched.snapshot.number == number)
    try fixture.expect(
      watched, toShow: Self.queries[1], after: "UPDATE person SET name = 'x' WHERE id = 1")
    #expect(fixture.refresher.queue.sync { result.durations.inner } != nil)
  }

  @Test func `runs again where they are many, and where that is soon done`() throws {
    let many = """
      SELECT * FROM (SELECT * FROM message ORDER BY body, id LIMIT 2000 + 0) ORDER BY at, id
      """
    let fixture = try fixture(many)
    try fixture.write(
      """
      WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
      INSERT INTO message SELECT i, 1, 1, 'm', 1 FROM n
      """)
    fixture.refresh()
    let watched = try fixture.open("q")
    for change in (0..<3).map(Self.touch) + Self.changes {
      try fixture.expect(watched, toShow: many, after: change)
    }
    // At two of the commits nothing has changed that it is made of.
    #expect(fixture.refresher.statistics.refetches >= 10)
    let followed = fixture.refresher.queue.sync { Array(fixture.refresher.followedRows.values) }
    #expect(followed.count == 1 && followed[0].live == nil)

    let cheap = try self.fixture(Self.queries[0], dear: .seconds(9))
    let other = try cheap.open("q")
    for change in (0..<3).map(Self.touch) + Self.changes {
      try cheap.expect(other, toShow: Self.queries[0], after: change)
    }
    #expect(cheap.refresher.queue.sync { cheap.refresher.followedRows.isEmpty })
  }

  @Test func `lets go of them with the last that shows it`() throws {
    let fixture = try fixture(Self.queries[0])
    let watched = try fixture.open("q")
    for name in 0..<4 { try fixture.write(Self.touch(name)); fixture.refresh() }
    #expect(fixture.refresher.queue.sync { fixture.refresher.followedRows.count } == 1)
    fixture.refresher.close(watched.controller)
    fixture.refresher.settle()
    #expect(fixture.refresher.queue.sync { fixture.refresher.followedRows.isEmpty })
    #expect(fixture.refresher.queue.sync { fixture.refresher.live.isEmpty })
  }

  @Test func `follows no more than what is shown where an index has the order`() throws {
    let sql = "SELECT * FROM (SELECT * FROM message ORDER BY id DESC LIMIT 5) ORDER BY id"
    let fixture = try fixture(sql)
    let watched = try fixture.open("q")
    for change in (0..<3).map(Self.touch) + Self.changes {
      try fixture.expect(watched, toShow: sql, after: change)
    }
    fixture.refresher.queue.sync {
      let rows = fixture.refresher.followedRows.values.first?.live
      #expect(rows?.snapshot.results.count == 5 && rows?.whole == nil)
    }
  }
}
