import Testing

@testable import QueryAnalysis

/// Rows that are joined with groups.
@Suite struct `Rows joined with groups` {
  private static let followed = [
    """
    SELECT a.name, s.total FROM author a
    JOIN (SELECT authorId, sum(price) AS total FROM book GROUP BY authorId) AS s ON s.authorId = a.id
    """,
    """
    SELECT a.id, coalesce(s.n, 0) AS n, s.first FROM author a LEFT JOIN (
      SELECT authorId AS author, count(*) AS n, min(title) AS first FROM book WHERE price > 1 GROUP BY 1
      HAVING count(*) > 1) AS s ON a.id = s.author ORDER BY s.n DESC, a.name
    """,
    "SELECT genre.label, n AS books FROM perGenre JOIN genre ON genre.code = perGenre.genre WHERE n > 2 ORDER BY n",
    """
    WITH s(g, total) AS (SELECT genre, count(*) FROM book GROUP BY genre)
    SELECT code, total FROM genre, s WHERE s.g = code AND total > 1 ORDER BY total, code LIMIT 5
    """,
    """
    SELECT b.id, s.dear, t.n FROM book b LEFT JOIN (
      SELECT genre, authorId, max(price) AS dear FROM book GROUP BY genre, authorId
    ) AS s ON s.genre = b.genre AND s.authorId = b.authorId
    JOIN (SELECT authorId, count(*) AS n FROM book GROUP BY authorId) AS t ON t.authorId = b.authorId
    """,
    "SELECT a.id, s.genre FROM book a JOIN (SELECT DISTINCT genre FROM book WHERE price > 2) AS s ON s.genre = a.genre",
    """
    WITH t AS (SELECT authorId, sum(price) AS total, count(*) AS n FROM book GROUP BY authorId HAVING count(*) > 1),
    large AS (SELECT authorId AS id, total * 2 AS twice FROM t WHERE total > 5 AND n BETWEEN 1 AND 9)
    SELECT a.name, twice FROM author a JOIN large ON large.id = a.id
    """,
    "SELECT code, s.n FROM genre LEFT JOIN (SELECT * FROM perGenre AS p WHERE p.n > 2) AS s ON s.genre = code",
    // No index finds the books of a title.
    "SELECT code, s.n FROM genre JOIN (SELECT title, count(*) AS n FROM book GROUP BY title) AS s ON s.title = loose",
  ]

  /// The value of a subquery would be compared under the collation of what stands beside it.
  @Test(arguments: [
    "s.best = a.name", "s.best BETWEEN 'a' AND name", "max(s.best, a.name)",
    "CASE s.best WHEN a.name THEN 1 END",
  ])
  func `is not where it is compared with text under another collation`(expression: String) throws {
    let groups = "(SELECT authorId, max(title) AS best FROM book GROUP BY authorId) AS s"
    try expectRefetch(
      "SELECT a.id, \(expression) AS e FROM author a LEFT JOIN \(groups) ON s.authorId = a.id",
      because: "in s, rows are made to groups")
    try expectFollowed(
      "SELECT a.id, \(expression.replacing("name", with: "country")) AS e, name FROM author a LEFT JOIN \(groups) ON s.authorId = a.id"
    )
  }

  @Test func `is row by row whatever collation columns have that it does not look at`() throws {
    // author.name is NOCASE.
    try expectFollowed(
      """
      SELECT g.code, n FROM genre g LEFT JOIN (
        SELECT country, count(*) AS n FROM author GROUP BY country) AS a ON a.country = g.code
      ORDER BY n DESC
      """)
  }

  @Test(arguments: [
    "SELECT genre, n FROM perGenre ORDER BY n LIMIT 3", "SELECT genre, count(*) AS n FROM perGenre",
    "SELECT max(genre) AS genre, n FROM perGenre GROUP BY n",
    "SELECT p.genre, a.id AS n FROM perGenre AS p JOIN author AS a ON a.id = p.n",
  ])
  func `are not where more is made of the groups than to show them`(sql: String) throws {
    try expectRefetch(
      "SELECT code, s.n FROM genre JOIN (\(sql)) AS s ON s.genre = code", because: "")
  }

  @Test(arguments: followed)
  func `are read again by their keys`(sql: String) throws {
    try expectFollowed(sql)
  }

  @Test(arguments: [
    // Groups that are equal under one affinity or collation are not under another.
    "SELECT a.id, s.n FROM author a JOIN (SELECT genre, count(*) AS n FROM book GROUP BY genre) AS s ON s.genre = a.id",
    "SELECT a.id, s.n FROM author a JOIN (SELECT name, count(*) AS n FROM author GROUP BY name) AS s ON s.name = a.name",
    // Several groups, or rows of one, may be joined to a row.
    "SELECT a.id, s.n FROM author a JOIN (SELECT genre, authorId, count(*) AS n FROM book GROUP BY 1, 2) AS s ON s.authorId = a.id",
    "SELECT a.id, s.n FROM author a JOIN (SELECT authorId, count(*) AS n FROM book GROUP BY 1) AS s ON s.authorId > a.id",
    "SELECT a.id, s.title FROM author a JOIN (SELECT authorId, title FROM book GROUP BY 1) AS s ON s.authorId = a.id",
    "SELECT a.id, s.n FROM author a LEFT JOIN (SELECT authorId, count(*) AS n FROM book GROUP BY 1) AS s ON s.authorId = a.id AND s.n > 1",
    "SELECT * FROM author a JOIN (SELECT authorId, count(*) AS n FROM book GROUP BY 1) AS s ON s.authorId = a.id",
    "SELECT a.id, (SELECT s.n) AS n FROM author a JOIN (SELECT authorId, count(*) AS n FROM book GROUP BY 1) AS s ON s.authorId = a.id",
  ])
  func `are not where a row is not joined with one group by all that it is of`(
    sql: String
  ) throws {
    let tracking = try tracking(sql)
    #expect(tracking.mode == .refetch)
    #expect(
      tracking.reason == "in s, rows are made to groups", "\(tracking.reason)")
  }

  @Test func `are not where the rows are those of UNION`() throws {
    let tracking = try tracking(
      """
      SELECT feed.text, s.n FROM feed JOIN author a ON a.id = feed.at
      JOIN (SELECT authorId, count(*) AS n FROM book GROUP BY authorId) AS s ON s.authorId = a.id
      """)
    #expect(tracking.mode == .refetch)
    #expect(
      tracking.reason == """
        in s, rows are made to groups, and where they are subqueries, they are joined with what UNION makes: \
        join each of its SELECTs with them
        """, "\(tracking.reason)")
  }

  @Test func `are fetched as they were written`() throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(Self.followed[0])))
    #expect(query.sql.contains("GROUP BY authorId) AS s ON s.authorId = a.id"))
    #expect(!query.sql.contains("EXISTS"))
  }

  @Test(arguments: [
    "SELECT title, was, count(*) AS n FROM book JOIN former f ON f.id = authorId GROUP BY title, was",
    "SELECT DISTINCT title, was FROM former f JOIN book ON f.id = authorId",
  ])
  func `have groups by columns of several tables`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    #expect(query.plan?.members != nil, "\(query.tracking.reason)")
    #expect(query.plan?.leads.allSatisfy { $0.isFollowed } == true, "\(query.tracking.reason)")
  }
}
