import OrderedResults
import Testing

@testable import QueryAnalysis

@Suite struct `Tracking of groups` {
  private static let overGroups = [
    "SELECT * FROM perGenre", "SELECT n FROM perGenre WHERE n > 1 ORDER BY n DESC, genre",
    "SELECT genre || ': ' || n AS text FROM perGenre AS p WHERE p.genre <> 'x'",
    "SELECT * FROM (SELECT * FROM (SELECT * FROM perGenre WHERE n > 1) WHERE genre > 'g1') AS s",
    "SELECT * FROM (SELECT DISTINCT genre FROM book) AS s ORDER BY 1 LIMIT 2",
    "WITH c(g, n) AS (SELECT genre, count(*) FROM book GROUP BY 1) SELECT g FROM c WHERE n BETWEEN 1 AND 5",
    "SELECT n FROM (SELECT count(*) AS n FROM book GROUP BY genre HAVING min(price) < 3)",
    "SELECT upper(g) AS u FROM (SELECT genre g, max(title) t FROM book GROUP BY g) WHERE t > 'a' ORDER BY u",
    """
    SELECT name, books FROM (
      SELECT a.name, count(b.id) AS books FROM author a LEFT JOIN book b ON authorId = a.id
      GROUP BY a.id) WHERE books > 0 ORDER BY books DESC
    """,
  ]

  @Test(arguments: overGroups)
  func `is row by row where a SELECT shows the groups of another`(sql: String) throws {
    try expectFollowed(sql)
  }

  private static let expressions = [
    "SELECT substr(title, 1, 1) AS initial, count(*) AS n FROM book GROUP BY substr(title, 1, 1)",
    "SELECT substr(title, 1, 1) AS i, count(*) AS n FROM book GROUP BY i ORDER BY n, i",
    "SELECT count(*) n, upper(SUBSTR(title,1,1)) u FROM book GROUP BY substr(title, 1, 1) ORDER BY 2",
    "SELECT DISTINCT substr(title, 1, 1) AS initial FROM book WHERE price > 1",
    """
    SELECT authorId, CASE WHEN price > 2 THEN 'dear' ELSE 'cheap' END AS kind, count(*) AS n
    FROM book GROUP BY authorId, 2 HAVING kind <> 'x' ORDER BY kind, authorId
    """,
    "SELECT n FROM (SELECT substr(title, 1, 1) AS i, count(*) AS n FROM book GROUP BY i) WHERE i > ''",
    "SELECT a.id, lower(a.name) AS l, count(*) AS n FROM author a GROUP BY a.id, lower(a.name)",
  ]

  @Test(arguments: expressions)
  func `is row by row where an index finds the value of an expression`(sql: String) throws {
    try expectFollowed(sql)
  }

  private static let inOrder = [
    "SELECT name, count(*) AS n FROM author GROUP BY name",
    "SELECT price, count(*) AS n FROM book GROUP BY price",
    "SELECT upper(name) AS u, count(*) AS n FROM author a GROUP BY name ORDER BY n DESC",
    "SELECT genre, group_concat(title, ', ') AS titles FROM book GROUP BY genre ORDER BY titles",
    "SELECT genre, json_group_array(id) AS ids FROM book WHERE price > 1 GROUP BY genre",
    """
    SELECT a.id, a.name, group_concat(b.title) AS titles FROM author a
    LEFT JOIN book b ON b.authorId = a.id GROUP BY a.id
    """,
  ]

  @Test(arguments: inOrder)
  func `is row by row where one group has the order that it has among all`(sql: String) throws {
    try expectFollowed(sql)
  }

  @Test func `what a collation takes for equal is one group`() throws {
    let sql = "SELECT name, count(*) AS n FROM author GROUP BY name"
    let plan = try #require(analyzed(QueryDefinition(name: "q", form: .sql(sql))).plan)
    #expect(plan.collations == [.noCase])
  }

  @Test(arguments: [
    "SELECT name FROM author GROUP BY name ORDER BY name DESC", "SELECT DISTINCT name FROM author",
    "SELECT country, group_concat(name) AS names FROM author GROUP BY country",
    "SELECT * FROM (SELECT name, count(*) AS n FROM author GROUP BY name) AS s",
    "SELECT b.id, group_concat(a.id) AS i FROM book b JOIN author a ON a.id > b.id GROUP BY b.id",
  ])
  func `is not where that order may be another`(sql: String) throws {
    #expect(try tracking(sql).mode == .refetch)
  }

  @Test(arguments: [
    "substr(title, 1)", "CAST(price AS TEXT)", "a.title IS NULL OR price", "a || b | c",
    "(length(title))", "CASE price WHEN 1 THEN 'x' ELSE CASE WHEN 1 THEN NULL END END", "NOT price",
    "strftime('%Y', title)", "price BETWEEN 1 AND 2 + 0.5", "price > 2", "a <> -b", "a + b >= 0.5",
    "(a < b)",
  ])
  func `values look the same where they are equal`(expression: String) {
    #expect(SQLTokens.tokens(of: expression)[...].isExactValue)
  }

