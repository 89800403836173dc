import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// Windows of all rows, in the order of the records, whose functions look at those before.
@Suite struct `Places and running sums of all rows` {
  private static let schema = """
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER, game INTEGER);
    CREATE TABLE club (id INTEGER PRIMARY KEY, name TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO player SELECT i, 'p' || i % 50, i * 7 % 701, i % 20 FROM n;
    INSERT INTO club SELECT DISTINCT game, 'c' || game FROM player;
    """

  /// Each leaves the places of most as they are.
  private static let changes = [
    "UPDATE player SET score = score + 1 WHERE id = 50",
    "UPDATE player SET score = 700 WHERE id = 1999",
    "UPDATE player SET name = 'x' WHERE score > 690",
    "UPDATE player SET score = CASE score WHEN 5 THEN 6 ELSE 5 END WHERE score IN (5, 6)",
    "DELETE FROM player WHERE score < 3; INSERT INTO player VALUES (3000, 'n', 1, 3), (3001, 'n', NULL, 1)",
    "UPDATE player SET score = score - 1 WHERE id IN (20, 900)",
    "UPDATE player SET id = 4000 WHERE id = 1000",
    "UPDATE player SET score = NULL WHERE score = 4",
    "UPDATE club SET name = name || '+' WHERE id = 7",
  ]

  @Test(arguments: [
    "SELECT id, rank() OVER (ORDER BY score DESC) AS place, name FROM player ORDER BY place",
    "SELECT dense_rank() OVER (ORDER BY score DESC) AS p, name, id FROM player ORDER BY p, name, id DESC",
    "SELECT id, row_number() OVER (ORDER BY score DESC, id) AS n FROM player ORDER BY score DESC, id",
    """
    SELECT row_number() OVER w AS n, rank() OVER w AS r, dense_rank() OVER (ORDER BY score DESC) AS d, name
    FROM player WINDOW w AS (ORDER BY score DESC, id) ORDER BY n
    """,
    "SELECT id, rank() OVER (ORDER BY score DESC) AS n FROM player WHERE game > 3 ORDER BY n, id",
    """
    SELECT p.id, c.name AS club, rank() OVER (ORDER BY p.score DESC) AS place
    FROM player p JOIN club c ON c.id = p.game ORDER BY place, p.name
    """,
    """
    SELECT id, dense_rank() OVER (ORDER BY score DESC) AS n,
      (SELECT name FROM club WHERE club.id = game) AS club FROM player ORDER BY score DESC, id
    """,
    "SELECT id, sum(game) OVER (ORDER BY score DESC, id) AS s FROM player ORDER BY score DESC, id",
    """
    SELECT id, count(*) OVER w AS n, count(score) OVER w AS c, sum(game - 10) OVER w AS s, game
    FROM player WINDOW w AS (ORDER BY score DESC, id ROWS UNBOUNDED PRECEDING) ORDER BY score DESC, id
    """,
    "SELECT id, rank() OVER (ORDER BY score DESC) AS n FROM player ORDER BY n, id LIMIT 50 OFFSET 5",
    "SELECT id, score, lag(score) OVER (ORDER BY id) AS before, lag(name) OVER (ORDER BY id) AS who FROM player ORDER BY id",
    "SELECT id, score, lead(score) OVER (ORDER BY id) AS behind, lead(name) OVER (ORDER BY id) AS who FROM player ORDER BY id",
    """
    SELECT id, row_number() OVER w AS n, lag(id) OVER w AS before, lead(id) OVER w AS behind, sum(game) OVER w AS s
    FROM player WINDOW w AS (ORDER BY score DESC, id) ORDER BY score DESC, id LIMIT 40 OFFSET 3
    """,
    "SELECT id, max(score) OVER (ORDER BY id) AS best, min(game) OVER (ORDER BY id) AS least FROM player ORDER BY id",
  ])
  func `are counted anew where they change`(sql: String) throws {
    let (query, statistics) = try Fixture.following(sql, schema: Self.schema, Self.changes)
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    // What leads from clubs to players is gathered at the first change of a club.
    #expect(statistics.refetches <= 1, "\(statistics)")
    #expect(statistics.maintained > 6)
  }

