import Testing

@testable import QueryAnalysis

@Suite struct `Tracking of UNION ALL` {
  private static let followed = [
    "SELECT id, title FROM book UNION ALL SELECT id, country FROM author",
    "SELECT 'b' AS kind, title AS t FROM book UNION ALL SELECT 'a', country FROM author ORDER BY t DESC",
    "SELECT id, title FROM book UNION ALL SELECT id, title FROM book WHERE price > 2 ORDER BY 2, 1",
    "SELECT id, name FROM author UNION ALL SELECT id, title FROM book ORDER BY 2",
    """
    SELECT title, label FROM book LEFT JOIN genre ON genre.code = book.genre UNION ALL
    SELECT was, NULL FROM former UNION ALL SELECT genre, id FROM book ORDER BY 1 LIMIT 4
    """,
    """
    WITH dear AS (SELECT * FROM book WHERE price > 3), few AS (SELECT id, country FROM author)
    SELECT id, title FROM dear UNION ALL SELECT * FROM few;
    """,
    """
    SELECT id, (SELECT count(*) FROM book WHERE authorId = author.id) AS n FROM author UNION ALL
    SELECT id, price FROM book WHERE EXISTS (SELECT 1 FROM author a WHERE a.id = authorId)
    """,
    """
    SELECT book.id, author.name AS n FROM book JOIN author ON author.id = authorId UNION ALL
    SELECT a.id, c.name FROM author a JOIN author c ON c.name = a.name ORDER BY n
    """,
  ]

  @Test(arguments: followed)
  func `is row by row where each SELECT is`(sql: String) throws {
    try expectFollowed(sql)
  }

  @Test func `a declared key tells the SELECTs apart by a literal`() throws {
    func mode(_ sql: String, _ key: [String]) throws -> Tracking.Mode {
      try tracking(sql, key: key).mode
    }
    let kinds = "SELECT 'b' AS kind, id FROM book UNION ALL SELECT 'a', id FROM author"
    #expect(try mode(kinds, ["kind", "id"]) == .incremental)
    #expect(try mode(kinds, ["id"]) == .refetch)
    #expect(try mode(kinds.replacing("'a'", with: "'b'"), ["kind", "id"]) == .refetch)
    #expect(try mode(kinds.replacing("'a'", with: "country"), ["kind", "id"]) == .refetch)
  }

  @Test(arguments: [
    (
      "SELECT id, upper(title) FROM book UNION ALL SELECT id, name FROM author ORDER BY 2",
      "the collation of 2 is not known: write COLLATE"
    ),
    (
      "SELECT id, title FROM book UNION ALL SELECT a, v FROM pair", "pair is a table WITHOUT ROWID"
    ),
    (
      "SELECT id, title FROM book UNION ALL SELECT count(*), genre FROM book GROUP BY genre",
      "a SELECT of UNION ALL has groups, DISTINCT or window functions"
    ),
    (
      "SELECT id FROM book UNION ALL SELECT id FROM author UNION SELECT 1",
      "it joins several SELECTs with UNION"
    ),
    (
      "SELECT book.id FROM book JOIN author a ON a.id = authorId UNION ALL SELECT id FROM author ORDER BY id",
      "UNION ALL orders by id: write the number of a column, or an alias"
    ),
  ])
  func `says why not`(sql: String, reason: String) throws {
    let tracking = try tracking(sql)
    #expect(tracking.mode == .refetch)
    #expect(tracking.reason.hasPrefix(reason), "\(tracking.reason)")
  }
}
