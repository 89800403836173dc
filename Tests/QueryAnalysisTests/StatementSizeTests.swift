import GRDB
import Testing

@testable import QueryAnalysis

@Suite struct `The size of a statement` {
  private static let views = [
    CommonTable(name: "few", columns: nil, select: "SELECT id AS x FROM player"),
    CommonTable(
      name: "Many", columns: ["x"], select: "SELECT id FROM player WHERE id IN (SELECT x FROM few)"),
  ]

  private func measured(_ sql: String) -> Int? {
    try? StatementSize.measure(sql, views: Self.views)
  }

  @Test(arguments: [
    ("SELECT id FROM player", 2),
    ("SELECT id, name FROM player WHERE id IN (1, 2, 3) ORDER BY name", 16),
    ("SELECT x FROM few", 6), ("SELECT x FROM main.many AS m WHERE x > 1", 33),
    ("VALUES (1), (2)", 7),
  ])
  func `is about that of its text, with views written out`(sql: String, atMost: Int) throws {
    let size = try #require(measured(sql))
    #expect(size >= atMost / 2 && size <= 2 * atMost, "\(size)")
  }

  @Test func `is small for what people write`() throws {
    let sql = """
      WITH RECURSIVE day(d) AS (SELECT '2026-01-01' UNION ALL SELECT date(d, '+1 day') FROM day LIMIT 365),
      sale AS (
        SELECT o.id, o.placed, l.quantity * l.price AS amount, c.country,
          CASE WHEN l.discount > 0 THEN l.quantity * l.price * l.discount ELSE 0 END AS discount
        FROM orders o JOIN line l ON l.orderId = o.id JOIN customer c ON c.id = o.customerId),
      net AS (SELECT id, placed, country, amount - discount AS net, amount FROM sale),
      byDay AS (
        SELECT d, coalesce(sum(net), 0) AS net, coalesce(sum(amount), 0) AS gross,
          CASE WHEN sum(amount) > 0 THEN sum(net) / sum(amount) ELSE 1 END AS share
        FROM day LEFT JOIN net ON date(placed) = d GROUP BY d),
      smooth AS (
        SELECT d, net, gross, share, avg(net) OVER (ORDER BY d ROWS 6 PRECEDING) AS week FROM byDay)
      SELECT s.d, s.net, s.week, s.net - s.week AS trend, p.net AS before,
        CASE WHEN p.net > 0 THEN (s.net - p.net) / p.net ELSE NULL END AS growth
      FROM smooth s LEFT JOIN smooth p ON p.d = date(s.d, '-1 year') ORDER BY s.d
      """
    let size = try #require(measured(sql))
    #expect(size < StatementSize.most / 2)
  }

  /// A chain of CTEs, of which each names the one before by what stands between.
  private static func chain(_ length: Int, _ first: String, _ next: (String) -> String) -> String {
    let tables = (1...length).map { ", a\($0) AS (\(next("a\($0 - 1)")))" }.joined()
    return "WITH a0 AS (\(first))\(tables) SELECT * FROM a\(length)"
  }

  /// What would take SQLite gigabytes to prepare.
  private static let huge = [
    chain(40, "SELECT 1 AS x") { "SELECT x FROM \($0) WHERE x IN (SELECT x FROM \($0))" },
    chain(40, "SELECT 1 AS x") { "SELECT x FROM \($0) WHERE x IN \($0)" },
    chain(40, "SELECT 1 AS x") { "SELECT * FROM \($0) UNION ALL SELECT * FROM \($0)" },
    chain(40, "SELECT x FROM few") { "SELECT a.x FROM \($0) a, \($0) b" },
    chain(40, "SELECT x FROM few") { "SELECT a.x FROM (\($0) a JOIN \($0) b USING (x))" },
    chain(40, "SELECT id AS x FROM player") { "SELECT x + x AS x FROM \($0)" },
    chain(40, "SELECT id AS x FROM player") { "SELECT x + x x FROM \($0)" },
    chain(40, "SELECT id AS x FROM player") { "SELECT *, x + x AS x FROM (SELECT x FROM \($0))" },
    chain(40, "SELECT id AS x FROM player") { "SELECT (SELECT x + x) AS x FROM \($0)" },
    chain(40, "SELECT id AS x FROM player") { "SELECT \($0).x + \($0).x AS [x] FROM \($0)" },
    chain(40, "SELECT id AS x FROM player") {
      "SELECT y || y AS x FROM (WITH b(y) AS (SELECT x FROM \($0)) SELECT y FROM b)"
    },
    // SQLite calls a column without AS by its text.
    chain(40, "SELECT id AS x FROM player") {
      "SELECT \"x+x\" AS x FROM (SELECT x+x FROM \($0))"
    },
    nested(40), sums(999),
  ]

  private static func nested(_ depth: Int) -> String {
    let opening = String(repeating: "SELECT x + x AS x FROM (", count: depth)
    return "\(opening)SELECT id AS x FROM player\(String(repeating: ")", count: depth))"
  }

  private static func sums(_ length: Int) -> String {
    let (first, second) = (
      Array(repeating: "id", count: length), Array(repeating: "x", count: length)
    )
    return "SELECT \(first.joined(separator: "+")) AS x FROM player "
      + "WHERE \(second.joined(separator: "+"))"
  }

  @Test(arguments: huge.indices)
  func `is told to be too large without writing it out`(index: Int) {
    let sql = Self.huge[index]
    #expect(measured(sql) == nil, "\(sql.prefix(200))")
  }

  @Test func `is only looked at where somebody explores`() throws {
    try DatabaseQueue().write { db in
      try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)")
      let sql = Self.chain(9, "SELECT id AS x FROM player") {
        "SELECT x FROM \($0) WHERE x IN (SELECT x FROM \($0))"
      }
      var definition = QueryDefinition(name: "q", form: .sql(sql))
      let query = try Query.analyzed(definition, in: db)
      #expect(query.tracking.mode == .refetch)
      #expect(query.tracking.reason.hasPrefix("it is too large to be analysed: "))
      definition.isExplored = true
      let refused = #expect(throws: QueryProblems.self) { try Query.analyzed(definition, in: db) }
      let message = try #require(refused?.problems.first?.message)
      #expect(message.hasPrefix("it is too large to be explored: "))
    }
  }
}
