import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// Queries that are made of all groups, which a SELECT within them makes.
@Suite struct `What is made of all groups` {
  private static let schema = """
    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
    CREATE TABLE game (id INTEGER PRIMARY KEY, team INTEGER, day TEXT, kind TEXT COLLATE NOCASE, points INTEGER, fee REAL);
    CREATE INDEX gamesOf ON game(team);
    CREATE VIEW daily AS SELECT day, count(*) AS n, sum(points) AS total FROM game GROUP BY day;
    INSERT INTO team VALUES (0, 'Ajax', 'A'), (1, 'Bern', 'B'), (2, 'Celtic', 'B'), (3, 'Dynamo', NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO game SELECT i, i % 4, '2026-01-' || printf('%02d', 1 + i % 9), char(97 + i % 3), i * 7 % 11, i % 5 / 2.0
      FROM n;
    """

  private static let queries = [
    """
    SELECT * FROM (SELECT team, sum(points) AS total, rank() OVER (ORDER BY sum(points) DESC) AS place FROM game GROUP BY team)
    WHERE place <= 2 ORDER BY place
    """,
    """
    SELECT day, n, avg(n) OVER (ORDER BY day ROWS 2 PRECEDING) AS mean, total - lag(total) OVER (ORDER BY day) AS more,
      total * 100.0 / sum(total) OVER () AS share
    FROM daily ORDER BY day
    """,
    """
    SELECT day, count(*) - lag(count(*), 1, 0) OVER w AS more, avg(count(*)) OVER (w ROWS 3 PRECEDING) AS mean
    FROM game WHERE points > 1 GROUP BY day HAVING count(*) > 1 WINDOW w AS (ORDER BY day) ORDER BY day DESC LIMIT 5
    """,
    """
    WITH s AS (SELECT team AS t, CAST(day AS TEXT) AS d, sum(points) AS total, max(fee) AS most FROM game GROUP BY team, day),
      r AS (SELECT *, row_number() OVER (ORDER BY total DESC, t, d) AS place FROM s WHERE d > '2026-01-02')
    SELECT t, place, most FROM r WHERE place <= 4 AND t < '3' ORDER BY place
    """,
    """
    SELECT name, n, ntile(2) OVER (ORDER BY n, name) AS half FROM (
      SELECT name, count(*) AS n FROM game JOIN team ON team.id = game.team GROUP BY name) AS s ORDER BY half, name
    """,
    """
    SELECT substr(day, 9) AS d, sum(fee) AS fees, cume_dist() OVER (ORDER BY sum(fee)) AS part FROM game GROUP BY substr(day, 9)
    ORDER BY part, d
    """,
  ]

  private func fixture(_ sql: String, dear: Duration = .zero) throws -> Fixture {
    var limits = RefresherLimits()
    (limits.dearStatement, limits.dearGroup) = (dear, dear)
    return try Fixture(
      schema: Self.schema, queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]),
      limits: limits)
  }

  private static func touch(_ points: Int) -> String {
    "UPDATE game SET points = \(points) WHERE id = 20"
  }

  private static let changes = [
    "UPDATE game SET points = 90 WHERE id = 7",
    "UPDATE game SET day = '2026-02-01' WHERE id IN (3, 4)",
    "DELETE FROM game WHERE team = 1 AND points > 3",
    "UPDATE game SET team = NULL WHERE id % 17 = 0",
    "INSERT INTO game VALUES (900, 3, '2026-01-03', 'x', 100, 1.5)",
    "UPDATE game SET team = 'three' WHERE id = 30", "UPDATE game SET team = 3 WHERE id = 30",
    "UPDATE team SET name = name || '!' WHERE id = 2",
    "UPDATE game SET fee = fee + 0.25 WHERE team = 2",
    "UPDATE game SET points = NULL WHERE day > '2026-01-07'",
    "DELETE FROM game WHERE day = '2026-01-05'",
    "UPDATE game SET points = points + 1", "DELETE FROM game",
    "INSERT INTO game VALUES (1, 1, '2026-01-03', 'x', 1, 1)",
  ]

  @Test(arguments: queries) func `is what SQLite returns`(sql: String) throws {
    let fixture = try fixture(sql)
    let watched = try fixture.open("q")
    let query = watched.snapshot.query
    #expect(query.innerGroups != nil && query.tracking.mode == .incremental, "\(query.tracking)")
    // So often it runs again before what is dear is followed, and so often groups are read.
    for points in 0..<8 { try fixture.expect(watched, toShow: sql, after: Self.touch(points)) }
    for change in Self.changes { try fixture.expect(watched, toShow: sql, after: change) }
    // On a busy machine it may run again where the groups are not known in a moment.
    let counts = try #require(fixture.refresher.statistics.queries["q"])
    #expect(counts.refetches >= 3 && counts.maintained > 0, "\(counts)")
    fixture.refresher.close(watched.controller)
    fixture.refresher.settle()
    #expect(fixture.refresher.queue.sync { fixture.refresher.followedRows.isEmpty })
  }

  @Test func `is left alone where no group is another`() throws {
    let fixture = try fixture(Self.queries[0])
    let watched = try fixture.open("q")
    for points in 0..<5 {
      try fixture.expect(watched, toShow: Self.queries[0], after: Self.touch(points))
    }
    _ = watched.takeEvents()
    let number = watched.snapshot.number
    let result = watched.controller
    fixture.refresher.queue.sync { result.durations.inner = nil }
    try fixture.expect(
      watched, toShow: Self.queries[0], after: "UPDATE game SET fee = 9 WHERE id = 20")
    #expect(fixture.refresher.queue.sync { result.durations.inner } == nil)
    #expect(watched.takeEvents().isEmpty && watched.snapshot.number == number)
  }

  /// Groups of many rows, which are made of what these come to, and records that are made of the groups.
  @Test func `follows what many rows come to`() throws {
    let fixture = try fixture(Self.queries[0])
    let watched = try fixture.open("q")
    for points in 0..<12 {
      try fixture.expect(watched, toShow: Self.queries[0], after: Self.touch(points))
    }
    let uses = fixture.refresher.queue.sync {
      fixture.refresher.followedRows.values.filter(\.areThere).map(\.use)
    }
    #expect(
      Set(uses) == [.inner(most: InnerGroups.most), .groups(termCount: 1, countsOnce: false)])
  }

  @Test func `runs again where groups are many, and where that is soon done`() throws {
    let sql = """
      SELECT id, n, rank() OVER (ORDER BY n) AS place FROM (SELECT id, count(*) AS n FROM game GROUP BY id + 0) AS g
      ORDER BY place, id
      """
    let fixture = try fixture(sql)
    try fixture.write(
      """
      WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
      INSERT INTO game (id, points) SELECT i, 1 FROM n
      """)
    fixture.refresh()
    let watched = try fixture.open("q")
    for change in (0..<4).map(Self.touch) + Self.changes.prefix(4) {
      try fixture.expect(watched, toShow: sql, after: change)
    }
    #expect(
      fixture.refresher.queue.sync {
        fixture.refresher.followedRows.values.allSatisfy { !$0.areThere }
      })

    let cheap = try self.fixture(Self.queries[0], dear: .seconds(9))
    let other = try cheap.open("q")
    for change in (0..<4).map(Self.touch) + Self.changes {
      try cheap.expect(other, toShow: Self.queries[0], after: change)
    }
    #expect(cheap.refresher.queue.sync { cheap.refresher.followedRows.isEmpty })
  }
}
