import Testing

@testable import QueryAnalysis

/// Tables that SQLite has nothing to search in by, and that have a handful of rows.
@Suite struct `Tables with few rows` {
  private static func schema(tiers: Int) -> String {
    """
    ;
    CREATE TABLE settings (id INTEGER PRIMARY KEY, rate REAL);
    INSERT INTO settings VALUES (1, 2);
    CREATE TABLE tier (id INTEGER PRIMARY KEY, least INTEGER, most INTEGER);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= \(tiers))
      INSERT INTO tier SELECT i, i * 10, i * 10 + 9 FROM n WHERE i <= \(tiers);
    """
  }

  private static let queries = [
    "SELECT book.*, price * rate AS cost FROM book, settings",
    "SELECT b.id, t.id AS tier FROM book AS b JOIN tier AS t ON b.price BETWEEN t.least AND t.most",
    "SELECT b.id, t.id AS tier FROM book AS b LEFT JOIN tier AS t ON t.least <= b.price AND t.most >= b.price ORDER BY title",
    "SELECT id, (SELECT max(id) FROM tier WHERE least <= price) AS tier FROM book",
    "SELECT id, (SELECT t.id FROM tier AS t WHERE least <= price ORDER BY t.least DESC, t.id LIMIT 1) AS tier FROM book",
  ]

  private func query(_ sql: String, tiers: Int) throws -> Query {
    try analyzed(QueryDefinition(name: "q", form: .sql(sql)), Self.schema(tiers: tiers))
  }

  @Test(arguments: queries)
  func `are looked through for each changed row of others`(sql: String) throws {
    let query = try query(sql, tiers: 64)
    let plan = try #require(query.plan, "\(query.tracking.reason)")
    #expect(plan.leads[0].table == "book" && plan.leads[0].isFollowed)
    #expect(
      query.tracking.reason.contains("are looked at, which are few"), "\(query.tracking.reason)")
    #expect(query.cost(ofCommitTo: "book") == .search)
    #expect(query.cost(ofCommitTo: sql.contains("tier") ? "tier" : "settings") == .everything)
  }

  @Test(arguments: queries.dropFirst(), [0, 65])
  func `are not where they have many, or none yet`(sql: String, tiers: Int) throws {
    let query = try query(sql, tiers: tiers)
    #expect(query.plan == nil)
    #expect(
      query.tracking.reason.hasPrefix("SQLite would not search by key"), "\(query.tracking.reason)")
  }

  @Test func `are found by their keys where they can be`() throws {
    let query = try query(
      "SELECT book.*, price * rate AS cost FROM book JOIN settings ON settings.id = 1", tiers: 1)
    #expect(!query.tracking.reason.contains("few"), "\(query.tracking.reason)")
  }
}
