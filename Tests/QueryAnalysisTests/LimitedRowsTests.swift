import OrderedResults
import Testing

@testable import QueryAnalysis

@Suite struct `Rows up to LIMIT in FROM` {
  private func query(_ sql: String, section: String? = nil) throws -> Query {
    let parameters = [("least", QueryParameter.ValueType.integer), ("most", .integer)]
      .filter { sql.contains(":\($0.0)") }
    return try analyzed(
      QueryDefinition(
        name: "q", form: .sql(sql), section: section,
        parameters: parameters.map { QueryParameter(name: $0.0, type: $0.1) }))
  }

  @Test(arguments: [
    "SELECT * FROM (SELECT id, title FROM book ORDER BY title DESC LIMIT 10) ORDER BY title",
    "SELECT id, upper(title) AS t FROM (SELECT * FROM book ORDER BY title LIMIT 10) AS b WHERE price > 1 ORDER BY t",
    """
    WITH b AS (SELECT id, authorId AS a FROM book WHERE price > :least ORDER BY title, id LIMIT :most OFFSET 2)
    SELECT b.id, name FROM b JOIN author ON author.id = b.a ORDER BY name
    """,
    """
    WITH b(x, y) AS (SELECT b.id, authorId FROM book AS b ORDER BY title LIMIT 9) -- newest
    SELECT x, y FROM b WHERE y > (SELECT price FROM book WHERE id = 3) ORDER BY y
    """,
    "SELECT count(*) AS n, avg(price) AS mean FROM (SELECT * FROM book ORDER BY title LIMIT 10) -- all",
    """
    SELECT author.name, count(*) AS n
    FROM (SELECT id, authorId FROM book ORDER BY title LIMIT 10) AS b LEFT JOIN author ON author.id = b.authorId
    GROUP BY author.id ORDER BY n DESC LIMIT 3
    """,
    "SELECT * FROM (SELECT id, title FROM cheap ORDER BY title LIMIT 10) ORDER BY title DESC;",
    "SELECT * FROM (SELECT title, n.label FROM book LEFT JOIN genre AS n ON n.code = genre ORDER BY title LIMIT 10) ORDER BY label",
    """
    SELECT * FROM (SELECT a.id, a.name, count(b.id) AS n FROM author AS a LEFT JOIN book AS b ON b.authorId = a.id
      GROUP BY a.id ORDER BY n DESC LIMIT 10) ORDER BY name
    """,
    "SELECT name FROM author WHERE id IN (SELECT authorId FROM book ORDER BY price DESC LIMIT 5) ORDER BY name",
    """
    SELECT author.id, was FROM author JOIN former ON former.id = author.id
    WHERE author.id = (SELECT authorId FROM book ORDER BY title, id LIMIT 1) ORDER BY was
    """,
  ])
  func `are followed, and what is made of them is read again`(sql: String) throws {
    let query = try query(sql)
    let limited = try #require(query.limitedRows, "\(query.tracking.reason)")
    let rows = limited.rows
    #expect(rows.servesOthers)
    #expect(query.plan == nil && query.tracking.mode == .incremental)
    #expect(query.tracking.reason.contains("where running the query takes long"))
    #expect(limited.sql.contains("json_each(:\(LimitedRows.parameter))"))
    #expect(!query.sql.contains(LimitedRows.parameter))
    #expect(query.cost(ofCommitTo: "book") == .window)
    #expect(query.rowsToFollow == [[rows]])
    // What it joins within is none of these.
    let beside = [
      ("author ON", ["author"]), ("book WHERE id", ["book"]), ("author WHERE", ["author"]),
      ("former ON", ["author", "former"]),
    ].first { sql.contains($0.0) }?.1
    #expect(limited.tablesBeside == Set(beside ?? []))
    for name in rows.parameters.map(\.name) { #expect(sql.contains(":\(name)")) }
  }

  @Test(arguments: [
    "SELECT * FROM (SELECT id, price FROM book ORDER BY price DESC LIMIT 10) ORDER BY price",
    "SELECT * FROM (SELECT * FROM book WHERE authorId = :least ORDER BY id LIMIT 10) ORDER BY id DESC",
  ])
  func `are themselves read through an index of their order`(sql: String) throws {
    let query = try query(sql)
    #expect(query.limitedRows != nil)
    #expect(query.tracking.reason.contains("read again through the index of their order"))
  }

  /// By itself, "country" would be a text.
  @Test func `are not those of a subquery that looks at what is around it`() throws {
    let ending = "ORDER BY title DESC LIMIT 1) ORDER BY name"
    for name in ["\"country\"", "country"] {
      let query = try query(
        "SELECT name FROM author WHERE id = (SELECT authorId FROM book WHERE genre = \(name) \(ending)"
      )
      #expect(query.limitedRows == nil)
    }
    let own = try query(
      "SELECT name FROM author WHERE id = (SELECT \"authorId\" FROM book WHERE \"title\" > 'x' \(ending)"
    )
    #expect(own.limitedRows != nil, "\(own.tracking.reason)")
  }

  /// The order of the whole ends with the key, and so does that of the rows.
  @Test func `have an order that leaves nothing open`() throws {
    let query = try query(
      "SELECT * FROM (SELECT id, title FROM book ORDER BY title LIMIT 10) ORDER BY title DESC LIMIT 5"
    )
    #expect(
      query.sql == """
        SELECT * FROM (SELECT "id" AS "id", "title" AS "title" FROM (
        SELECT id, title
        FROM "book"
        ORDER BY 2, 1
        LIMIT (10)
        )) ORDER BY title DESC, 1 DESC LIMIT 5
        """)
  }

