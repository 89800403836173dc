import Testing

@testable import QueryAnalysis

@Suite struct `Queries that run again` {
  @Test(arguments: [
    ("SELECT DISTINCT count(*) FROM book", "it has DISTINCT"),
    (
      "SELECT DISTINCT genre FROM book ORDER BY price",
      "price may have several values in a group: price"
    ),
    (
      "SELECT id FROM book EXCEPT SELECT title FROM book",
      "it joins several SELECTs with EXCEPT: SELECT DISTINCT … WHERE NOT EXISTS (SELECT 1 …) says the same"
    ),
    ("SELECT id FROM book EXCEPT SELECT 1", "it joins several SELECTs with EXCEPT"),
    (
      "SELECT max(id) FROM book EXCEPT SELECT id FROM author",
      "it joins several SELECTs with EXCEPT"
    ),
    ("SELECT max(title) FROM book UNION SELECT code FROM genre", ""),
    (
      "SELECT id FROM book INTERSECT SELECT 1",
      "it joins several SELECTs with INTERSECT: SELECT DISTINCT … WHERE EXISTS (SELECT 1 …) says the same"
    ),
    ("VALUES (1), (2)", "it is no plain SELECT"),
    ("SELECT 1 AS one", "a SELECT reads no table: SELECT 1 AS one"),
    (
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3) SELECT x FROM n",
      "it has WITH RECURSIVE"
    ),
    ("WITH c AS (SELECT 1) SELECT id FROM book", "the query does not read its CTE c"),
    ("SELECT max(id) AS n FROM book HAVING max(id) > 1", "it has HAVING"),
    ("SELECT max(id), title FROM book", "it aggregates nothing"),
    ("SELECT count(*) FROM mixed", "mixed is a table WITHOUT ROWID, whose keys only SQLite"),
    ("SELECT id FROM book WHERE (SELECT 1)", "a SELECT reads no table: SELECT 1"),
    (
      "SELECT id FROM book WHERE price > (SELECT avg(b.price) FROM book AS b WHERE b.id > book.id)",
      "SQLite would not search by key: SEARCH b USING INTEGER PRIMARY KEY (rowid>?)"
    ),
    (
      "SELECT id, (SELECT title FROM book WHERE authorId = author.id) AS t FROM author",
      "several rows of a subquery may match, and which of them is its value is not certain"
    ),
    (
      "SELECT genre, (SELECT max(book.id) FROM author a WHERE a.id = 1) AS n FROM book GROUP BY genre",
      "a subquery aggregates columns from outside of it: max(book.id)"
    ),
    (
      "SELECT genre, (SELECT max(id) FROM author a WHERE a.id + 0 = genre) AS n FROM book GROUP BY genre",
      "a subquery beside GROUP BY compares genre with id, which may change the type"
    ),
    (
      "SELECT genre, genre IN (SELECT authorId FROM book) AS n FROM book GROUP BY genre",
      "a subquery beside GROUP BY compares genre with authorId, which may change the type"
    ),
    (
      """
      SELECT authorId, (SELECT max(b.id) FROM book b WHERE CAST(b.title AS TEXT) = book.authorId) AS n
      FROM book GROUP BY authorId
      """, "a subquery beside GROUP BY compares authorId with CAST(b.title AS TEXT)"
    ),
    (
      "SELECT authorId, (SELECT max(b.id) FROM book b WHERE b.id < book.id) AS n FROM book GROUP BY authorId",
      "id may have several values in a group, and a subquery looks at it"
    ),
    (
      """
      SELECT author.country, (SELECT count(*) FROM book b WHERE b.authorId = author.country) AS n
      FROM author GROUP BY author.id
      """, "a subquery beside GROUP BY compares country with authorId, which may change the type"
    ),
    (
      """
      WITH few AS (SELECT id FROM author)
      SELECT id FROM few WHERE id IN (WITH f AS (SELECT id FROM few) SELECT id FROM f)
      """, "a subquery with a WITH of its own names few, too"
    ),
    (
      "SELECT id, rank FROM ranked GROUP BY id", "a subquery in a view is beside GROUP BY: rank"
    ),
    (
      """
      SELECT id FROM author WHERE EXISTS (
        SELECT 1 FROM (SELECT id FROM book WHERE title = "country") AS b WHERE b.id = author.id)
      """, "\"country\" may be a column around a subquery in FROM"
    ),
    (
      "SELECT id, (SELECT row_number() OVER () FROM author a WHERE a.id = book.id) AS n FROM book",
      "it has a window function"
    ),
    (
      "SELECT id, (SELECT random() FROM author a WHERE a.id = book.id) AS n FROM book",
      "random() need not return the same value again"
    ),
    (
      "SELECT id, random() AS r FROM book",
      "random() need not return the same value again: random() AS r"
    ),
    (
      "SELECT id, [random]() AS r FROM book",
      "random() need not return the same value again: [random]() AS r"
    ),
    (
      "SELECT id FROM book WHERE title < date('now')",
      "date('now') depends on the present time: title < date('now')"
    ),
    (
      "SELECT id FROM book WHERE price < unixepoch('subsec')",
      "unixepoch('subsec') depends on the present time: price < unixepoch('subsec')"
    ),
    (
      "SELECT id, strftime('%s', 'SubSecond') AS s FROM book",
      "strftime('SubSecond') depends on the present time: strftime('%s', 'SubSecond') AS s"
    ),
    (
      "SELECT id FROM book WHERE title < CURRENT_DATE",
      "CURRENT_DATE depends on the present time: title < CURRENT_DATE"
    ),
    (
      "SELECT id, name || '' AS n FROM author ORDER BY n",
      "the collation of name || '' is not known: write COLLATE"
    ),
    (
      "SELECT id, rank() OVER (PARTITION BY name) AS n FROM author ORDER BY n + 1",
      "it orders by more than its row: n + 1"
    ),
    ("SELECT * FROM mixed", "mixed is a table WITHOUT ROWID, whose keys only SQLite can compare"),
    ("SELECT * FROM taken", "all names of taken's rowid are taken by columns"),
    ("SELECT * FROM search_data", "search_data is a virtual table"),
    (
      "SELECT value FROM json_each('[1]')",
      "json_each is a table-valued function, and FROM has no table"
    ),
    (
      "SELECT book.id FROM book NATURAL JOIN json_each(title)",
      "json_each is a table-valued function beside USING, or a NATURAL, RIGHT or FULL JOIN"
    ),
    (
      """
      SELECT a.id, value FROM author a LEFT JOIN book b ON authorId = a.id
      JOIN json_each(coalesce(title, '[]'))
      """, "a LEFT JOIN may leave out what json_each is called with: coalesce(title, '[]')"
    ),
    (
      "SELECT book.id, value FROM book, json_each(title) UNION ALL SELECT id, name FROM author",
      "a SELECT of UNION ALL has a table-valued function, json_each"
    ),
    ("SELECT name FROM sqlite_schema", "sqlite_schema is no ordinary table"),
    ("SELECT id FROM book INDEXED BY bookByGenre WHERE genre = 'x'", "it prescribes an index"),
    ("SELECT id FROM book NOT INDEXED", "it prescribes an index"),
    ("SELECT * FROM cheap", "its order is that of a subquery: write ORDER BY outside of it"),
    (
      "SELECT * FROM (SELECT id FROM book ORDER BY title)",
      "its order is that of a subquery: write ORDER BY outside of it"
    ),
    ("SELECT * FROM (SELECT id FROM book LIMIT 3) AS s", "in s, there is LIMIT"),
    (
      "SELECT id FROM book, (SELECT DISTINCT genre AS g FROM book) AS s WHERE g > genre",
      "in s, DISTINCT makes one record of several rows"
    ),
    (
      "SELECT * FROM (SELECT id, random() AS r FROM book) AS s",
      "random() need not return the same value again: random() AS r"
    ),
    (
      """
      SELECT id, (SELECT genre.label FROM genre JOIN json_each(json_array(book.genre)) AS tag
        ON genre.code = tag.value) AS g FROM book
      """, "several rows of a subquery may match"
    ),
    ("SELECT cid FROM pragma_table_info('book')", "pragma_table_info is a table-valued function"),
    (
      "SELECT a.id FROM (author a JOIN book b ON a.id = authorId)",
      "FROM has parentheses around something else than a SELECT"
    ),
    (
      "SELECT author.id, v FROM author LEFT JOIN unindexed ON v = name",
      """
      SQLite would not search by key: SCAN unindexed; what may help: CREATE INDEX unindexed_v ON \
      unindexed (v)
      """
    ),
    (
      "SELECT id FROM author WHERE EXISTS (SELECT 1 FROM unindexed u WHERE u.v = author.name)",
      """
      SQLite would not search by key: SCAN u; what may help: CREATE INDEX unindexed_v ON unindexed (v)
      """
    ),
    (
      "SELECT id FROM book, (SELECT 1 AS one)",
      "in a subquery, a SELECT reads no table: SELECT 1 AS one"
    ),
    (
      "SELECT id FROM book WHERE genre NOT IN one", "SQLite would not search by key: SCAN one"
    ),
    (
      "SELECT id FROM book WHERE genre IN main.one",
      "SQLite would not search by key: SCAN main.one; what may help: CREATE INDEX one_v ON one (v)"
    ),
    ("SELECT id FROM book ORDER BY 0x1", "it orders by the number 0x1"),
    (
      "SELECT DISTINCT name FROM author",
      "it groups by name under the collation NOCASE: which of the equal values a group shows is not certain"
    ),
    (
      "SELECT genre, title FROM book GROUP BY genre ORDER BY genre DESC",
      "title may have several values in a group: title: it shows that of the first row"
    ),
    (
      "SELECT v, bookId FROM unindexed GROUP BY v",
      "bookId may have several values in a group: bookId; SQLite would not search by key: SCAN unindexed"
    ),
    (
      "SELECT genre, group_concat(title) AS t FROM book GROUP BY genre ORDER BY genre DESC",
      "it depends on the order of a group's rows, which is not certain: an index on what it groups by"
    ),
    (
      "SELECT a.name, b.id FROM author a RIGHT JOIN (SELECT * FROM book) b ON authorId = a.id",
      "it has a RIGHT JOIN of a view or a subquery: write LEFT JOIN"
    ),
    (
      "SELECT b.genre, count(*) AS n FROM author a LEFT JOIN book b ON authorId = a.id GROUP BY b.genre",
      "it groups by b.genre, which a LEFT JOIN may leave out"
    ),
  ])
  func `say why`(sql: String, reason: String) throws {
    try expectRefetch(sql, because: reason)
  }

  @Test(arguments: [
    ("author a FULL JOIN book b USING (id)", "it has a FULL JOIN and USING: write ON"),
    ("author a NATURAL FULL JOIN book b", "it has a FULL JOIN and a NATURAL one: write ON"),
    (
      "author a FULL JOIN book b ON authorId = a.id JOIN former f ON f.id = b.id",
      "it has a FULL JOIN of more than two tables"
    ),
    (
      "author a JOIN former f ON f.id = a.id RIGHT JOIN book b ON authorId = a.id",
      "it has a RIGHT JOIN of several tables: begin with its right side, and LEFT JOIN them"
    ),
    ("author a RIGHT JOIN book b USING (id)", "it has a RIGHT JOIN and USING: write ON"),
    ("author a NATURAL RIGHT JOIN book b", "it has a RIGHT JOIN and a NATURAL one: write ON"),
    (
      "author a RIGHT JOIN book b ON authorId = a.id JOIN former USING (id)",
      "it has a RIGHT JOIN and USING: write ON"
    ),
  ])
  func `joins that keep rows of both sides, or mix them, are refused`(
    from: String, reason: String
  ) throws {
    #expect {
      try SelectParser.parse("SELECT 1 FROM \(from)")
    } throws: {
      ($0 as? NotIncremental)?.reason.hasPrefix(reason) == true
    }
  }
}
