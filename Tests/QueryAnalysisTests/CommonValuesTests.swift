import GRDB
import OrderedResults
import Testing

@testable import QueryAnalysis

/// Which subqueries are looked up once for all records.
@Suite struct `Subqueries that are one value` {
  private func values(_ sql: String) throws -> [CommonValue] {
    try analyzed(
      QueryDefinition(name: "q", form: .sql(sql)), ";\nCREATE TABLE untyped (any);"
    ).plan?.values ?? []
  }

  @Test(arguments: [
    ("SELECT id FROM book WHERE price = (SELECT max(price) FROM book)", ["(SELECT max(price) …)"]),
    ("SELECT id FROM book WHERE EXISTS (SELECT 1 FROM unindexed)", ["EXISTS (SELECT 1 …)"]),
    (
      "SELECT id, (SELECT max(price) FROM book) - price AS d FROM book ORDER BY (SELECT max(price) FROM book) - price",
      ["(SELECT max(price) …)"]
    ),
    (
      "SELECT id FROM book WHERE price BETWEEN (SELECT min(v) FROM unindexed) AND (SELECT max(v) FROM unindexed)",
      ["(SELECT min(v) …)", "(SELECT max(v) …)"]
    ),
    (
      "SELECT id FROM book WHERE price = (SELECT max(price) FROM book WHERE id < (SELECT count(*) FROM one))",
      ["(SELECT max(price) …)"]
    ),
    (
      "SELECT genre, count(*) AS n FROM book GROUP BY genre HAVING n > (SELECT count(*) FROM one)",
      ["(SELECT count(*) …)"]
    ),
    (
      "SELECT b.id FROM (SELECT id FROM book WHERE price = (SELECT v FROM unindexed)) AS b",
      ["(SELECT v …)"]
    ),
  ])
  func `are those that look at nothing around them`(sql: String, shown: [String]) throws {
    #expect(try values(sql).map(\.shown) == shown)
  }

  @Test(arguments: [
    // A name of the query's, a table of WITH, what is another value each time, several columns, a list.
    "SELECT id FROM book WHERE price = (SELECT max(v) FROM unindexed WHERE bookId = id)",
    "WITH one AS (SELECT 1 AS v) SELECT id FROM book WHERE price = (SELECT v FROM one)",
    "SELECT id FROM book WHERE price > (SELECT max(v) * random() FROM unindexed)",
    "SELECT id FROM book WHERE (price, id) = (SELECT v, bookId FROM unindexed)",
    // What is followed as a list; what is looked for in one that is of another kind, or of a kind that nobody knows.
    "SELECT id FROM book WHERE authorId IN (SELECT id FROM author WHERE country = 'x')",
    "SELECT id FROM book WHERE title IN (SELECT max(id) FROM author UNION SELECT v FROM one)",
    "SELECT price FROM (SELECT title AS price FROM book) WHERE price IN (SELECT max(id) FROM author)",
    "SELECT id FROM book WHERE price + 1 IN (SELECT max(id) FROM author)",
    "SELECT id FROM book WHERE (id, price) IN (SELECT max(id), 1 FROM author)",
    // Whose affinity, or collation, nobody knows.
    "SELECT id FROM book WHERE price = (SELECT max(v) COLLATE NOCASE FROM unindexed)",
    "SELECT id FROM book WHERE price = (SELECT CAST(max(v) AS TEXT) FROM unindexed)",
    "SELECT id FROM book WHERE price = (SELECT v FROM (SELECT max(v) AS v FROM unindexed))",
    "SELECT id FROM book WHERE price = (SELECT v FROM unindexed UNION SELECT v FROM one)",
  ])
  func `are no others`(sql: String) throws {
    #expect(try values(sql).isEmpty)
  }