  @Test func `may be in sections`() throws {
    let sql = "SELECT * FROM (SELECT id, title FROM book ORDER BY title LIMIT 10) ORDER BY title"
    let query = try query(sql, section: "substr(title, 1, 1)")
    let limited = try #require(query.limitedRows)
    for sql in [query.sql, limited.sql] {
      #expect(sql.hasPrefix("SELECT *, (substr(title, 1, 1)) FROM ("))
    }
    #expect(query.layout.section == 2)
  }

  @Test func `may be those of a view`() throws {
    let recent = """
      CREATE VIEW recent(number, name) AS SELECT id, title FROM book ORDER BY title DESC LIMIT 4
      """
    for sql in [
      "SELECT name, number FROM recent ORDER BY name",
      "SELECT r.* FROM main.recent AS r ORDER BY name",
    ] {
      let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)), recent)
      #expect(query.limitedRows != nil, "\(query.tracking.reason)")
      #expect(query.sql.contains(#""id" AS "number", "title" AS "name""#))
    }
    let declared = try analyzed(
      QueryDefinition(
        name: "q",
        form: .declared(.init(table: "recent", fields: ["name"], predicate: "number > 2")),
        section: "substr(name, 1, 1)"), recent)
    #expect(declared.limitedRows != nil, "\(declared.tracking.reason)")
    #expect(declared.tracking.mode == .incremental)
  }

  /// What SQLite calls columns that have one name, and those of a view that a table of WITH is named as.
  @Test func `keep the names of their columns`() throws {
    let sql = """
      SELECT * FROM (SELECT book.id, author.ID, name FROM book JOIN author ON author.ID = authorId
        ORDER BY title LIMIT 9) ORDER BY 1
      """
    let query = try query(sql)
    #expect(query.limitedRows == nil || query.sql.contains(#""ID:1" AS "ID:1""#), "\(query.sql)")
    let latest = "CREATE VIEW latest AS SELECT * FROM book ORDER BY title LIMIT 3"
    let captured = try analyzed(
      QueryDefinition(
        name: "q",
        form: .sql(
          """
          WITH book AS (SELECT * FROM main.book WHERE price = 1)
          SELECT latest.id, book.title FROM latest LEFT JOIN book ON book.id = latest.id ORDER BY latest.id
          """)), latest)
    #expect(captured.limitedRows == nil)
    #expect(captured.tracking.reason.contains("which is a table of WITH"))
  }

  @Test(arguments: [
    ("SELECT * FROM (SELECT id FROM book ORDER BY title LIMIT 9)", "no ORDER BY outside of it"),
    (
      "SELECT b.id FROM (SELECT id FROM book ORDER BY title LIMIT 9) AS b, unindexed ORDER BY b.id",
      "would not search by key for what is joined: SCAN unindexed"
    ),
    (
      "SELECT * FROM (SELECT authorId, count(*) AS n FROM book GROUP BY authorId ORDER BY n LIMIT 9) ORDER BY n",
      "its records are not each of one row of a table"
    ),
    (
      """
      SELECT * FROM (SELECT x.id, y.title FROM book AS x JOIN book AS y ON y.authorId = x.authorId
        ORDER BY y.title LIMIT 9) ORDER BY title
      """, "its records are not each of one row of a table"
    ),
    (
      "SELECT * FROM (SELECT id, price FROM book ORDER BY title LIMIT 9) WHERE price > unixepoch() ORDER BY id",
      "unixepoch()"
    ),
    ("SELECT * FROM (SELECT id FROM book ORDER BY title LIMIT 1001) ORDER BY id", "above 1000"),
    (
      """
      SELECT genre.id, (SELECT max(label) FROM genre) AS l
      FROM (SELECT id FROM book ORDER BY title LIMIT 9) AS genre ORDER BY genre.id
      """, "SEARCH genre"
    ),
    (
      "SELECT * FROM (SELECT id, random() AS r FROM book ORDER BY id LIMIT 9) ORDER BY r",
      "random()"
    ),
    (
      """
      WITH b AS (SELECT id, authorId FROM book ORDER BY title LIMIT 9)
      SELECT id, (SELECT count(*) FROM b AS c WHERE c.authorId = b.authorId) AS n FROM b ORDER BY n
      """, "would not search by key for what is joined: "
    ),
    (
      """
      WITH a AS (SELECT * FROM book), b AS (SELECT * FROM a ORDER BY title LIMIT 9)
      SELECT id FROM b ORDER BY id
      """, "it names a, which is a table of WITH"
    ),
    (
      """
      SELECT a.id FROM (SELECT id FROM book ORDER BY title LIMIT 9) AS a
      JOIN (SELECT id FROM book ORDER BY title LIMIT 9) AS b ON b.id = a.id ORDER BY a.id
      """, "it is there more than once"
    ),
  ])
  func `run again where they cannot be followed`(sql: String, reason: String) throws {
    let query = try query(sql)
    #expect(query.limitedRows == nil && query.tracking.mode == .refetch)
    #expect(query.tracking.reason.contains(reason), "\(query.tracking.reason)")
    #expect(query.tracking.reason.contains("there is LIMIT"))
  }
}
