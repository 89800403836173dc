import Testing

@testable import QueryAnalysis

@Suite struct `Tracking of subqueries` {
  private static let followed = [
    "SELECT id FROM book WHERE id IN (SELECT id FROM author)",
    "SELECT id, (SELECT count(*) FROM book WHERE authorId = author.id) AS n FROM author ORDER BY n",
    "SELECT id, coalesce((SELECT max(b.price) FROM book b WHERE b.authorId = a.id), 0) AS p FROM author a",
    """
    SELECT id, (SELECT title FROM book WHERE authorId = author.id ORDER BY price DESC, id LIMIT 1) AS t
    FROM author
    """,
    "SELECT title, (SELECT name FROM author WHERE id = authorId) AS name FROM book ORDER BY name, title",
    "SELECT name FROM author WHERE NOT EXISTS (SELECT 1 FROM book WHERE authorId = author.id)",
    "SELECT b.id FROM book b WHERE EXISTS (SELECT * FROM author WHERE id = authorId AND name > 'a1')",
    """
    SELECT id FROM author WHERE name = 'a1' OR id IN (SELECT authorId FROM book WHERE genre = 'g1')
    """,
    """
    SELECT name FROM author WHERE id IN (
      SELECT authorId FROM book WHERE genre IN (SELECT code FROM genre WHERE label > 'l1'))
    """,
    "SELECT id FROM book WHERE id NOT IN (SELECT id FROM author WHERE country > 'x')",
    "SELECT id FROM author WHERE id NOT IN (SELECT authorId FROM book WHERE authorId IS NOT NULL)",
    "SELECT id FROM author WHERE id NOT IN (SELECT b.authorId FROM book b WHERE price = 2 AND 1 < authorId)",
    "SELECT id FROM author WHERE id NOT IN (SELECT authorId FROM book WHERE (book.authorId NOTNULL) AND genre = 'g1')",
    """
    SELECT id FROM author WHERE id IN (
      SELECT authorId FROM book WHERE genre = 'g1' UNION SELECT authorId FROM book WHERE price = 2)
    """,
    "SELECT id FROM book WHERE genre IN codes AND id NOT IN (SELECT a.id FROM author a WHERE 'x' IN main.codes)",
    "WITH c AS (SELECT authorId FROM book WHERE genre = 'g1') SELECT id, name FROM author WHERE id IN c",
    "WITH c AS (SELECT authorId FROM book) SELECT id FROM author WHERE id IN c UNION SELECT id FROM former",
    "SELECT id FROM book WHERE genre IN (SELECT DISTINCT code FROM genre WHERE label <> 'x')",
    """
    SELECT a.id, b.id AS book FROM author a JOIN book b ON b.authorId = a.id
    WHERE EXISTS (SELECT 1 FROM book a WHERE a.authorId = b.authorId AND a.genre = 'g2')
    """,
    """
    SELECT genre, count(*) AS n FROM book WHERE authorId IN (SELECT id FROM author)
    GROUP BY genre
    """,
    """
    SELECT author.id, count(former.id) AS n,
      (SELECT max(b.id) FROM book b WHERE b.authorId = author.id) AS m
    FROM author LEFT JOIN former ON former.id = author.id GROUP BY author.id
    """,
    """
    SELECT author.id, count(book.id) AS n, (SELECT max(id) FROM book WHERE authorId = author.id) AS m
    FROM author LEFT JOIN book ON book.authorId = author.id GROUP BY author.id
    """,
    """
    SELECT authorId, count(*) AS n, (SELECT max(b.id) FROM book b WHERE b.authorId = book.authorId) AS m
    FROM book GROUP BY authorId
    """,
    "SELECT id FROM book ORDER BY (SELECT name FROM author WHERE id = authorId), title LIMIT 4",
    "SELECT id FROM book WHERE id IN (SELECT value FROM json_each('[1, 2]'))",
    "SELECT id FROM book WHERE genre NOT IN (SELECT j.value FROM json_each('[\"g1\"]') AS j WHERE j.value > '')",
    "SELECT id FROM book WHERE EXISTS (SELECT 1 FROM json_each(json_array(book.title)) WHERE value = 'a1')",
    "SELECT id, (SELECT value FROM json_each(json_array(title))) AS first FROM book",
    """
    SELECT id FROM author WHERE EXISTS (
      SELECT 1 FROM book JOIN json_each(json_array(book.title)) AS tag ON tag.value = author.name
      WHERE book.authorId = author.id)
    """,
    """
    SELECT id FROM author WHERE EXISTS (
      SELECT 1 FROM book JOIN former USING (id) WHERE book.authorId = author.id)
    """,
    """
    SELECT id FROM author WHERE EXISTS (
      SELECT 1 FROM book NATURAL JOIN former WHERE book.authorId = author.id)
    """,
  ]

