import OrderedResults
import Testing

@testable import QueryAnalysis

/// What comes of an ORDER BY in a window that takes rows for equal.
@Suite struct `The order of a window` {
  @Test(arguments: [
    ("row_number() OVER (PARTITION BY genre ORDER BY title)", #"ORDER BY title, "book"."id")"#),
    (
      "row_number() OVER (PARTITION BY genre ORDER BY title DESC)",
      #"title DESC, "book"."id" DESC)"#
    ),
    ("row_number() OVER (PARTITION BY genre)", #"(PARTITION BY genre ORDER BY "book"."id")"#),
    ("row_number() OVER w", #"OVER (PARTITION BY genre ORDER BY price, "book"."id")"#),
    ("1 + ntile(2) OVER (part ORDER BY price)", #"(part ORDER BY price, "book"."id")"#),
    (
      "title || lag(title) OVER (PARTITION BY genre ORDER BY id COLLATE NOCASE)",
      #"NOCASE, "book"."id")"#
    ),
    (
      "lead(id, 2) OVER (PARTITION BY genre ORDER BY length(title) NULLS LAST)",
      #"LAST, "book"."id")"#
    ),
    ("first_value(id) OVER (PARTITION BY genre ORDER BY price)", #"ORDER BY price, "book"."id")"#),
    (
      "count(*) OVER (PARTITION BY genre ORDER BY title ROWS 2 PRECEDING)",
      #"title, "book"."id" ROWS 2 PRECEDING)"#
    ),
  ])
  func `has a key behind the order of a window that leaves open which row comes first`(
    field: String, order: String
  ) throws {
    let windows = "WINDOW w AS (PARTITION BY genre ORDER BY price), part AS (PARTITION BY genre)"
    let sql = "SELECT id, genre, \(field) AS n FROM book \(windows)"
    try expectFollowed(sql)
    for sql in [sql, "SELECT * FROM (\(sql)) WHERE n > 1"] {
      let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)))
      #expect(query.tracking.reason.hasSuffix("; \(Self.note)"))
      #expect(query.sql.contains(order), "\(query.sql)")
    }
  }

  private static let note =
    "rows that the ORDER BY of a window takes for equal come in the order of id"

  /// A word at the end may be an alias, RANGE with a number takes one term, and names may be keywords.
  @Test(arguments: [
    "row_number() OVER w n", "lag(title) OVER w - price n", "lag(title) OVER w 'n'",
    "row_number() OVER (PARTITION BY genre ORDER BY price RANGE 1 PRECEDING)",
  ])
  func `has no key behind the order of a window where that is not certain to be right`(
    field: String
  ) throws {
    let window = "WINDOW w AS (PARTITION BY genre ORDER BY price)"
    let tracking = try tracking("SELECT id, genre, \(field) FROM book \(window)")
    #expect(tracking.reason.contains("depends on the order of rows"), "\(tracking)")
  }

  @Test func `may have windows whose names are keywords`() throws {
    try expectFollowed(
      """
      SELECT id, row_number() OVER rows AS n, rank() OVER range AS r FROM book
      WINDOW rows AS (PARTITION BY genre ORDER BY price), range AS (PARTITION BY genre)
      """)
  }

  @Test func `keeps a column's name where a key is behind the order of its window`() throws {
    let query = try analyzed(
      QueryDefinition(
        name: "q",
        form: .sql("SELECT id, row_number() OVER (PARTITION BY genre ORDER BY title) FROM book")))
    #expect(query.tracking.mode == .incremental)
    #expect(
      query.layout.columns == ["id", "row_number() OVER (PARTITION BY genre ORDER BY title)"])
  }
}
