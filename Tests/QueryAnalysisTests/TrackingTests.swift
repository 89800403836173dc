import GRDB
import OrderedResults
import Testing

@testable import QueryAnalysis

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
      "SELECT a.id, b.id AS book FROM author a JOIN book b ON b.authorId = a.id OR b.id = a.id",
      "SELECT a.id, b.id AS book FROM author a LEFT JOIN book b ON a.id IN (b.authorId, b.id) AND b.price > 1",
      "SELECT * FROM (SELECT a.id, b.id AS book FROM author a JOIN book b ON a.id IN (b.authorId, b.id)) WHERE book > 2",
      "SELECT a.id, count(b.id) AS n FROM author a LEFT JOIN book b ON a.id IN (authorId, b.id) GROUP BY a.id",
      "SELECT a.id, b.id AS book FROM author a, book b WHERE NOT b.id IN (1, 2) AND (a.id) IN (b.authorId)",
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
      "SELECT code, v FROM loose ORDER BY v",
      "SELECT v, id FROM falling WHERE v = 'f1'",
      "SELECT code FROM cased",
      "SELECT book.id, code, v FROM book LEFT JOIN loose ON code = genre",
      "SELECT * FROM pair ORDER BY v DESC LIMIT 3",
      "SELECT v, book.title FROM pair LEFT JOIN book ON book.id = a WHERE b > 1",
      "SELECT x.v, y.v AS w FROM pair x JOIN pair y ON y.a = x.b AND y.b = 2",
      "SELECT s.v, label FROM (SELECT v, b, title FROM pair JOIN book ON book.id = a) s "
        + "LEFT JOIN genre ON code = s.title",
      "SELECT a, b, (SELECT count(*) FROM book WHERE authorId = a) AS n FROM pair",
      "SELECT id FROM book WHERE EXISTS (SELECT 1 FROM pair WHERE a = book.id AND v > 3)",
      "SELECT a, count(*) AS n, max(v) AS v FROM pair GROUP BY a",
      "SELECT a, b, rank() OVER (PARTITION BY a ORDER BY v) AS place FROM pair",
      "SELECT l.code, b.title FROM loose l JOIN book b ON b.genre = l.code ORDER BY l.v DESC",
    ] + leftJoins

  private static let leftJoins = [
    "SELECT * FROM genre g RIGHT JOIN former f ON code = was ORDER BY label, id",
    """
    SELECT f.was, b.title, g.label FROM former f RIGHT OUTER JOIN book b ON f.id = b.id
    LEFT JOIN genre g ON code = genre
    """,
    """
    SELECT s.*, f.was FROM (SELECT g.*, b.id, b.title FROM genre g RIGHT JOIN book b ON code = genre) AS s
    LEFT JOIN former f ON f.id = s.id
    """,
    "SELECT a.id, b.id AS book FROM author a LEFT JOIN book b ON authorId = a.id WHERE b.price > 1",
    "SELECT a.id, b.id AS book FROM author a LEFT JOIN book b ON authorId IS a.id",
    "SELECT a.id, b.title AS t FROM author a LEFT JOIN book b ON authorId = a.id WHERE t > 'a3'",
    """
    SELECT a.id, b.id IS NULL lonely FROM author a LEFT JOIN book b ON authorId = a.id WHERE lonely
    """,
    "SELECT a.id FROM author a LEFT JOIN book b ON authorId = a.id WHERE b.id IS NULL OR price > 2",
    "SELECT id FROM signed WHERE name = 'a1'",
    "SELECT id FROM (SELECT a.id FROM author a LEFT JOIN book b ON authorId = a.id WHERE b.price > 1)",
    """
    SELECT id, p FROM (
      SELECT a.id, coalesce(b.price, 0) AS p FROM author a LEFT JOIN book b ON authorId = a.id)
    WHERE p = 0
    """,
    """
    SELECT a.id AS a, g.code FROM author a LEFT JOIN book b ON authorId = a.id
    JOIN genre g ON g.code = b.genre
    """,
    """
    SELECT a.id, g.code FROM author a LEFT JOIN book b ON b.authorId = a.id
    LEFT JOIN genre g ON g.code = b.genre JOIN author c ON c.id = coalesce(b.id, a.id)
    """,
  ]

  @Test(arguments: [
    "SELECT id, (SELECT count(*) FROM book WHERE authorId = author.id) AS books FROM author ORDER BY books * 2 DESC",
    "SELECT id, price + 1 AS p, title AS t FROM book ORDER BY t || p, p IS NULL",
    "SELECT genre, count(*) AS n, sum(id) AS s FROM book GROUP BY genre ORDER BY s * 1.0 / n DESC",
    // A column comes before a name, and a keyword is none.
    "SELECT id AS price, price AS n FROM book ORDER BY price + 1",
    "SELECT id AS \"null\", price AS n FROM book ORDER BY n IS NULL, id DESC",
    "SELECT name AS n FROM author ORDER BY length(n) + id",
  ])
  func `ORDER BY may compute with result columns`(sql: String) throws {
    try expectFollowed(sql)
  }

  @Test(arguments: followed)
  func `is row by row where each record can be led back to rows`(sql: String) throws {
    try expectFollowed(sql)
  }

  /// Which table SQLite is to begin with, where all rows are read; a changed one is searched for from either.
  @Test(arguments: [
    "SELECT b.id, name FROM author a CROSS JOIN book b ON b.authorId = a.id",
    "SELECT id, name FROM (SELECT b.id, name FROM author a CROSS JOIN book b ON b.authorId = a.id) ORDER BY name, id",
    "SELECT name, count(*) AS n FROM author a CROSS JOIN book b ON b.authorId = a.id GROUP BY name",
  ])
  func `CROSS JOIN prescribes an order`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    let plan = try #require(query.plan, "\(query.tracking.reason)")
    #expect(query.sql.contains("CROSS JOIN"))
    #expect(!plan.records.sql(forKeys: 1).contains("CROSS"))
  }

  @Test func `what a commit costs is told for each table`() throws {
    func costs(_ sql: String) throws -> [CommitCost] {
      let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
      return ["book", "author", "genre", "pair"].map { query.cost(ofCommitTo: $0) }
    }
    #expect(
      try costs(
        """
        SELECT book.id, (SELECT name FROM author WHERE id = authorId) AS name, v FROM book
        LEFT JOIN pair ON a = book.id AND b = 2
        """) == [.search, .search, .everything, .search])
    #expect(
      try costs("SELECT genre, count(*) AS n FROM book GROUP BY genre")
        == [.search, .everything, .everything, .everything])
    #expect(
      try costs(
        """
        SELECT a.id, count(b.id) AS n FROM author a LEFT JOIN book b ON authorId = a.id GROUP BY a.id
        """) == [.search, .search, .everything, .everything])
    #expect(
      try costs(
        """
        SELECT a.id, count(*) AS n FROM author a LEFT JOIN book b ON authorId = a.id GROUP BY a.id
        """) == [.partition, .partition, .everything, .everything])
    #expect(
      try costs("SELECT DISTINCT title FROM book")
        == [.search, .everything, .everything, .everything])
    let places = "SELECT id, rank() OVER (ORDER BY price) AS n FROM book ORDER BY n"
    #expect(try costs(places) == [.running, .everything, .everything, .everything])
    #expect(
      try costs("\(places) LIMIT 3") == [.window, .everything, .everything, .everything])
    #expect(try costs("SELECT DISTINCT name FROM author").allSatisfy { $0 == .everything })
  }

  @Test func `a parameter that may be 'now' is the present`() throws {
    let tracking = try tracking(
      "SELECT id FROM book WHERE title < date(:day)", parameters: ["day"])
    #expect(tracking.reason.hasPrefix("date() of a parameter depends on the present time"))
  }

  @Test func `a primary key that may be NULL is a key, and rowids order what shares it`() throws {
    let query = try analyzed(
      QueryDefinition(name: "q", form: .declared(.init(table: "loose", order: ["v DESC"]))))
    #expect(query.tracking.mode == .incremental)
    #expect(query.layout.keyNames == ["code"] && !query.layout.keyIsUnique)
    #expect(query.plan?.order.terms.map(\.column) == [1, 0, 2])
    #expect(query.sql.hasSuffix("ORDER BY 2 DESC, 1 DESC, 3 DESC"))
    let unique = try analyzed(
      QueryDefinition(name: "q", form: .sql("SELECT code, label FROM genre ORDER BY label")))
    #expect(unique.layout.keyIsUnique && unique.plan?.order.terms.count == 2)
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
      "SELECT id, (SELECT v FROM mixed WHERE a = title ORDER BY v LIMIT 1) AS v FROM book")
    #expect(
      missing.reason == """
        each changed row of book is read again by its rowid; when mixed changes, the query runs again: \
        mixed is a table WITHOUT ROWID, whose keys only SQLite can compare
        """)
    let groups = try tracking("SELECT genre, count(*) AS n FROM book GROUP BY genre")
    #expect(
      groups.reason == """
        changed rows of book lead to their groups, which are read again; where that takes long, what \
        many rows come to is followed
        """)
  }

  @Test func `sections over result columns stay what they are`() throws {
    let query = try analyzed(
      QueryDefinition(
        name: "q", form: .sql("SELECT upper(title) AS t, genre FROM book ORDER BY t"),
        section: "substr(t, 1, 1)", sectionIndexTitle: "lower(t)"))
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    #expect(query.layout.columns == ["t", "genre"])
    #expect(query.layout.key == [2])
    #expect(query.layout.section == 3)
    #expect(query.layout.sectionIndexTitle == 4)
  }

  @Test(arguments: [
    "SELECT count(DISTINCT genre) AS n, count(*) FROM book WHERE authorId > 1",
    "SELECT count(*) AS n FROM book", #"SELECT "count"(*) AS n FROM book"#,
    "SELECT count(*) AS n, max(price) - min(price) AS spread FROM book WHERE genre > 'x' -- all",
    "WITH c AS (SELECT * FROM book) SELECT sum(c.id), avg(c.id) FROM c JOIN author ON author.id = authorId",
  ])
  func `aggregates of all rows follow them`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    #expect(query.tracking.mode == .incremental)
    #expect(query.tracking.reason.hasPrefix("each changed row is added to what it aggregates"))
    #expect(query.plan == nil && query.totals.count == query.layout.columns.count)
  }

  /// What a subquery asks is asked of its own rows, though it stands in parentheses.
  @Test func `an equality within a subquery makes nothing unique`() throws {
    let sql = """
      SELECT former.id, author.name FROM former JOIN author ON author.country = former.was
      WHERE (SELECT count(*) = 0 FROM json_each('[1]') AS w
        WHERE w.value = 7 AND author.id = former.id AND w.key = 2)
      """
    #expect(try tracking(sql, key: ["id"]).reason == "several records may have one key")
    let outside = "SELECT former.id FROM former, author WHERE (author.id = former.id)"
    #expect(try tracking(outside, key: ["id"]).mode == .incremental)
  }
}