  /// In views, in subqueries of FROM, in ON, and of tables of WITH.
  private static let nested = [
    "SELECT * FROM ranked ORDER BY rank DESC, name, id",
    "SELECT id FROM ranked WHERE rank > 1",
    "SELECT * FROM written ORDER BY name, id",
    "SELECT b.id, w.name FROM book b LEFT JOIN written w ON w.id = b.authorId",
    "SELECT b.id, r.name FROM book b LEFT JOIN ranked r ON r.id = b.authorId AND r.rank > 2",
    """
    SELECT id FROM (
      SELECT id FROM book WHERE NOT EXISTS (SELECT 1 FROM former WHERE former.id = book.id)) AS s
    """,
    """
    SELECT b.id, a.name FROM book b LEFT JOIN author a
    ON a.id = b.authorId AND EXISTS (SELECT 1 FROM former WHERE former.id = b.id)
    """,
    """
    SELECT id FROM author WHERE EXISTS (
      SELECT 1 FROM book JOIN genre ON code = genre AND authorId IN (SELECT id FROM author)
      WHERE authorId = author.id)
    """,
    "SELECT id FROM book WHERE authorId IN (SELECT id FROM ranked WHERE rank > 1)",
    "WITH few AS (SELECT id FROM author) SELECT b.id FROM book b WHERE authorId IN (SELECT id FROM few)",
    """
    WITH few(x) AS (SELECT id FROM author WHERE name > 'a'), fewer AS (SELECT x FROM few WHERE x < 9)
    SELECT id, (SELECT count(*) FROM fewer WHERE x = authorId) AS n FROM book
    WHERE authorId IN (SELECT x FROM few)
    """,
    "SELECT id FROM author WHERE id IN (SELECT authorId FROM book WHERE authorId = author.id LIMIT 1)",
  ]

  /// In the fields, HAVING and ORDER BY of groups, and of a view or a subquery that makes them.
  private static let besideGroups = [
    """
    SELECT genre, count(*) AS n, (SELECT label FROM genre g WHERE g.code = book.genre) AS label
    FROM book GROUP BY genre ORDER BY label
    """,
    """
    SELECT genre, count(*) AS n, (SELECT max(price) FROM book b WHERE b.genre = book.genre) AS m
    FROM book GROUP BY genre HAVING EXISTS (SELECT 1 FROM genre WHERE code = book.genre)
    """,
    "SELECT genre FROM book GROUP BY 1 HAVING genre IN (SELECT code FROM genre WHERE label > 'l')",
    """
    SELECT DISTINCT genre FROM book WHERE EXISTS (SELECT 1 FROM author WHERE id = authorId)
    ORDER BY (SELECT label FROM genre WHERE code = book.genre)
    """,
    """
    SELECT genre, n FROM (
      SELECT genre, count(*) AS n, (SELECT label FROM genre g WHERE g.code = book.genre) AS label
      FROM book WHERE authorId IN (SELECT id FROM author WHERE name > 'a') GROUP BY genre)
    WHERE label > 'l' ORDER BY n
    """,
    "SELECT id, count(*) AS n FROM ranked GROUP BY id HAVING max(rank) > 1",
    """
    SELECT authorId, count(*) AS n,
      (SELECT count(*) FROM json_each(json_array(authorId)) WHERE value > authorId) AS c
    FROM book GROUP BY authorId
    """,
  ]

  @Test(arguments: [
    "SELECT id, (SELECT group_concat(title) FROM book WHERE authorId = author.id) AS titles FROM author",
    """
    SELECT id, (
      SELECT json_group_array(json_object('id', b.id, 'genre', g.label))
      FROM book b JOIN genre g ON g.code = b.genre WHERE b.authorId = a.id) AS books
    FROM author a WHERE id > 1 ORDER BY books
    """,
    "SELECT id, (SELECT group_concat(b) FROM pair WHERE a = author.id) AS bs FROM author",
    """
    SELECT id, (
      SELECT group_concat(title, ', ') FROM (
        SELECT title FROM book WHERE authorId = author.id ORDER BY title)) AS titles
    FROM author
    """,
    """
    SELECT a.id, (
      SELECT json_group_array(s.j) FROM (
        SELECT json_object('id', b.id) AS j, price AS p FROM book b WHERE b.authorId = a.id ORDER BY b.title) AS s
      WHERE p > 1) AS books
    FROM author a
    """,
    "SELECT id, (SELECT max(p) FROM (SELECT price + 1 AS p FROM book WHERE authorId = author.id)) AS most FROM author",
    """
    SELECT genre, count(*) AS n, (SELECT group_concat(label) FROM genre g WHERE g.code = book.genre) AS l
    FROM book GROUP BY genre
    """,
  ])
  func `may depend on the order of their rows where SQLite reads these alike`(sql: String) throws {
    try expectFollowed(sql)
  }

