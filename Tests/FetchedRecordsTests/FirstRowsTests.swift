import GRDB
import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// Windows of all rows, of which LIMIT shows the first in the order of an index.
@Suite struct `The first rows with their places` {
  private static let schema = """
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER, game INTEGER);
    CREATE INDEX byScore ON player(score);
    CREATE INDEX byGame ON player(game, score DESC);
    CREATE TABLE medal (player INTEGER, kind TEXT);
    CREATE INDEX medalsOf ON medal(player);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
      INSERT INTO player SELECT i, 'p' || i, i * 7 % 90, i % 3 FROM n;
    INSERT INTO medal SELECT id * 11 % 400, 'gold' FROM player;
    """

  private static let changes = [
    "UPDATE player SET score = 100 WHERE id = 50", "UPDATE player SET score = 89 WHERE id = 51",
    "UPDATE player SET score = 1 WHERE id = 50", "DELETE FROM player WHERE score = 89 AND id < 200",
    "INSERT INTO player VALUES (900, 'new', 88, 1), (901, 'other', NULL, 2)",
    "UPDATE player SET name = 'x' WHERE score > 87", "UPDATE player SET game = 1 WHERE id = 102",
    "INSERT INTO medal SELECT id, 'iron' FROM player WHERE score > 85",
    "DELETE FROM medal WHERE kind = 'iron'",
  ]

  @Test(arguments: [
    "SELECT id, name, rank() OVER (ORDER BY score DESC) AS place FROM player ORDER BY place LIMIT 10",
    "SELECT id, dense_rank() OVER (ORDER BY score DESC) AS p FROM player ORDER BY p, id DESC LIMIT 7 OFFSET 4",
    """
    SELECT name, row_number() OVER w AS n, score - lag(score) OVER w AS behind, sum(score) OVER w AS s
    FROM player WINDOW w AS (ORDER BY score DESC, id DESC) ORDER BY n LIMIT 12
    """,
    "SELECT id, rank() OVER (ORDER BY score DESC) AS n FROM player WHERE game = 1 ORDER BY n LIMIT 5",
    """
    SELECT id, rank() OVER (ORDER BY score DESC) AS n,
      (SELECT count(*) FROM medal WHERE medal.player = player.id) AS medals
    FROM player ORDER BY n LIMIT 10
    """,
    """
    SELECT id, place FROM (SELECT *, rank() OVER (ORDER BY score DESC) AS place FROM player)
    WHERE place <= 10 ORDER BY place, name
    """,
    """
    WITH r AS (SELECT id, name, row_number() OVER (ORDER BY score DESC, id DESC) AS n, sum(game) OVER (
      ORDER BY score DESC, id DESC) AS games, dense_rank() OVER (ORDER BY score DESC) AS d FROM player)
    SELECT name, n, games, d FROM r WHERE name <> 'p51' AND 12 > n ORDER BY name DESC LIMIT 8
    """,
    """
    SELECT * FROM (
      SELECT id, name, rank() OVER (ORDER BY score) AS n FROM player WHERE game = 1) AS r
    WHERE n = 1
    """,
    "SELECT * FROM (SELECT id, rank() OVER (ORDER BY score DESC) AS n FROM player) ORDER BY n LIMIT 9",
    "SELECT * FROM (SELECT id, rank() OVER (ORDER BY game, score DESC) AS n FROM player) WHERE n <= 10",
  ])
  func `are what SQLite returns, and never all of them`(sql: String) throws {
    let (query, statistics) = try Fixture.following(sql, schema: Self.schema, Self.changes)
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    #expect(statistics.refetches == 0, "\(statistics)")
    #expect(statistics.maintained > 6)
  }

  @Test(arguments: [
    """
    SELECT id, n, lower(name) AS l FROM (
      SELECT id, 'q' || (900 - id) AS name, rank() OVER (ORDER BY game) AS n FROM player)
    ORDER BY n, l LIMIT 3
    """,
    "SELECT * FROM (SELECT id, row_number() OVER (ORDER BY 1, id DESC) AS n FROM player) WHERE n <= 3",
    "SELECT id, row_number() OVER (ORDER BY 1, id DESC) AS n FROM player ORDER BY n LIMIT 3",
  ])
  func `are not those that names and numbers tell elsewhere`(sql: String) throws {
    let index = "CREATE INDEX byLowerName ON player(game, lower(name));"
    _ = try Fixture.following(sql, schema: Self.schema + index, Self.changes)
  }

  @Test func `are in the order of each collation that ORDER BY names`() throws {
    let (query, statistics) = try Fixture.following(
      """
      SELECT id, word, rank() OVER (ORDER BY word) AS n FROM tag
      ORDER BY n, word COLLATE BINARY, id LIMIT 3
      """,
      schema: """
        CREATE TABLE tag (id INTEGER PRIMARY KEY, word TEXT COLLATE NOCASE);
        CREATE INDEX byWord ON tag(word, word COLLATE BINARY);
        INSERT INTO tag VALUES (1, 'b'), (2, 'b'), (3, 'B'), (4, 'c');
        """,
      [
        "INSERT INTO tag VALUES (7, 'B'), (8, 'b')", "UPDATE tag SET word = 'B' WHERE id = 4",
        "DELETE FROM tag WHERE id = 3", "UPDATE tag SET word = 'a' WHERE id = 7",
      ])
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    #expect(statistics.maintained == 4)
  }

  /// The rowid is not among what is shown, nor needed to tell records apart.
  @Test func `may have a key of their own`() throws {
    let fixture = try Fixture(
      schema: """
        CREATE TABLE team (code TEXT PRIMARY KEY NOT NULL, points INTEGER);
        CREATE INDEX byPoints ON team(points, code);
        INSERT INTO team VALUES ('a', 5), ('b', 7), ('c', 5), ('d', 1);
        """,
      queries: .definitions([
        QueryDefinition(
          name: "q",
          form: .sql(
            """
            SELECT code, rank() OVER (ORDER BY points DESC) AS place FROM team
            ORDER BY place, code DESC LIMIT 3
            """), key: ["code"])
      ]))
    let watched = try fixture.open("q")
    #expect(watched.snapshot.query.tracking.mode == .incremental)
    try fixture.write("UPDATE team SET points = 6 WHERE code = 'd'")
    fixture.refresh()
    let shown = watched.snapshot.results.shown[0].records.map { $0.map(\.text) }
    #expect(shown == [["b", "1"], ["d", "2"], ["c", "3"]])
    #expect(fixture.refresher.statistics.refetches == 0)
  }

  @Test func `are run again where LIMIT shows very many`() throws {
    let sql = "SELECT id, rank() OVER (ORDER BY score) AS n FROM player ORDER BY n, id LIMIT 5000"
    let (query, statistics) = try Fixture.following(sql, schema: Self.schema, Self.changes)
    #expect(query.tracking.mode == .incremental)
    #expect(statistics.refetches > 4)
  }
}
