import Testing

@testable import QueryAnalysis

@Suite struct `The order by section` {
  @Test(arguments: [
    ("SELECT * FROM t", "SELECT * FROM t\nORDER BY (team), (team) COLLATE BINARY"),
    (
      "SELECT * FROM t ORDER BY name DESC, id",
      "SELECT * FROM t ORDER BY (team), (team) COLLATE BINARY, name DESC, id"
    ),
    (
      "SELECT * FROM t ORDER BY t.\"Team\" DESC, max(a, b)",
      "SELECT * FROM t ORDER BY t.\"Team\" DESC, (team) COLLATE BINARY, max(a, b)"
    ),
    (
      "SELECT (SELECT a ORDER BY b LIMIT 1) FROM t WHERE x IN (SELECT 1 UNION SELECT 2)",
      """
      SELECT (SELECT a ORDER BY b LIMIT 1) FROM t WHERE x IN (SELECT 1 UNION SELECT 2)
      ORDER BY (team), (team) COLLATE BINARY
      """
    ),
    (
      "WITH w AS (SELECT 1) SELECT DISTINCT * FROM t, w ORDER BY name",
      "WITH w AS (SELECT 1) SELECT DISTINCT * FROM t, w "
        + "ORDER BY (team), (team) COLLATE BINARY, name"
    ),
  ])
  func `comes first`(sql: String, expected: String) {
    #expect(SectionOrder.orderingBySection(sql, "team") == expected)
  }

  @Test(arguments: ["team -- the first of all", "team DESC /* LIMIT */"])
  func `is not lost in a comment`(order: String) {
    let sql = SectionOrder.orderingBySection("SELECT * FROM t ORDER BY \(order)", "team")
    #expect(SQLTokens.tokens(of: sql).contains { $0.isWord("BINARY") })
  }

  @Test(arguments: [
    "SELECT * FROM t ORDER BY name LIMIT 3", "SELECT * FROM t UNION ALL SELECT * FROM u",
    "SELECT * FROM t EXCEPT SELECT * FROM u ORDER BY 1",
  ])
  func `is not put where the order decides which records there are`(sql: String) {
    #expect(SectionOrder.orderingBySection(sql, "team") == sql)
  }
}
