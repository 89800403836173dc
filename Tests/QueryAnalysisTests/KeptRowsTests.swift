import GRDB
import Testing

@testable import QueryAnalysis

/// Which rows of another table are kept in memory where SQLite would look at all of them.
@Suite struct `Rows of a table without an index` {
  @Test(arguments: [
    "SELECT book.id, v FROM book LEFT JOIN unindexed ON bookId = book.id",
    "SELECT id FROM book WHERE EXISTS (SELECT 1 FROM unindexed u WHERE u.bookId = book.id)",
    "SELECT id FROM book WHERE title IN (SELECT v FROM unindexed)",
    "SELECT id, (SELECT count(*) FROM unindexed WHERE bookId = book.id) AS n FROM book",
    "SELECT id FROM book ORDER BY (SELECT max(v) FROM unindexed WHERE bookId = book.id) DESC, id",
    "SELECT id, (SELECT count(*) FROM unindexed u JOIN genre ON code = u.v WHERE u.bookId = book.id) AS n FROM book",
    "SELECT book.id, count(v) AS n FROM book LEFT JOIN unindexed ON bookId = book.id GROUP BY book.id",
    "SELECT genre, count(v) AS n FROM book LEFT JOIN unindexed ON bookId = book.id GROUP BY genre",
    "SELECT title, count(v) AS n FROM book JOIN unindexed ON bookId = book.id GROUP BY title",
    "SELECT DISTINCT title FROM book JOIN unindexed ON v = title",
    "SELECT pair.a, u.v FROM pair JOIN unindexed u ON u.bookId = pair.b",
    "SELECT a.rowid AS a, b.rowid AS b FROM unindexed a JOIN unindexed b ON a.v = b.v",
    "SELECT id, (SELECT max(a) FROM pair WHERE b = book.id) AS m FROM book",
    "SELECT id, (SELECT json_group_array(v) FROM (SELECT v FROM unindexed WHERE bookId = book.id ORDER BY v)) AS n FROM book",
    "SELECT id, (SELECT json_group_array(v) FROM unindexed WHERE bookId = book.id) AS n FROM book",
  ])
  func `are kept for each owner`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    let plan = try #require(query.plan, "\(query.tracking.reason)")
    #expect(plan.keptRows.count == 1)
    #expect(plan.leads.allSatisfy { $0.isFollowed }, "\(query.tracking.reason)")
    #expect(plan.pages == nil)
  }

  @Test(arguments: [
    "SELECT code, count(*) AS n FROM genre JOIN unindexed u ON u.v = code JOIN one ON one.v = u.v GROUP BY code",
    """
    SELECT code, (SELECT count(*) FROM unindexed u JOIN one ON one.v = u.v WHERE u.v = code) AS n
    FROM genre
    """,
  ])
  func `are kept of each table of a chain, whichever SQLite would begin with`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    let plan = try #require(query.plan, "\(query.tracking.reason)")
    #expect(plan.keptRows.count == 2)
    #expect(plan.leads.allSatisfy { $0.isFollowed }, "\(query.tracking.reason)")
  }

  @Test func `say which index does the same`() throws {
    let tracking = try tracking(
      "SELECT id, (SELECT count(*) FROM unindexed WHERE bookId = book.id) AS n FROM book")
    #expect(
      tracking.reason == """
        each changed row of book is read again by its rowid, and changed rows of unindexed lead to rows \
        of book; rows of unindexed are found by bookId in memory; what may help: CREATE INDEX \
        unindexed_bookId ON unindexed (bookId); where that takes long, what many rows come to is followed
        """)
  }

  @Test(arguments: [
    "SELECT book.id, price FROM author JOIN book ON book.id > author.id",
    // Text that looks like a number equals it under one affinity, and not under another.
    "SELECT book.id, v FROM book LEFT JOIN unindexed ON v = book.id",
    "SELECT id, (SELECT count(*) FROM unindexed WHERE v = author.name) AS n FROM author",
    "SELECT id, (SELECT count(*) FROM unindexed WHERE bookId = book.id OR v = title) AS n FROM book",
    "SELECT id FROM book WHERE id + 0 NOT IN (SELECT bookId FROM unindexed)",
    "SELECT id FROM book WHERE EXISTS (SELECT 1 FROM unindexed u WHERE u.bookId = book.id UNION SELECT 1 FROM one WHERE v = title)",
  ])
  func `are not where no value leads to owners`(sql: String) throws {
    let tracking = try tracking(sql)
    #expect(tracking.mode == .refetch)
    #expect(tracking.reason.hasPrefix("SQLite would not search by key: "), "\(tracking.reason)")
  }

  @Test(arguments: [
    (
      "SELECT id, (SELECT CAST(sum(v) AS TEXT) FROM one) AS n FROM book",
      "(SELECT CAST(sum(v) AS TEXT) …) is one value for all records, and each new one changes them all: it may stand alongside"
    ),
    (
      "SELECT id, (SELECT count(*) FROM unindexed u WHERE u.v > book.title) AS n FROM book",
      "SQLite would not search by key: SCAN u"
    ),
    (
      "SELECT id, (SELECT count(*) FROM book b WHERE b.title > book.title) AS n FROM book",
      "if (SELECT count(*) …) is of the rows before one, rank() or an aggregate OVER (ORDER BY …) says it"
    ),
    (
      """
      SELECT book.id, (SELECT max(v) FROM unindexed) AS n FROM book JOIN unindexed ON unindexed.bookId > book.id
      """, "SQLite would not search by key: SCAN unindexed"
    ),
    (
      "SELECT id, (SELECT id FROM book b WHERE b.id < book.id ORDER BY b.id DESC LIMIT 1) AS n FROM book",
      "if (SELECT id …) is of the row before or behind, lag() or lead() OVER (ORDER BY …) says it"
    ),
    (
      "SELECT id FROM book WHERE (id) NOT IN (SELECT bookId FROM unindexed)",
      """
      a NULL on either side of (id) IN (SELECT …) would decide about every row: leave it out by IS NOT NULL, or \
      write it with EXISTS
      """
    ),
  ])
  func `say what to write where no index helps`(sql: String, advice: String) throws {
    #expect(try tracking(sql).reason.hasSuffix(advice))
  }

  @Test(arguments: [
    ("TEXT, b INTEGER", true), ("INTEGER, b TEXT", true), (", b INTEGER", true), ("REAL, b", true),
    ("TEXT COLLATE NOCASE, b INTEGER", false),
  ])
  func `are looked up by all columns of a key`(types: String, areFound: Bool) throws {
    try DatabaseQueue().write { db in
      try db.execute(sql: "CREATE TABLE t (a \(types), v, PRIMARY KEY (a, b)) WITHOUT ROWID")
      let sql = "SELECT v || '' AS v, count(*) AS n FROM t GROUP BY v || ''"
      let query = try Query.analyzed(QueryDefinition(name: "q", form: .sql(sql)), in: db)
      let plan = query.plan
      #expect((plan?.members != nil) == areFound, "\(query.tracking.reason)")
      guard let records = plan?.records.beforeKeys else { return }
      let steps = try db.queryPlan(of: records).map { $0["detail"] as String }
      #expect(steps.contains { $0.ranges(of: "=?").count == 2 }, "\(steps)")
    }
  }
}
