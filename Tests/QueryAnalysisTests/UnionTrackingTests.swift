import Testing

@testable import QueryAnalysis

@Suite struct `Tracking of UNION ALL and UNION` {
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
    """
    SELECT b.id, a.name, b.price AS p FROM book b JOIN author a ON a.id = b.authorId
    UNION ALL SELECT id, name, 1 FROM author ORDER BY name DESC, b.id DESC
    """,
    "SELECT id, title FROM book UNION ALL SELECT a, v FROM pair ORDER BY 1",
    "SELECT a.v, b.b FROM pair a JOIN pair b ON b.a = a.a UNION ALL SELECT title, id FROM book",
    "SELECT genre FROM book UNION SELECT code FROM genre",
    "SELECT id, title AS t FROM book UNION SELECT id, title FROM book ORDER BY t DESC, 1 LIMIT 9",
    "SELECT genre, 'b' AS kind FROM book UNION ALL SELECT was, 'f' FROM former UNION SELECT NULL, 'x' FROM genre",
    """
    SELECT title, country FROM book JOIN author ON author.id = authorId
    UNION SELECT label, loose FROM genre WHERE EXISTS (SELECT 1 FROM book WHERE genre = code) ORDER BY 2
    """,
    "SELECT lower(name) AS n FROM author UNION SELECT 'x' || title FROM book ORDER BY 1",
    "SELECT a, b FROM pair UNION SELECT id, authorId FROM book",
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
    let distinct = kinds.replacing("ALL ", with: "")
    #expect(try mode(distinct, ["kind", "id"]) == .incremental)
    #expect(try mode(distinct, ["kind"]) == .refetch)
    let all = "SELECT genre, title FROM book UNION SELECT code, label FROM genre"
    #expect(try mode(all, ["title", "genre"]) == .incremental)
    #expect(try mode(all, ["genre"]) == .refetch)
  }

  @Test(arguments: [
    (
      "SELECT id, upper(title) FROM book UNION ALL SELECT id, name FROM author ORDER BY 2",
      "the collation of upper(title) is not known: write COLLATE"
    ),
    (
      "SELECT id, title FROM book UNION ALL SELECT v, a FROM mixed",
      "mixed is a table WITHOUT ROWID, whose keys only SQLite can compare"
    ),
    (
      "SELECT id, title FROM book UNION ALL SELECT count(*), genre FROM book GROUP BY genre",
      "a SELECT of UNION ALL has groups, DISTINCT or window functions"
    ),
    (
      "SELECT id FROM book UNION ALL SELECT id FROM author UNION SELECT 1",
      "a SELECT reads no table: SELECT 1"
    ),
    (
      "SELECT id FROM book UNION SELECT id FROM author UNION ALL SELECT id FROM former",
      "UNION ALL adds records to those that UNION made one"
    ),
    ("SELECT id FROM book UNION SELECT price FROM book", "id is a column without a type"),
    ("SELECT price + 1 AS p FROM book UNION SELECT id FROM book", "p is an expression"),
    ("SELECT name FROM author UNION SELECT title FROM book", "name is compared under NOCASE"),
    // A rowid has no collation.
    ("SELECT id FROM former UNION SELECT name FROM author", "id is compared under NOCASE"),
    (
      "SELECT id, 1 AS n FROM book UNION SELECT id, 2.0 FROM former",
      "n is an integer in one SELECT"
    ),
    (
      "SELECT title FROM book UNION SELECT was FROM former ORDER BY 1 COLLATE NOCASE",
      "title is compared under NOCASE"
    ),
    (
      "SELECT genre FROM book UNION SELECT genre FROM perGenre",
      "a SELECT of UNION has groups, DISTINCT or window functions"
    ),
    (
      "SELECT book.id FROM book JOIN author a ON a.id = authorId UNION ALL SELECT id FROM author ORDER BY id",
      "UNION ALL orders by id, which is no column of its first SELECT: write the number of a column, or an alias"
    ),
  ])
  func `says why not`(sql: String, reason: String) throws {
    try expectRefetch(sql, because: reason)
  }

  private static let distributed = [
    "SELECT * FROM feed",
    "SELECT kind, at, text FROM feed WHERE kind = 'book' AND at > 2 ORDER BY at DESC, text",
    "SELECT text FROM feed WHERE at BETWEEN 2 AND 9 ORDER BY length(text), at LIMIT 5 OFFSET 2",
    "SELECT f.text, name FROM feed f JOIN author ON author.id = f.at ORDER BY name, 1",
    "SELECT f.text AS t, author.country FROM feed AS f LEFT JOIN author ON author.id = f.at WHERE f.at < 9",
    "SELECT DISTINCT text FROM feed WHERE at > 1",
    """
    SELECT text FROM feed WHERE EXISTS (SELECT 1 FROM book WHERE authorId = feed.at)
    ORDER BY (SELECT count(*) FROM book WHERE authorId = feed.at)
    """,
    "SELECT t, n + 1 AS m FROM (SELECT title AS t, id AS n FROM book UNION ALL SELECT was, id FROM former) WHERE n > 3",
    """
    WITH dear AS (SELECT * FROM book WHERE price > 2),
    w(x, y) AS (SELECT id, title FROM dear UNION ALL SELECT id, was FROM former ORDER BY 1)
    SELECT y FROM w WHERE x > 2 ORDER BY x
    """,
    "SELECT * FROM (SELECT genre FROM book UNION SELECT code FROM genre ORDER BY 1) ORDER BY genre DESC",
    """
    SELECT genre, upper(genre) AS u, (SELECT max(price) FROM book b WHERE b.genre = g.genre) AS p
    FROM (SELECT genre FROM book UNION SELECT code FROM genre) g WHERE genre > 'g1' ORDER BY length(genre)
    """,
    "SELECT a, v FROM (SELECT a, v FROM pair UNION ALL SELECT id, title FROM book) WHERE a > 3",
  ]

  @Test(arguments: distributed)
  func `is row by row in a view, a CTE and a subquery, too`(sql: String) throws {
    try expectFollowed(sql)
  }

  @Test(arguments: [
    ("SELECT kind, text FROM mix WHERE text > '2'", "text has another type or collation"),
    ("SELECT text FROM mix", ""), ("SELECT n FROM halves", "n is a real number in one SELECT"),
    (
      "SELECT count(*), kind FROM feed GROUP BY kind",
      "in feed, it joins several SELECTs with UNION"
    ),
    (
      "SELECT f.text FROM author LEFT JOIN feed f ON f.at = author.id",
      "what UNION makes is joined by LEFT JOIN"
    ),
    (
      "SELECT f.text FROM feed f JOIN feed g ON g.at = f.at",
      "in f, it joins several SELECTs with UNION"
    ),
    (
      "SELECT text FROM feed UNION ALL SELECT title FROM book",
      "in feed, it joins several SELECTs with UNION"
    ),
    (
      "SELECT * FROM (SELECT id FROM book UNION ALL SELECT id FROM author LIMIT 3)",
      "in didchange source, there is LIMIT"
    ),
    (
      "SELECT * FROM (SELECT id FROM book UNION ALL SELECT id FROM author ORDER BY 1)",
      "its order is that of a subquery"
    ),
    (
      "SELECT genre FROM (SELECT genre, title FROM book UNION SELECT code, label FROM genre)",
      "UNION in a view or a subquery"
    ),
    ("SELECT DISTINCT text FROM feed ORDER BY at", "DISTINCT orders by what it does not show: at"),
    (
      "WITH former AS (SELECT id FROM book) SELECT kind FROM feed JOIN former ON former.id = at",
      "a table of WITH has the name"
    ),
  ])
  func `says why not in a view, a CTE or a subquery`(sql: String, reason: String) throws {
    let tracking = try tracking(sql)
    #expect(tracking.mode == (reason.isEmpty ? .incremental : .refetch))
    #expect(reason.isEmpty || tracking.reason.hasPrefix(reason), "\(tracking.reason)")
  }

  @Test(arguments: [
    (
      "SELECT mix.text, c.id FROM mix JOIN computed c ON c.id = 3",
      "text has another type or collation in one SELECT of UNION than in another, and the query joins it"
    ),
    (
      "SELECT id, v FROM (SELECT id, CAST(price AS REAL) AS v FROM book UNION ALL SELECT id, id FROM author)",
      "v is a real number in one SELECT of UNION, and may not be in another"
    ),
    (
      """
      SELECT id, v FROM (
        SELECT id, (SELECT half FROM halved h WHERE h.id = b.id) AS v FROM book b
        UNION ALL SELECT id, id FROM author)
      """, "v is a real number in one SELECT of UNION, and may not be in another"
    ),
    (
      "SELECT id, v AS x FROM (SELECT id, title AS v FROM book UNION ALL SELECT id, id FROM author) WHERE x > '5'",
      "v has another type or collation in one SELECT of UNION than in another, and the query compares it"
    ),
    (
      "SELECT 0x10 AS x FROM book UNION SELECT half FROM halved",
      "x is an integer in one SELECT and a real number in another"
    ),
    (
      "SELECT replace(title, genre, 'x') AS r FROM book UNION SELECT name FROM every",
      "r is an expression that may be 1 or 1.0"
    ),
    (
      "SELECT price * NOT genre AS r FROM book UNION SELECT id FROM author",
      "r is an expression that may be 1 or 1.0"
    ),
  ])
  func `are not where a value may look otherwise as a whole`(sql: String, reason: String) throws {
    try expectRefetch(sql, because: reason)
  }

  @Test(arguments: [
    "SELECT feed.text, a.id FROM feed JOIN author a ON a.id = feed.at",
    """
    SELECT id, n FROM (
      SELECT id, (SELECT count(*) FROM book WHERE authorId = author.id) AS n FROM author
      UNION ALL SELECT id, 0 FROM book)
    """,
    "SELECT id, v AS x FROM (SELECT id, title AS v FROM book UNION ALL SELECT id, id FROM author) WHERE id > 5",
  ])
  func `are where it does not`(sql: String) throws { try expectFollowed(sql) }

  @Test func `a declared view has its sections and its key`() throws {
    func mode(_ key: [String]?) throws -> Tracking {
      try analyzed(
        QueryDefinition(
          name: "q", form: .declared(.init(table: "feed", predicate: "at > 1", order: ["at DESC"])),
          key: key, section: "kind")
      ).tracking
    }
    for key in [nil, ["kind", "at"]] as [[String]?] {
      let tracking = try mode(key)
      #expect(tracking.mode == .incremental, "\(tracking.reason)")
    }
    #expect(try mode(["at"]).mode == .refetch)
  }
}
