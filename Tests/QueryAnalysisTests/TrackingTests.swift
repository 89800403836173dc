import GRDB
import OrderedResults
import Testing

@testable import QueryAnalysis

private let schema = """
  CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, country TEXT);
  CREATE TABLE book (
    id INTEGER PRIMARY KEY, authorId INTEGER, title TEXT, price, genre TEXT, "from" TEXT);
  CREATE INDEX bookByAuthor ON book(authorId);
  CREATE INDEX bookByGenre ON book(genre);
  CREATE INDEX bookByPrice ON book(price);
  CREATE INDEX authorByName ON author(name);
  CREATE TABLE genre (code TEXT PRIMARY KEY NOT NULL, label TEXT, loose TEXT UNIQUE);
  CREATE TABLE pair (a INTEGER, b INTEGER, v, PRIMARY KEY (a, b)) WITHOUT ROWID;
  CREATE TABLE taken (rowid, _rowid_, oid);
  CREATE TABLE former (id INTEGER PRIMARY KEY, was TEXT);
  CREATE TABLE computed (id INTEGER PRIMARY KEY, n, twice AS (n * 2));
  CREATE TABLE falling (id INTEGER PRIMARY KEY DESC, v);
  CREATE TABLE cased (code TEXT COLLATE NOCASE NOT NULL, PRIMARY KEY (code COLLATE BINARY));
  CREATE TABLE one (v TEXT);
  CREATE TABLE loose (code TEXT PRIMARY KEY, v);
  CREATE TABLE unindexed (bookId INTEGER, v TEXT);
  CREATE VIRTUAL TABLE search USING fts5(body);
  CREATE VIEW cheap AS SELECT id, title, price FROM book WHERE price < 3 ORDER BY title;
  CREATE VIEW named(number, label) AS SELECT id, name FROM author;
  CREATE VIEW every(id, name, country) AS SELECT * FROM author;
  CREATE VIEW perGenre AS SELECT genre, count(*) AS n FROM book GROUP BY genre;
  CREATE VIEW signed AS
    SELECT book.id, title, author.name FROM book LEFT JOIN author ON author.id = authorId;
  """

private func analyze(_ definition: QueryDefinition) throws -> Query {
  try DatabaseQueue().write { db in
    try db.execute(sql: schema)
    return try Query.analyzed(definition, in: db)
  }
}

private func tracking(
  _ sql: String, section: String? = nil, key: [String]? = nil, parameters: [String] = []
) throws -> Tracking {
  try analyze(
    QueryDefinition(
      name: "q", form: .sql(sql), key: key, section: section,
      parameters: parameters.map { QueryParameter(name: $0, type: .integer) })
  ).tracking
}