  @Test(arguments: [
    (
      "SELECT id, (SELECT group_concat(v) FROM unindexed WHERE bookId > book.id) AS vs FROM book",
      "SQLite would not search by key: SCAN unindexed"
    ),
    (
      "SELECT id FROM author WHERE name IN (SELECT group_concat(title) FROM book WHERE authorId = author.id)",
      "group_concat() depends on the order of a group's rows"
    ),
    (
      "SELECT id, (SELECT group_concat(title) FROM book WHERE authorId = author.id GROUP BY price) AS t FROM author",
      "group_concat() depends on the order of a group's rows"
    ),
    // Outside, the name of the column may be a keyword.
    (
      "SELECT id, (SELECT group_concat(key) FROM (SELECT title AS key FROM book WHERE authorId = author.id)) AS t FROM author",
      "its rowids cannot be shown by a subquery"
    ),
    (
      "SELECT id, (SELECT group_concat(author.name) FROM book) AS t FROM author",
      "a subquery aggregates columns from outside of it"
    ),
  ])
  func `may not where that is not certain`(sql: String, reason: String) throws {
    try expectRefetch(sql, because: reason)
  }

  @Test(arguments: followed + nested + besideGroups)
  func `is row by row where what they read is found by searches`(sql: String) throws {
    try expectFollowed(sql)
  }

  @Test func `what a subquery beside GROUP BY reads is joined to one row of each group`() throws {
    let sql = """
      SELECT genre, (SELECT max(id) FROM book b WHERE b.genre = book.genre) AS last FROM book
      GROUP BY genre
      """
    let plan = try #require(analyzed(QueryDefinition(name: "q", form: .sql(sql))).plan)
    #expect(plan.contributions.map { $0.sql.contains("GROUP BY") } == [false, true])
  }

  /// What is read otherwise, and how a change of it leads to records.
  @Test(arguments: [
    (
      "SELECT id FROM book WHERE genre IN (SELECT code FROM genre WHERE label > 'x')",
      "changed rows of genre lead to rows of book"
    ),
    (
      "SELECT id FROM author WHERE id IN (SELECT authorId FROM book WHERE genre = 'x' ORDER BY price LIMIT 3)",
      "when book changes, the query runs again: what is in the list of id IN (SELECT …) depends on more"
    ),
    (
      "SELECT id FROM book WHERE genre IN (SELECT code FROM genre WHERE code = 'x' UNION SELECT n FROM computed WHERE id = 1)",
      "when genre changes, the query runs again: what genre IN (SELECT …) compares is not certain"
    ),
    (
      "SELECT id FROM author WHERE id NOT IN (SELECT authorId FROM book WHERE genre = 'x')",
      "when book changes, the query runs again: a NULL on either side of id IN (SELECT …) would decide"
    ),
    (
      "SELECT id FROM author WHERE id NOT IN (SELECT authorId FROM book WHERE genre = 'x' AND (authorId > 0 OR price = 1))",
      "when book changes, the query runs again: a NULL on either side of id IN (SELECT …) would decide"
    ),
    (
      "SELECT id FROM book WHERE price > (SELECT n COLLATE BINARY FROM computed WHERE id = 1)",
      "when computed changes, the query runs again: SQLite would not search by key: SCAN book"
    ),
    (
      """
      SELECT id FROM author WHERE EXISTS (
        SELECT 1 FROM book WHERE authorId = author.id AND price = author.country) AND country = 'x'
      """, "changed rows of book lead to rows of author"
    ),
    (
      "SELECT id FROM book WHERE EXISTS (SELECT 1 FROM former WHERE former.id = book.\"from\")",
      """
      when former changes, the query runs again: SQLite would not search by key: SCAN book; what may help: \
      CREATE INDEX book_from ON book ("from")
      """
    ),
    (
      "SELECT id FROM book WHERE authorId + 1 IN (SELECT id FROM author WHERE name = 'x')",
      "when author changes, the query runs again: what stands before IN is no column"
    ),
    (
      "SELECT id FROM book WHERE id IN (SELECT a FROM pair WHERE b = 2)",
      "changed rows of pair lead to rows of book"
    ),
  ])
  func `what a subquery reads leads to records, or says why not`(sql: String, reason: String) throws
  {
    let tracking = try tracking(sql)
    #expect(tracking.mode == .incremental)
    #expect(tracking.reason.contains(reason), "\(tracking.reason)")
  }
  @Test(arguments: [
    "SELECT ranked.id FROM ranked NATURAL JOIN ranked r",
    "SELECT ranked.id FROM ranked JOIN ranked r USING (id, rank)",
    "SELECT id FROM book WHERE EXISTS (SELECT 1 FROM ranked NATURAL JOIN ranked r WHERE id = authorId)",
    "WITH both AS (SELECT ranked.id FROM ranked NATURAL JOIN ranked r) SELECT id FROM both",
  ])
  func `what they find is nothing to be joined by`(sql: String) throws {
    let tracking = try tracking(sql)
    #expect(tracking.mode == .refetch)
    #expect(
      tracking.reason.contains("joins by what a subquery or a search finds, \"rank\": write ON"),
      "\(tracking.reason)")
  }

  @Test func `but it may be compared in ON`() throws {
    try expectFollowed(
      "SELECT ranked.id FROM ranked JOIN ranked r ON r.id = ranked.id AND r.rank = ranked.rank")
  }
}