  @Test(arguments: [
    "price + 1", "-price", "abs(price)", "CAST(price AS REAL)", "CAST(price AS NUMERIC)",
    "CASE WHEN price = 1 THEN price END", "CASE WHEN 1 THEN 1.0 END", "title -> '$.x'",
    "CASE WHEN 1 IS 1 THEN 1 END + 0.5", "coalesce(price, 1)", "a || b + 1", "1.0", ":p",
    "length(a) + length(b)", "round(price)", "title ->> '$.x'", "a << 1", "1 >> a",
  ])
  func `values may look different though they are equal`(expression: String) {
    #expect(!SQLTokens.tokens(of: expression)[...].isExactValue)
  }

  @Test func `a declared view of groups has their key`() throws {
    let query = try analyzed(
      QueryDefinition(
        name: "q", form: .declared(.init(table: "perGenre", predicate: "n > 1", order: ["n"])),
        section: "substr(genre, 1, 1)"))
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    #expect(query.layout.key == [0])
  }

  @Test func `a column that names a group's own is its key`() throws {
    let query = try analyzed(
      QueryDefinition(name: "q", form: .sql("SELECT n, genre AS g FROM perGenre ORDER BY n")))
    #expect(query.layout.key == [1])
    let hidden = try analyzed(QueryDefinition(name: "q", form: .sql("SELECT n FROM perGenre")))
    #expect(hidden.layout.key == [1] && hidden.layout.columns == ["n"])
  }

  @Test(arguments: [
    "SELECT genre, title, price FROM book GROUP BY genre",
    "SELECT genre, title, max(id) AS last FROM book GROUP BY genre ORDER BY last DESC",
    "SELECT a.id, a.name, b.title, min(b.id) AS first FROM author a LEFT JOIN book b ON b.authorId = a.id GROUP BY a.id",
    "SELECT code, v, count(*) AS n FROM loose GROUP BY code",
    "SELECT a.id, group_concat(p.b) AS bs FROM author a LEFT JOIN pair p ON p.a = a.id GROUP BY a.id",
  ])
  func `shows what the first row of a group has, where their order is certain`(sql: String) throws {
    try expectFollowed(sql)
  }

  @Test(arguments: [
    "SELECT DISTINCT price FROM book", "SELECT DISTINCT price + 1 AS p FROM book",
    "SELECT value, count(*) AS n FROM book, json_each(json_array(title)) GROUP BY value",
    "SELECT n FROM (SELECT price, count(*) AS n FROM book GROUP BY price)",
  ])
  func `is row by row as long as there are no 1 and 1.0`(sql: String) throws {
    try expectFollowed(sql)
  }

  @Test(arguments: [
    "SELECT b.genre, g.label, count(*) AS n FROM book b JOIN genre g ON g.code = b.genre GROUP BY b.genre",
    "SELECT authorId, name, sum(b.id) AS s FROM book b JOIN author a ON a.id = b.authorId GROUP BY authorId",
  ])
  func `shows rows that what it is grouped by identifies`(sql: String) throws {
    try expectFollowed(sql)
  }

  @Test func `does not where a condition decides about each row`() throws {
    try expectRefetch(
      """
      SELECT b.genre, g.label, count(*) AS n
      FROM book b LEFT JOIN genre g ON g.code = b.genre AND g.loose = b.title GROUP BY b.genre
      ORDER BY b.genre DESC
      """,
      because: "label may have several values in a group: g.label: it shows that of the first row")
  }

  @Test(arguments: [
    (
      "SELECT substr(title, 1, 1) || title AS t FROM book GROUP BY substr(title, 1, 1)",
      "title may have several values in a group: substr(title, 1, 1) || title"
    ),
    (
      "SELECT 'g' || genre || price AS t FROM book GROUP BY 'g' || genre",
      "genre may have several values in a group: 'g' || genre || price"
    ),
    (
      "SELECT upper(title) AS t FROM book GROUP BY lower(t)",
      "it groups by more than a row: lower(t) looks at t"
    ),
    (
      "SELECT genre COLLATE NOCASE AS g FROM book GROUP BY g",
      "it groups by genre COLLATE NOCASE: which of the equal values a group shows is not certain"
    ),
    ("SELECT id, n FROM book b JOIN perGenre p USING (genre)", "in p, rows are made to groups"),
    (
      "SELECT * FROM (SELECT genre, count(*) AS n FROM book GROUP BY genre LIMIT 3) AS s",
      "in s, there is LIMIT"
    ),
    ("SELECT n, count(*) AS c FROM perGenre GROUP BY n", "in perGenre, rows are made to groups"),
    (
      "SELECT * FROM (SELECT genre, count(*) AS n FROM book GROUP BY genre ORDER BY n) AS s",
      "its order is that of a subquery: write ORDER BY outside of it"
    ),
    (
      "SELECT genre FROM perGenre WHERE n = (SELECT max(id) FROM author WHERE name > genre)",
      "it has a subquery: n = (SELECT max(id) FROM author WHERE name > genre)"
    ),
    (
      "SELECT * FROM (SELECT genre, price FROM book GROUP BY genre) AS s",
      "price may have several values in a group: price"
    ),
  ])
  func `is not where groups are more than that`(sql: String, reason: String) throws {
    let tracking = try tracking(sql)
    #expect(tracking.mode == .refetch && tracking.reason.hasPrefix(reason), "\(tracking.reason)")
  }
}