  @Test(arguments: [
    "SELECT id FROM book WHERE id IN (SELECT max(id) FROM author)",
    "SELECT id FROM book WHERE authorId NOT IN (SELECT price FROM book WHERE id < 4)",
    "SELECT id FROM book WHERE title IN (SELECT max(v) FROM one)",
    "SELECT id FROM book WHERE id IN (WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n)",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 9) SELECT id FROM book WHERE id IN (SELECT i FROM n)",
  ])
  func `may be lists`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    let plan = try #require(query.plan, "\(query.tracking.reason)")
    #expect(plan.values.map { $0.list != nil } == [true])
    #expect(plan.records.beforeKeys.contains("json_each(:didchange_value_0_)"))
    #expect(!query.sql.contains("json_each") && query.sql.contains("IN ("))
  }

  /// What types columns of the same name have matters of the tables that the query names, by a view too.
  @Test(arguments: [
    ("", 1), ("AND (SELECT count(*) FROM other) > 0", 0), ("AND EXISTS (SELECT 1 FROM seen)", 0),
  ])
  func `are lists of what a column has that the query may read`(condition: String, lists: Int)
    throws
  {
    let more = """
      ;
      CREATE TABLE other (title INTEGER);
      CREATE VIEW seen AS SELECT title AS any FROM other;
      """
    let sql = "SELECT id FROM book WHERE title IN (SELECT max(v) FROM one) \(condition)"
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)), more)
    #expect((query.plan?.values ?? []).count { $0.list != nil } == lists)
  }

  @Test func `stand in the query as they were written`() throws {
    let query = try analyzed(
      QueryDefinition(
        name: "q",
        form: .sql("SELECT id FROM book WHERE title = (SELECT v FROM one) ORDER BY id LIMIT 3")))
    let plan = try #require(query.plan, "\(query.tracking.reason)")
    for sql in [query.sql, plan.window?.sql, plan.window?.short].compactMap(\.self) {
      #expect(sql.contains("title = (SELECT v FROM one)"))
    }
    #expect(plan.records.beforeKeys.contains(":didchange_value_0_"))
    #expect(plan.equality == nil)
    #expect(query.commitCosts.map(\.cost) == [.search, .value])
  }

  @Test func `are given as what they are compared as`() {
    func takes(_ affinity: ColumnAffinity?, _ value: Value) -> Bool {
      CommonValue(
        parameter: "p", text: "", subquery: "", shown: "", tables: [], affinity: affinity, list: nil
      ).takes(value)
    }
    #expect(takes(.integer, .integer(1)) && takes(.numeric, .real(1.5)) && takes(.text, .text("a")))
    #expect(takes(.real, .real(1)) && takes(nil, .text("1")) && takes(.text, .null))
    #expect(!takes(.integer, .text("a")) && !takes(.text, .blob([1])) && !takes(.real, .integer(1)))
    #expect(takes(.blob, .integer(1)))
  }

  @Test(arguments: [
    ("SELECT id FROM book WHERE title = (SELECT any FROM untyped)", true),
    ("SELECT id FROM book WHERE price = (SELECT any FROM untyped)", false),
    ("SELECT id FROM book WHERE price + 1 > (SELECT any FROM untyped) AND title = 'a'", false),
    ("SELECT id, title || (SELECT any FROM untyped) AS t FROM book", false),
    ("SELECT id, title IN ((SELECT any FROM untyped), 'a') AS t FROM book", true),
    ("SELECT id FROM book WHERE title BETWEEN 'a' AND (SELECT any FROM untyped)", true),
    ("SELECT id, CASE title WHEN (SELECT any FROM untyped) THEN 1 END AS t FROM book", true),
    ("SELECT id, CASE (SELECT any FROM untyped) WHEN title THEN 1 END AS t FROM book", true),
    ("SELECT id, title = ((SELECT any FROM untyped)) AS t FROM book", true),
    ("SELECT id, (title, price) = ('a', (SELECT any FROM untyped)) AS t FROM book", true),
    ("SELECT id FROM (SELECT id, (SELECT any FROM untyped) AS t FROM book) WHERE t > 1", true),
    ("SELECT id, (SELECT any FROM untyped) AS t FROM book", false),
    ("SELECT id, (SELECT any FROM untyped) t FROM book WHERE t = title", true),
    ("SELECT id, title IS NOT DISTINCT FROM (SELECT any FROM untyped) AS t FROM book", true),
  ])
  func `are none where numbers without a type may be compared with texts`(sql: String, mayBe: Bool)
    throws
  {
    #expect(try values(sql).isEmpty == mayBe)
  }
}