@Suite struct `Tracking of SQL queries` {
  private static let followed =
    [
      "SELECT * FROM book",
      "SELECT ALL b.* FROM main.book AS b WHERE b.price > 1 ORDER BY 2 DESC, title COLLATE RTRIM;",
      "select id, \"from\", 'FROM (' as x from [book] -- WHERE\n where title like 'a;%' /* LIMIT */",
      "SELECT id, price IS NOT DISTINCT FROM 3 AS three FROM book",
      "SELECT b.id, CASE WHEN price > 1 AND genre = 'x' THEN 1 ELSE 2 END AS c FROM book b ORDER BY c",
      "SELECT title FROM book WHERE (id, price) = (1, 2)",
      "SELECT id, upper(title) AS title FROM book ORDER BY lower(title)",
      "SELECT * FROM cheap ORDER BY price",
      "SELECT * FROM named ORDER BY label",
      "SELECT c.title FROM cheap AS c WHERE c.id > 4 ORDER BY c.title",
      "SELECT name FROM every WHERE country = 'x' ORDER BY name",
      "SELECT * FROM signed ORDER BY name",
      "WITH c AS (SELECT * FROM book), d(x) AS MATERIALIZED (SELECT id FROM c) SELECT x FROM d",
      "WITH c AS (SELECT * FROM author), author AS (SELECT id AS i FROM book) SELECT i FROM c",
      "WITH book AS (SELECT id, name FROM author) SELECT * FROM book ORDER BY name",
      "SELECT * FROM (SELECT id, title FROM (SELECT * FROM book WHERE price > 2))",
      "SELECT book.id, name FROM book JOIN author ON author.id = authorId",
      "SELECT book.id, name FROM book, author WHERE author.id = authorId AND country <> 'x'",
      "SELECT book.id, name FROM book LEFT OUTER JOIN author ON authorId = author.id",
      "SELECT book.id, label FROM book LEFT JOIN genre ON genre.code = book.genre",
      "SELECT a.id AS a, b.id AS b FROM author a CROSS JOIN book b ON a.id = b.authorId",
      "SELECT name, title FROM author a JOIN book b ON a.id = b.authorId",
      "SELECT b.id, c.id AS other FROM book b LEFT JOIN book c ON c.id = b.price",
      "SELECT cheap.id, label FROM cheap JOIN named ON number = cheap.id",
      "SELECT book.id, v FROM book LEFT JOIN pair ON a = book.id AND b = 2",
      "SELECT * FROM signed WHERE id > 3 AND title <> 'x'",
      "SELECT s.id, g.label FROM signed s JOIN genre g ON g.loose = s.title",
      "SELECT * FROM author JOIN former USING (id)",
      "SELECT id, twice FROM computed ORDER BY twice",
      "SELECT id, title FROM book ORDER BY (2), (id) DESC",
      "SELECT genre, count(*) price, max(id) FILTER (WHERE price > 1) 'last' FROM book GROUP BY genre",
      "SELECT genre, count(*) AS n, max(id), avg(length(title)) FROM book GROUP BY genre",
      "SELECT count(*) FILTER (WHERE id > 2) AS n FROM book GROUP BY genre HAVING n > 1",
      "SELECT a.id, a.name, count(b.id) AS n FROM author a LEFT JOIN book b ON authorId = a.id "
        + "GROUP BY a.id ORDER BY n DESC, a.name",
      "SELECT genre AS g, count(*) AS n FROM book GROUP BY g",
      "SELECT id FROM book ORDER BY title LIMIT 3",
      "SELECT id FROM book ORDER BY title LIMIT 2, 3",
      "SELECT id FROM book ORDER BY title LIMIT 1 + 1 OFFSET 2 * 2 -- end",
      "SELECT genre, min(price) AS least FROM book GROUP BY genre ORDER BY least LIMIT 2",
      "SELECT DISTINCT genre FROM book ORDER BY genre DESC",
      "SELECT DISTINCT a.* FROM author a JOIN book b ON b.authorId = a.id WHERE b.price > 1",
      "SELECT DISTINCT genre g FROM book WHERE price > 1 ORDER BY g LIMIT 3",
    ] + leftJoins + subqueries

  private static let leftJoins = [
    "SELECT a.id, b.id AS book FROM author a LEFT JOIN book b ON authorId = a.id WHERE b.price > 1",
    "SELECT a.id, b.title AS t FROM author a LEFT JOIN book b ON authorId = a.id WHERE t > 'a3'",
    """
    SELECT a.id, b.id IS NULL lonely FROM author a LEFT JOIN book b ON authorId = a.id WHERE lonely
    """,
    "SELECT a.id FROM author a LEFT JOIN book b ON authorId = a.id WHERE b.id IS NULL OR price > 2",
    "SELECT id FROM signed WHERE name = 'a1'",
  ]

