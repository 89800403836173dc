import GRDB
import Testing

@testable import QueryAnalysis

/// What is kept in memory where SQLite has no index to search by.
@Suite struct `Rows without an index` {
  @Test(arguments: [
    (
      "SELECT title, count(*) AS n FROM book GROUP BY title",
      """
      ; their rows are found in memory: SQLite would not search by key: SCAN book; what may help: \
      CREATE INDEX book_title ON book (title)
      """
    ),
    ("SELECT DISTINCT title FROM book", "; their rows are found in memory: "),
    ("SELECT DISTINCT upper(genre) FROM book", "; an index on (upper(genre)) may help"),
    (
      "SELECT upper(genre) AS g, count(*) AS n FROM book GROUP BY upper(genre)",
      "; their rows are found in memory: "
    ),
    (
      "SELECT id, rank() OVER (PARTITION BY title ORDER BY id) AS n FROM book",
      "lead to their partitions, which are read again; their rows are found in memory: "
    ),
    (
      "SELECT t FROM (SELECT title AS t, count(*) AS n FROM book GROUP BY title) WHERE n > 1",
      "; their rows are found in memory: "
    ),
  ])
  func `are found by their groups`(sql: String, reason: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    #expect(query.plan?.members == 0)
    #expect(query.tracking.reason.contains(reason), "\(query.tracking.reason)")
    try expectFollowed(sql)
  }

  @Test(arguments: [
    "SELECT one.v, book.id FROM book JOIN genre ON genre.code = book.title JOIN one ON one.rowid = book.id",
    "SELECT book.id, label FROM book JOIN genre ON code = title",
    "SELECT book.id, label FROM book LEFT JOIN genre ON code = title",
    "SELECT id FROM book WHERE title IN (SELECT code FROM genre WHERE label > 'a')",
    "SELECT id, (SELECT label FROM genre WHERE code = title) AS l FROM book",
    "SELECT genre.code, count(*) AS n FROM genre JOIN book ON book.id = genre.rowid GROUP BY genre.code",
    "SELECT a.id, v FROM author a JOIN unindexed u ON u.rowid = a.id JOIN book ON book.id = bookId",
    "SELECT book.id, h.label FROM book JOIN genre g ON g.code = title JOIN genre h ON h.code = g.label",
    "SELECT book.id, h.label FROM book LEFT JOIN genre g ON g.code = title LEFT JOIN genre h ON h.code = g.label",
    "SELECT genre, count(label) AS n FROM book LEFT JOIN genre g ON code = title GROUP BY genre",
  ])
  func `are found by values that others have, too`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    let plan = try #require(query.plan, "\(query.tracking.reason)")
    #expect(plan.leads.allSatisfy { $0.isFollowed }, "\(query.tracking.reason)")
  }

  @Test func `say which index may help`() throws {
    let tracking = try tracking("SELECT book.id, label FROM book JOIN genre ON code = title")
    #expect(
      tracking.reason == """
        each changed row of book is read again by its rowid, and changed rows of genre lead to rows of \
        book; rows of book are found by title in memory; what may help: CREATE INDEX book_title ON book \
        (title)
        """)
  }

  @Test(arguments: [
    // Text that looks like a number equals it under one affinity, and not under another.
    "SELECT book.id, name FROM book JOIN author ON author.id = book.title",
    "SELECT book.id, name FROM book JOIN author ON author.name = book.title",
    "SELECT book.id, n FROM book JOIN computed ON computed.id = book.price",
  ])
  func `are not found by values that are compared otherwise than they are kept`(sql: String) throws
  {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    let links = query.plan?.contributions.filter { $0.link != nil }
    #expect(links?.isEmpty != false)
  }

  @Test func `are told from others in a column of any type`() throws {
    try DatabaseQueue().write { db in
      try db.execute(
        sql: """
          CREATE TABLE a (id INTEGER PRIMARY KEY, v ANY) STRICT;
          CREATE TABLE b (id INTEGER PRIMARY KEY, v INTEGER UNIQUE) STRICT;
          """)
      let sql = "SELECT a.id, b.id AS b FROM a JOIN b ON b.v = a.v"
      let query = try Query.analyzed(QueryDefinition(name: "q", form: .sql(sql)), in: db)
      #expect(query.tracking.reason.contains("when b changes, the query runs again"))
      let facts = SchemaFacts(db: db)
      #expect(facts.comparison(of: "v", in: "a")?.affinity == .blob)
      #expect(facts.comparison(of: "v", in: "b")?.affinity == .integer)
    }
  }
}
