import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// Records that are led to by what is kept in memory, where the database has no index.
@Suite struct `Rows that no index finds` {
  private static let schema = """
    CREATE TABLE team (code TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE player (id INTEGER PRIMARY KEY, team TEXT, score INTEGER, cityId INTEGER);
    CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
    CREATE TABLE award (id INTEGER PRIMARY KEY, playerId INTEGER);
    CREATE INDEX awardByPlayer ON award(playerId);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      INSERT INTO player SELECT i, 't' || (i % 20), i % 12, i % 15 FROM n;
    INSERT INTO team SELECT DISTINCT team, 'Team ' || team FROM player WHERE team <> 't7';
    INSERT INTO city SELECT id, 'City ' || id FROM player WHERE id < 12;
    INSERT INTO award SELECT id, id % 30 FROM player;
    """

  private static let changes = [
    "UPDATE team SET title = 'City 4' WHERE code = 't3'", "INSERT INTO team VALUES ('t7', 'B')",
    "UPDATE player SET team = 't8' WHERE id = 7", "UPDATE team SET title = 'C' WHERE code = 't8'",
    "UPDATE team SET code = 't99' WHERE code = 't5'", "UPDATE player SET team = 't99' WHERE id = 6",
    "DELETE FROM team WHERE code = 't1'",
    "UPDATE team SET title = 'D' WHERE code = 't99'", "INSERT INTO city VALUES (14, 'E')",
    "UPDATE player SET score = 20, team = NULL WHERE id IN (8, 14)",
    "INSERT INTO player VALUES (70, 't5', 9, 14), (-4, 't7', 2, 3)",
    "UPDATE city SET id = 13, name = 'C' WHERE id = 14", "DELETE FROM player WHERE id = 27",
    "UPDATE award SET playerId = 7 WHERE id = 5",
    "INSERT INTO team VALUES ('t1', 'F'); UPDATE player SET team = 't1' WHERE id = 70",
  ]

  @Test(arguments: [
    "SELECT id, title FROM player JOIN team ON code = team ORDER BY title, id",
    "SELECT id, title FROM player LEFT JOIN team ON code = team AND title < 'Team t4'",
    """
    SELECT player.id, title, name, count(award.id) AS n FROM player JOIN team ON code = team
    LEFT JOIN city ON city.id = cityId LEFT JOIN award ON playerId = player.id GROUP BY player.id
    """,
    """
    SELECT player.id, title, name FROM player LEFT JOIN team ON code = team
    LEFT JOIN city ON city.name = title
    """,
    "SELECT id FROM player p WHERE EXISTS (SELECT 1 FROM team JOIN city ON name = title WHERE code = p.team)",
    "SELECT team, count(title) AS n FROM player LEFT JOIN team ON code = team GROUP BY team",
    "SELECT team, count(*) AS n FROM player JOIN city ON city.id = cityId GROUP BY team",
    "SELECT id FROM player WHERE team IN (SELECT code FROM team WHERE title < 'Team t3')",
    "SELECT id, (SELECT title FROM team WHERE code = team) AS t FROM player WHERE score > 3",
    "SELECT DISTINCT 's' || score AS s FROM player",
    "SELECT id, rank() OVER (PARTITION BY team ORDER BY score DESC) AS place FROM player",
    "SELECT n, team FROM (SELECT team, count(*) AS n FROM player GROUP BY team) WHERE n > 2",
    """
    SELECT 'player' AS kind, id, title FROM player JOIN team ON code = team
    UNION ALL SELECT 'city', id, name FROM city
    """,
  ])
  func `are read again, and no others`(sql: String) throws {
    let statistics = try Fixture.following(sql, schema: Self.schema, Self.changes).statistics
    #expect(statistics.refetches <= 3)
    #expect(statistics.maintained > 4)
  }

  @Test func `of a group that is half of the table are not`() throws {
    let sql = "SELECT team, count(*) AS n FROM player GROUP BY team"
    var limits = RefresherLimits()
    limits.dearGroup = .seconds(60)
    let fixture = try Fixture(
      schema: """
        CREATE TABLE player (id INTEGER PRIMARY KEY, team TEXT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
          INSERT INTO player SELECT i, iif(i % 2, 'many', 't' || (i % 300)) FROM n;
        """, queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]), limits: limits)
    let watched = try fixture.open("q")
    try fixture.expect(watched, toShow: sql, after: "UPDATE player SET team = 't2' WHERE id = 4")
    try fixture.expect(watched, toShow: sql, after: "UPDATE player SET team = 't4' WHERE id = 4")
    #expect(fixture.refresher.statistics.maintained == 1)
    for id in [1, 3, 4] {
      try fixture.expect(watched, toShow: sql, after: "DELETE FROM player WHERE id = \(id)")
    }
    #expect(fixture.refresher.statistics.maintained == 1)
  }

  @Test(arguments: [0, 1, -1, 4_611_686_018_427_387_903, -4_611_686_018_427_387_904])
  func `of UNION ALL have numbers`(rowID: Int64) throws {
    for arm in [0, 1] as [Int64] {
      let number = try #require(RowOfArm(arm: arm, rowID: rowID).number(of: 2))
      let row = RowOfArm(number: number, of: 2)
      #expect(row.arm == arm && row.rowID == rowID)
    }
    #expect(RowOfArm(arm: 1, rowID: .max).number(of: 2) == nil)
    #expect(RowOfArm(arm: 1, rowID: .min).number(of: 2) == nil)
  }

  @Test func `of UNION ALL without a number are read with all`() throws {
    let sql = "SELECT 'a' AS kind, id, v FROM a UNION ALL SELECT 'b', id, v FROM b ORDER BY id"
    let fixture = try Fixture(
      schema: """
        CREATE TABLE a (id INTEGER PRIMARY KEY, v);
        CREATE TABLE b (id INTEGER PRIMARY KEY, v);
        INSERT INTO a VALUES (-3, 1), (2, 2);
        """, queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    for change in [
      "UPDATE a SET v = 3 WHERE id = -3", "UPDATE a SET v = 4 WHERE id = -3",
      "INSERT INTO b VALUES (9223372036854775807, 5)", "UPDATE a SET v = 6 WHERE id = 2",
      "UPDATE b SET v = 7",
    ] {
      try fixture.expect(watched, toShow: sql, after: change)
    }
  }
}