  private static let subqueries = [
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
    """
    SELECT id FROM author WHERE id IN (
      SELECT authorId FROM book WHERE genre = 'g1' UNION SELECT authorId FROM book WHERE price = 2)
    """,
    "SELECT id FROM book WHERE genre IN (SELECT DISTINCT code FROM genre WHERE label <> 'x')",
    """
    SELECT a.id, b.id AS book FROM author a JOIN book b ON b.authorId = a.id
    WHERE EXISTS (SELECT 1 FROM book a WHERE a.authorId = b.authorId AND a.genre = 'g2')
    """,
    """
    SELECT genre, count(*) AS n FROM book WHERE authorId IN (SELECT id FROM author WHERE name > 'a')
    GROUP BY genre
    """,
    "SELECT id FROM book ORDER BY (SELECT name FROM author WHERE id = authorId), title LIMIT 4",
  ]

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
      "SELECT id FROM book WHERE price > (SELECT n FROM computed WHERE id = 1)",
      "when computed changes, the query runs again: SQLite would not search by key: SCAN book"
    ),
    (
      "SELECT id FROM book WHERE authorId + 1 IN (SELECT id FROM author WHERE name = 'x')",
      "when author changes, the query runs again: what stands before IN is no column"
    ),
    (
      "SELECT id FROM book WHERE id IN (SELECT a FROM pair WHERE b = 2)",
      "when pair changes, the query runs again: pair is a table WITHOUT ROWID"
    ),
  ])
  func `what a subquery reads leads to records, or says why not`(sql: String, reason: String) throws
  {
    let tracking = try tracking(sql)
    #expect(tracking.mode == .incremental)
    #expect(tracking.reason.contains(reason), "\(tracking.reason)")
  }

  @Test(arguments: followed)
  func `is row by row where each record can be led back to rows`(sql: String) throws {
    let tracking = try tracking(sql)
    #expect(tracking.mode == .incremental, "\(tracking.reason)")
  }

  @Test(arguments: [
    ("SELECT DISTINCT title FROM book", "SQLite would not search by key: SCAN book"),
    ("SELECT DISTINCT upper(genre) FROM book", "it groups by more than a column: upper(genre)"),
    ("SELECT DISTINCT count(*) FROM book", "DISTINCT makes one record of several groups"),
    (
      "SELECT DISTINCT genre FROM book ORDER BY price",
      "price may have several values in a group: price"
    ),
    ("SELECT id FROM book UNION SELECT id FROM author", "it joins several SELECTs with UNION"),
    ("SELECT id FROM book EXCEPT SELECT 1", "it joins several SELECTs with EXCEPT"),
    ("SELECT id FROM book INTERSECT SELECT 1", "it joins several SELECTs with INTERSECT"),
    ("VALUES (1), (2)", "it is no plain SELECT"),
    ("SELECT 1 AS one", "it reads no table"),
    (
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3) SELECT x FROM n",
      "it has WITH RECURSIVE"
    ),
    ("WITH c AS (SELECT 1) SELECT id FROM book", "the query does not read its CTE c"),
    (
      "SELECT id, row_number() OVER w AS n FROM book WINDOW w AS (ORDER BY id)",
      "it has a WINDOW clause"
    ),
    (
      "SELECT id, row_number() OVER (ORDER BY id) AS n FROM book",
      "it has a window function: row_number() OVER (ORDER BY id) AS n"
    ),
    ("SELECT count(*) AS n FROM book", "count() is an aggregate: count(*) AS n"),
    (#"SELECT "count"(*) AS n FROM book"#, #"count() is an aggregate: "count"(*) AS n"#),
    ("SELECT max(id) AS n FROM book HAVING max(id) > 1", "its record is an aggregate of all rows"),
    ("SELECT id FROM book WHERE (SELECT 1)", "it reads no table"),
    (
      "SELECT id FROM book WHERE price > (SELECT avg(price) FROM book)",
      "SQLite would not search by key: SCAN book"
    ),
    (
      "SELECT id, (SELECT title FROM book WHERE authorId = author.id) AS t FROM author",
      "several rows of a subquery may match, and which of them is its value is not certain"
    ),
    (
      "SELECT id, (SELECT group_concat(title) FROM book WHERE authorId = author.id) AS t FROM author",
      "group_concat() depends on the order of a group's rows"
    ),
    (
      "SELECT genre, (SELECT max(book.id) FROM author a WHERE a.id = 1) AS n FROM book GROUP BY genre",
      "a subquery aggregates columns from outside of it: max(book.id)"
    ),
    (
      "SELECT country, (SELECT count(*) FROM genre g WHERE g.code = country) AS n FROM author GROUP BY country",
      "a subquery stands beside what it groups by"
    ),
    (
      "WITH few AS (SELECT id FROM author) SELECT id FROM few WHERE id IN (SELECT id FROM few)",
      "a subquery names the CTE few"
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
      "'now' depends on the present time: title < date('now')"
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
      "SELECT id, upper(name) AS n FROM author ORDER BY lower(n)",
      "it orders by more than its row: lower(n)"
    ),
    ("SELECT * FROM pair", "pair is a table WITHOUT ROWID"),
    ("SELECT * FROM taken", "all names of taken's rowid are taken by columns"),
    ("SELECT * FROM search", "search is a virtual table"),
    ("SELECT value FROM json_each('[1]')", "json_each is a table-valued function"),
    ("SELECT name FROM sqlite_schema", "sqlite_schema is no ordinary table"),
    ("SELECT id FROM book INDEXED BY bookByGenre WHERE genre = 'x'", "it prescribes an index"),
    ("SELECT id FROM book NOT INDEXED", "it prescribes an index"),
    ("SELECT * FROM cheap", "its order is that of a subquery: write ORDER BY outside of it"),
    (
      "SELECT * FROM (SELECT id FROM book ORDER BY title)",
      "its order is that of a subquery: write ORDER BY outside of it"
    ),
    ("SELECT * FROM perGenre", "in perGenre, rows are made to groups"),
    ("SELECT * FROM (SELECT id FROM book LIMIT 3) AS s", "in s, there is LIMIT"),
    (
      "SELECT * FROM (SELECT DISTINCT genre FROM book) AS s",
      "in s, DISTINCT makes one record of several rows"
    ),
    (
      "SELECT * FROM (SELECT id, random() AS r FROM book) AS s",
      "random() need not return the same value again: random() AS r"
    ),
    ("SELECT * FROM author NATURAL JOIN genre", "it has a NATURAL JOIN"),
    (
      "SELECT a.id FROM (author a JOIN book b ON a.id = authorId)",
      "FROM has parentheses around something else than a SELECT"
    ),
    (
      "SELECT a.id AS a, g.code FROM author a LEFT JOIN book b ON authorId = a.id JOIN genre g ON g.code = b.genre",
      "ON looks at b, which a LEFT JOIN may leave out"
    ),
    (
      "SELECT book.id, v FROM book LEFT JOIN unindexed ON bookId = book.id",
      "SQLite would not search by key: SCAN unindexed"
    ),
    (
      """
      SELECT a.id AS a, b.id AS b, c.id AS c FROM author a LEFT JOIN book b ON b.authorId = a.id
      LEFT JOIN book c ON c.price IS b.price
      """,
      "ON looks at b, which a LEFT JOIN may leave out, by more than a comparison"
    ),
    (
      "SELECT id FROM (SELECT a.id FROM author a LEFT JOIN book b ON authorId = a.id WHERE b.price > 1)",
      "WHERE looks at b, which a LEFT JOIN may leave out"
    ),
    ("SELECT id FROM book, (SELECT 1 AS one)", "in a subquery, it reads no table"),
    (
      "SELECT id FROM book WHERE genre NOT IN one", "it has a subquery: genre NOT IN one"
    ),
    ("SELECT id FROM book WHERE genre IN main.one", "it has a subquery: genre IN main.one"),
    ("SELECT code, v FROM loose", "several records may have one key"),
    ("SELECT id, v FROM falling", "several records may have one key"),
    ("SELECT code FROM cased", "several records may have one key"),
    ("SELECT id FROM book ORDER BY 0x1", "it orders by the number 0x1"),
    (
      "SELECT title, count(*) AS n FROM book GROUP BY title",
      "SQLite would not search by key: SCAN book"
    ),
    (
      "SELECT price, count(*) AS n FROM book GROUP BY price",
      "price is a column without a type: 1 and 1.0 would be one group, and which of them it shows is not certain"
    ),
    (
      "SELECT name, count(*) AS n FROM author GROUP BY name",
      "it groups by name under the collation NOCASE: which of the equal values a group shows is not certain"
    ),
    (
      "SELECT genre, title FROM book GROUP BY genre",
      "title may have several values in a group: title"
    ),
    (
      "SELECT genre, group_concat(title) AS t FROM book GROUP BY genre",
      "group_concat() depends on the order of a group's rows: group_concat(title) AS t"
    ),
    (
      "SELECT upper(genre) AS g, count(*) AS n FROM book GROUP BY upper(genre)",
      "it groups by more than a column: upper(genre)"
    ),
    (
      "SELECT b.genre, count(*) AS n FROM author a LEFT JOIN book b ON authorId = a.id GROUP BY b.genre",
      "it groups by b.genre, which a LEFT JOIN may leave out"
    ),
  ])
  func `names what it cannot follow`(sql: String, reason: String) throws {
    let tracking = try tracking(sql)
    #expect(tracking.mode == .refetch)
    #expect(tracking.reason.hasPrefix(reason))
  }

  @Test func `what a commit costs is told for each table`() throws {
    func costs(_ sql: String) throws -> [CommitCost] {
      let query = try analyze(QueryDefinition(name: "q", form: .sql(sql)))
      return ["book", "author", "genre", "pair"].map { query.cost(ofCommitTo: $0) }
    }
    #expect(
      try costs(
        """
        SELECT book.id, (SELECT name FROM author WHERE id = authorId) AS name, v FROM book
        LEFT JOIN pair ON a = book.id AND b = 2
        """) == [.search, .search, .everything, .everything])
    #expect(
      try costs("SELECT genre, count(*) AS n FROM book GROUP BY genre")
        == [.partition, .everything, .everything, .everything])
    #expect(
      try costs(
        """
        SELECT a.id, count(b.id) AS n FROM author a LEFT JOIN book b ON authorId = a.id GROUP BY a.id
        """) == [.partition, .partition, .everything, .everything])
    #expect(try costs("SELECT DISTINCT title FROM book").allSatisfy { $0 == .everything })
  }

  @Test(arguments: followed)
  func `the statement that is made of them returns the same`(sql: String) throws {
    try DatabaseQueue().write { db in
      try db.execute(sql: schema)
      for id in 1...12 {
        try db.execute(
          sql: """
            INSERT INTO author VALUES (\(id), 'a\(id % 5)', char(120 + \(id % 3)));
            INSERT INTO former VALUES (\(2 * id), 'b\(id)');
            INSERT INTO book VALUES
              (\(id), \(id % 4 + 1), 'a\(id % 7)', \(id % 6), 'g\(id % 4)', 'f');
            INSERT INTO genre VALUES ('g\(id)', 'l\(id)', 'a\(id)');
            INSERT INTO pair VALUES (\(id), 2, \(id));
            INSERT INTO computed VALUES (\(id), \(-id));
            """)
      }
      let query = try Query.analyzed(QueryDefinition(name: "q", form: .sql(sql)), in: db)
      #expect(query.tracking.mode == .incremental)
      let count = query.layout.columns.count
      let made = try Row.fetchAll(db, sql: query.sql).map { Array($0.databaseValues.prefix(count)) }
      let written = try Row.fetchAll(db, sql: sql).map { Array($0.databaseValues) }
      #expect(!made.isEmpty || sql.contains("'a;%'") || sql.contains("= (1, 2)"))
      #expect(made.map(\.description).sorted() == written.map(\.description).sorted())
    }
  }

  @Test(arguments: [
    ("a -- b\r c\nd", ["a", "d"]), ("a\r\nb--\r\nc", ["a", "b", "c"]),
    ("'\u{301}x' /* ' */ y", ["'\u{301}x'", "y"]),
    ("\"a\"\"\u{301}\" b", ["\"a\"\"\u{301}\"", "b"]),
    ("a\u{A0}b\u{2028}c d", ["a\u{A0}b\u{2028}c", "d"]),
    ("x'00' [a]] b]", ["x'00'", "[a]", "]", "b", "]"]),
    (":a\u{301} /* open", [":a\u{301}"]), ("a/**/b/*/ c */d", ["a", "b", "d"]),
  ])
  func `text is cut where SQLite cuts it`(sql: String, tokens: [String]) {
    #expect(SQLTokens.tokens(of: sql).map { Array($0.text.utf8) } == tokens.map { Array($0.utf8) })
  }

  @Test func `a name is what is between its quotes`() {
    let names = SQLTokens.tokens(of: "\"a\"\"\u{301}b\"\"\" `c``` [d\"] e").map(\.name)
    #expect(names == ["a\"\u{301}b\"", "c`", "d\"", "e"])
  }

  @Test func `a parameter that may be 'now' is the present`() throws {
    let tracking = try tracking(
      "SELECT id FROM book WHERE title < date(:day)", parameters: ["day"])
    #expect(tracking.reason.hasPrefix("date() of a parameter depends on the present time"))
  }

  @Test func `a key that several records may have is refused`() throws {
    let sql = "SELECT a.id, b.title FROM author a JOIN book b ON authorId = a.id"
    #expect(try tracking(sql).mode == .incremental)
    let refused = try tracking(sql, key: ["id"])
    #expect(refused == Tracking(mode: .refetch, reason: "several records may have one key"))
  }

  @Test(arguments: [
    "JOIN genre ON loose = book.title", "JOIN genre ON code IN ('x', 'y')",
    "JOIN genre ON code = 'x' OR label = 'y'", "JOIN author ON author.id BETWEEN 1 AND authorId",
    "JOIN author ON author.name = book.genre", "JOIN genre ON code = book.price",
  ])
  func `only the equality with a whole unique key makes one row of a join`(join: String) throws {
    let unique = join.hasPrefix("JOIN genre ON loose")
    let tracking = try tracking("SELECT book.id FROM book \(join)", key: ["id"])
    #expect((tracking.reason == "several records may have one key") == !unique, "\(tracking)")
  }

  @Test func `an OR in parentheses leaves what stands beside it certain`() throws {
    let sql = "SELECT book.id FROM book JOIN genre ON (label = 'y' OR label = 'z') AND code = genre"
    #expect(try tracking(sql, key: ["id"]).mode == .incremental)
  }

  @Test func `tracking names the tables that lead to records, and those that do not`() throws {
    let joined = try tracking(
      "SELECT book.id, name FROM book LEFT JOIN author ON author.id = authorId LIMIT 3")
    #expect(
      joined.reason == """
        each changed row of book is read again by its rowid, and changed rows of author lead to \
        rows of book; LIMIT is cut from the whole order, which is kept
        """)
    let short = try tracking("SELECT id FROM book ORDER BY genre LIMIT 3")
    #expect(short.reason.hasPrefix("the rows up to LIMIT are read again through the index"))
    let missing = try tracking(
      "SELECT book.id, v FROM book LEFT JOIN pair ON a = book.id AND b = 2")
    #expect(
      missing.reason == """
        each changed row of book is read again by its rowid; when pair changes, the query runs again: \
        pair is a table WITHOUT ROWID
        """)
    let groups = try tracking("SELECT genre, count(*) AS n FROM book GROUP BY genre")
    #expect(groups.reason == "changed rows of book lead to their groups, which are read again")
  }

  @Test func `sections over result columns stay what they are`() throws {
    let query = try analyze(
      QueryDefinition(
        name: "q", form: .sql("SELECT upper(title) AS t, genre FROM book ORDER BY t"),
        section: "substr(t, 1, 1)", sectionIndexTitle: "lower(t)"))
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    #expect(query.layout.columns == ["t", "genre"])
    #expect(query.layout.key == [2])
    #expect(query.layout.section == 3)
    #expect(query.layout.sectionIndexTitle == 4)
  }

  @Test(arguments: ["RIGHT", "FULL"])
  func `joins that keep rows of the right side are refused`(join: String) throws {
    #expect {
      try SelectParser.parse("SELECT 1 FROM author a \(join) JOIN book b ON authorId = a.id")
    } throws: {
      ($0 as? NotIncremental)?.reason == "it has a \(join) JOIN"
    }
  }
}
