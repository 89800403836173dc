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

  @Test func `a column that names a group's own is its key`() throws {
    let query = try analyzed(
      QueryDefinition(name: "q", form: .sql("SELECT n, genre AS g FROM perGenre ORDER BY n")))
    #expect(query.layout.key == [1])
    let hidden = try analyzed(QueryDefinition(name: "q", form: .sql("SELECT n FROM perGenre")))
    #expect(hidden.layout.key == [1] && hidden.layout.columns == ["n"])
  }

  @Test(arguments: [
    ("SELECT b.id, n FROM book b JOIN perGenre p ON p.genre = b.genre", "in p, rows are made to groups"),
    (
      "SELECT * FROM (SELECT genre, count(*) AS n FROM book GROUP BY genre LIMIT 3) AS s",
      "in s, there is LIMIT"
    ),
    ("SELECT n, count(*) AS c FROM perGenre GROUP BY n", "in perGenre, rows are made to groups"),
    (
      "SELECT * FROM (SELECT title, count(*) AS n FROM book GROUP BY title) AS s",
      "SQLite would not search by key: SCAN book"
    ),
    (
      "SELECT * FROM (SELECT genre, count(*) AS n FROM book GROUP BY genre ORDER BY n) AS s",
      "its order is that of a subquery: write ORDER BY outside of it"
    ),
    (
      "SELECT genre FROM perGenre WHERE n = (SELECT max(id) FROM author)",
      "it has a subquery: n = (SELECT max(id) FROM author)"
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
