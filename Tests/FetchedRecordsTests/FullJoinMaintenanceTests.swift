import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// Records of a FULL JOIN, which have rows of both tables, or of one of them.
@Suite struct `Records of a FULL JOIN` {
  private static let schema = """
    CREATE TABLE plan (id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE, owner INTEGER);
    CREATE TABLE fact (id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE, owner INTEGER, amount INTEGER);
    CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT);
    CREATE INDEX planByOwner ON plan (owner);
    CREATE INDEX factByOwner ON fact (owner);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
      INSERT INTO fact SELECT i, 'c' || (i % 40), i % 30, i % 9 FROM n;
    INSERT INTO plan SELECT id, 'C' || (id + 10), id % 35 + 5 FROM fact WHERE id < 50;
    INSERT INTO owner SELECT id, 'Owner ' || id FROM fact WHERE id < 20;
    """

  private static let changes = [
    "UPDATE fact SET amount = 20 WHERE id = 4",
    "UPDATE fact SET owner = 34, code = 'C49' WHERE id = 4",
    "UPDATE fact SET owner = NULL, code = NULL WHERE id = 5",
    "UPDATE plan SET owner = NULL, code = NULL WHERE id = 5", "DELETE FROM plan WHERE id = 12",
    "INSERT INTO plan VALUES (12, 'c3', 3)", "DELETE FROM fact WHERE owner = 8 OR code = 'c12'",
    "UPDATE plan SET id = 300 WHERE id = 7", "INSERT INTO plan VALUES (7, 'C1', 29)",
    "INSERT INTO fact VALUES (-2, 'c59', 39, 1), (300, 'C300', 300, NULL)",
    "UPDATE fact SET id = 301 WHERE id = 9",
    "UPDATE plan SET code = 'C300', owner = 300 WHERE id = 9",
    "UPDATE plan SET owner = '7' WHERE id = 20", "UPDATE plan SET owner = 'x' WHERE id IN (21, 22)",
    "UPDATE fact SET owner = 'x' WHERE id = 21", "UPDATE owner SET name = 'A' WHERE id = 3",
    "DELETE FROM owner WHERE id = 4", "DELETE FROM plan WHERE id IN (9, 300)",
    "DELETE FROM fact WHERE id IN (300, 301)",
    """
    INSERT INTO fact VALUES (300, 'c11', 12, 3); UPDATE plan SET owner = 12, code = 'c11' WHERE id = 2
    """,
  ]

  @Test(arguments: [
    "SELECT plan.id, fact.id AS fact, amount FROM plan FULL JOIN fact ON fact.owner = plan.owner",
    "SELECT plan.code, fact.code AS other FROM plan FULL JOIN fact ON fact.code = plan.code ORDER BY fact.code, amount DESC",
    """
    SELECT plan.id, fact.id AS fact FROM plan FULL JOIN fact ON fact.owner = plan.owner AND amount > 3
    WHERE plan.id IS NULL OR fact.id IS NULL ORDER BY coalesce(plan.id, fact.id)
    """,
    """
    SELECT coalesce(plan.id, fact.id) AS id, plan.code FROM plan FULL JOIN fact ON fact.id = plan.id
    ORDER BY 1 LIMIT 9
    """,
    """
    SELECT plan.id, fact.id AS fact, (SELECT name FROM owner WHERE owner.id = fact.owner) AS name
    FROM plan FULL JOIN fact ON fact.owner = plan.owner
    """,
    "SELECT a.id AS a, b.id AS b FROM fact a FULL JOIN fact b ON b.amount = a.owner AND a.amount > 2",
    "SELECT owner.*, code, amount FROM owner FULL JOIN fact ON fact.owner = owner.id ORDER BY fact.id, name",
    """
    SELECT f.*, o.name FROM owner o FULL JOIN fact f ON f.owner = o.id AND f.amount > 2
    WHERE o.name IS NULL OR f.id IS NULL ORDER BY f.code, o.id
    """,
    "SELECT code, coalesce(name, 'none') AS n FROM fact FULL JOIN owner ON fact.owner = owner.id ORDER BY n, code",
  ])
  func `are read again, and no others`(sql: String) throws {
    let statistics = try Fixture.following(sql, schema: Self.schema, Self.changes).statistics
    #expect(statistics.refetches <= 2)
    #expect(statistics.maintained > 6)
  }

  @Test(arguments: ["UTF-16le", "UTF-16be"])
  func `are read again where text is held in UTF-16`(encoding: String) throws {
    let sql = """
      SELECT plan.code, fact.code AS other FROM plan FULL JOIN fact ON fact.owner = plan.owner
      ORDER BY coalesce(fact.code, plan.code) COLLATE BINARY
      """
    let schema = "PRAGMA encoding = '\(encoding)';\n" + Self.schema
    let statistics = try Fixture.following(sql, schema: schema, Self.changes).statistics
    #expect(statistics.refetches <= 2)
    #expect(statistics.maintained > 6)
  }

  @Test func `stand in sections by what both sides have`() throws {
    let sql = """
      SELECT plan.id, fact.id AS fact, coalesce(plan.owner, fact.owner) % 4 AS part
      FROM plan FULL JOIN fact ON fact.owner = plan.owner ORDER BY part COLLATE BINARY, plan.id
      """
    let fixture = try Fixture(
      schema: Self.schema,
      queries: .definitions([QueryDefinition(name: "q", form: .sql(sql), section: "part")]))
    let watched = try fixture.open("q")
    for change in Self.changes { try fixture.expect(watched, toShow: sql, after: change) }
    #expect(watched.snapshot.results.shown.count == 5)
    #expect(fixture.refresher.statistics.refetches <= 2)
  }
}
