import OrderedResults
import Testing

@testable import QueryAnalysis

@Suite struct `Tracking of FULL JOIN` {
  private static let followed = [
    "SELECT a.id, b.id AS book FROM author a FULL JOIN book b ON authorId = a.id",
    "SELECT a.name, b.title FROM author a FULL OUTER JOIN book b ON b.authorId = a.id ORDER BY b.title DESC, a.id",
    "SELECT a.*, f.id AS f, f.was FROM author AS a FULL JOIN former f ON f.id = a.id ORDER BY coalesce(a.id, f.id)",
    "SELECT coalesce(a.id, f.id) AS id, was FROM author a FULL JOIN former f ON f.id = a.id WHERE was IS NOT NULL ORDER BY 1 LIMIT 4",
    "SELECT g.code, b.id FROM genre g FULL JOIN book b ON b.genre = g.code AND b.price > 2 ORDER BY g.label",
    "SELECT a.id, (SELECT count(*) FROM book WHERE authorId = a.id) AS n, f.was FROM author a FULL JOIN former f ON f.id = a.id",
    // No index finds books by their titles.
    "SELECT g.code, b.id, b.title FROM genre g FULL JOIN book b ON b.title = g.code ORDER BY b.title",
  ]

  @Test(arguments: followed)
  func `is row by row where each side is found from the other`(sql: String) throws {
    try expectFollowed(sql)
  }

  @Test func `is identified by the rowids of both tables, where it shows them`() throws {
    let query = try analyzed(
      QueryDefinition(
        name: "q",
        form: .sql("SELECT a.id, b.id AS book FROM author a FULL JOIN book b ON authorId = a.id")))
    #expect(query.layout.key == [0, 1] && query.layout.keyIsUnique)
    let others = try analyzed(
      QueryDefinition(
        name: "q",
        form: .sql("SELECT a.id, b.title FROM author a FULL JOIN book b ON authorId = a.id")))
    #expect((others.layout.key ?? []).count > 2 && others.layout.keyIsUnique)
  }

  @Test(arguments: [
    "SELECT a.name, b.title FROM author a FULL JOIN book b ON b.authorId = a.id",
    "SELECT a.name, b.title FROM book b FULL JOIN author a ON b.authorId = a.id",
  ])
  func `begins with the table of which each row has one record`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
    let owners = (query.plan?.leads ?? []).filter(\.isOwner).sorted {
      ($0.arm ?? 0) < ($1.arm ?? 0)
    }
    #expect(owners.map(\.table) == ["book", "author"])
    // Which of the two, and the rowid there.
    #expect(query.layout.key?.count == 2)
  }

  /// An index that SQLite makes for a LEFT JOIN finds no 'a ' for 'a'; a FULL JOIN has none.
  @Test func `is not where a LEFT JOIN may miss rows that are joined`() throws {
    let schema = "; CREATE TABLE padded (at TEXT COLLATE RTRIM, n INTEGER);"
    let sql = "SELECT title, at FROM padded FULL JOIN book ON "
    for (condition, mode) in [("at = title", Tracking.Mode.refetch), ("n = book.id", .incremental)]
    {
      let definition = QueryDefinition(name: "q", form: .sql(sql + condition))
      let tracking = try analyzed(definition, schema).tracking
      #expect(tracking.mode == mode, "\(tracking.reason)")
    }
  }

  @Test func `says what leads to records`() throws {
    let tracking = try tracking(
      "SELECT g.code, b.id FROM genre g FULL JOIN book b ON b.title = g.code")
    #expect(
      tracking.reason.hasPrefix(
        """
        changed rows lead to records of their side of the FULL JOIN, which are read again; rows of book \
        are found by title in memory; what may help: CREATE INDEX book_title ON book (title)
        """), "\(tracking.reason)")
  }

  @Test(arguments: [
    (
      "SELECT a.id, m.v FROM author a FULL JOIN pair m ON m.a = a.id",
      "it has a FULL JOIN of something else than tables with rowids"
    ),
    (
      "SELECT a.id, c.title FROM author a FULL JOIN cheap c ON c.id = a.id",
      "it has a FULL JOIN of something else than tables with rowids"
    ),
    (
      "SELECT b.genre, count(*) AS n FROM author a FULL JOIN book b ON authorId = a.id GROUP BY b.genre",
      "a SELECT with a FULL JOIN has groups, DISTINCT or window functions"
    ),
    (
      "SELECT a.id, b.id AS book FROM author a FULL JOIN book b ON b.id > a.id",
      "SQLite would not search by key: "
    ),
    (
      "SELECT * FROM (SELECT a.id FROM author a FULL JOIN book b ON authorId = a.id) AS s",
      "it has a FULL JOIN within a view or a subquery"
    ),
    (
      "SELECT a.id FROM author a FULL JOIN book b ON authorId = a.id UNION ALL SELECT id FROM former",
      "it has a FULL JOIN within a view or a subquery, or beside UNION"
    ),
  ])
  func `says why not`(sql: String, reason: String) throws {
    try expectRefetch(sql, because: reason)
  }
}