  @Test(arguments: [
    "SELECT game, sum(score) AS s, rank() OVER (ORDER BY sum(score) DESC) AS place FROM player GROUP BY game",
    """
    SELECT game, count(*) AS n, sum(score) AS s, row_number() OVER (ORDER BY sum(score) DESC, game) AS place
    FROM player GROUP BY game HAVING n > 3 ORDER BY s DESC
    """,
    """
    SELECT name, max(score) AS best, dense_rank() OVER (ORDER BY max(score) DESC) AS place FROM player
    GROUP BY name ORDER BY place, name LIMIT 20
    """,
    "SELECT game, total, rank() OVER (ORDER BY total DESC) AS place FROM standing",
    "SELECT *, rank() OVER (ORDER BY total DESC) AS place, sum(n) OVER (ORDER BY total DESC, game) FROM standing",
    "SELECT s.*, rank() OVER (ORDER BY s.total DESC) AS place FROM (SELECT * FROM standing WHERE n > 8) AS s",
    """
    WITH s AS (SELECT * FROM standing) SELECT s.game, s.total, rank() OVER w AS place FROM s
    WHERE s.total > 1 WINDOW w AS (ORDER BY s.total DESC) ORDER BY place, s.game
    """,
    "SELECT score, count(*) AS n, sum(count(*)) OVER (ORDER BY score) AS upto FROM player GROUP BY score",
    """
    SELECT club.name, count(player.id) AS n, rank() OVER (ORDER BY count(player.id) DESC) AS place
    FROM club LEFT JOIN player ON player.game = club.id GROUP BY club.id
    """,
    "SELECT name, dense_rank() OVER (ORDER BY name) AS place FROM (SELECT DISTINCT name FROM player)",
  ])
  func `are those of groups`(sql: String) throws {
    let schema = """
      \(Self.schema)
      CREATE INDEX playerByGame ON player(game); CREATE INDEX playerByName ON player(name);
      CREATE INDEX playerByScore ON player(score);
      CREATE VIEW standing AS SELECT game, count(*) AS n, sum(score) AS total FROM player GROUP BY game;
      """
    let more = (30..<36).map { "UPDATE player SET score = score + 9 WHERE id = \($0)" }
    for dearGroup in [RefresherLimits().dearGroup, .zero] {
      let (query, statistics) = try Fixture.following(
        sql, schema: schema, Self.changes + more, dearGroup: dearGroup)
      #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
      #expect(statistics.maintained > 6, "\(statistics)")
    }
  }

  /// As in a ledger, of which the end grows.
  @Test func `cost what comes at the end`() throws {
    let (query, statistics) = try Fixture.following(
      "SELECT id, amount, sum(amount) OVER (ORDER BY id) AS balance FROM entry ORDER BY id",
      schema: """
        CREATE TABLE entry (id INTEGER PRIMARY KEY, amount INTEGER);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
          INSERT INTO entry SELECT i, i % 7 - 3 FROM n;
        """,
      [
        "INSERT INTO entry (amount) VALUES (100), (NULL)", "INSERT INTO entry (amount) VALUES (-7)",
        "UPDATE entry SET amount = 12 WHERE id = 4990", "DELETE FROM entry WHERE id > 5001",
        "UPDATE entry SET amount = amount + CASE id WHEN 3 THEN 1 ELSE -1 END WHERE id IN (3, 9)",
      ])
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    #expect(statistics.refetches == 0, "\(statistics)")
  }

  @Test func `are SQLite's to say where they are no integers`() throws {
    let (query, statistics) = try Fixture.following(
      "SELECT id, sum(amount) OVER (ORDER BY id) AS balance FROM entry ORDER BY id",
      schema: """
        CREATE TABLE entry (id INTEGER PRIMARY KEY, amount INTEGER);
        INSERT INTO entry VALUES (1, 1), (2, 9223372036854775800), (3, -5), (4, 0);
        """,
      [
        "INSERT INTO entry VALUES (5, 0.5)", "INSERT INTO entry VALUES (6, 1)",
        "DELETE FROM entry WHERE id = 5", "INSERT INTO entry VALUES (7, 'x')",
        "DELETE FROM entry WHERE id > 5", "INSERT INTO entry VALUES (8, 3)",
      ])
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    #expect(statistics.refetches == 4, "\(statistics)")
    #expect(statistics.maintained == 2)
  }

  /// What takes long holds up nobody, and needs not run the query.
  @Test func `are worked out beside others where that takes long`() throws {
    let (query, statistics) = try Fixture.following(
      "SELECT id, row_number() OVER (ORDER BY score, id) AS n FROM player ORDER BY n",
      schema: """
        CREATE TABLE player (id INTEGER PRIMARY KEY, score INTEGER);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
          INSERT INTO player SELECT i, i FROM n;
        """,
      [
        "INSERT INTO player VALUES (30000, 19200)", "DELETE FROM player WHERE id = 30000",
        "UPDATE player SET score = 19990 WHERE id = 19100",
      ])
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    #expect(statistics.refetches == 0, "\(statistics)")
    #expect(statistics.background > 0)
  }

  /// Whoever goes to the top gives most another place: that is as much as the query.
  @Test func `run the query again where most change`() throws {
    let (query, statistics) = try Fixture.following(
      "SELECT id, rank() OVER (ORDER BY score DESC) AS place FROM player ORDER BY place",
      schema: Self.schema,
      [
        "INSERT INTO player VALUES (5000, 'first', 9000, 1)", "DELETE FROM player WHERE id = 5000",
        "UPDATE player SET score = 0 WHERE score > 600",
      ])
    #expect(query.tracking.mode == .incremental)
    #expect(statistics.refetches == 3, "\(statistics)")
  }
}
