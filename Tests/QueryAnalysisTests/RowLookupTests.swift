import GRDB
import OrderedResults
import Testing

@testable import QueryAnalysis

@Suite struct `A row that is looked up among others` {
  private static let rows = "SELECT id, title, rank() OVER (ORDER BY price DESC) AS place FROM book"

  private func query(_ sql: String, of type: QueryParameter.ValueType = .integer) throws -> Query {
    let names = sql.contains(":me") ? ["me"] : []
    return try analyzed(
      QueryDefinition(
        name: "q", form: .sql(sql),
        parameters: names.map { QueryParameter(name: $0, type: type) }
          + (sql.contains(":least") ? [QueryParameter(name: "least", type: .integer)] : [])))
  }

  @Test(arguments: [
    ("SELECT * FROM (%) WHERE id = :me", [0, 1, 2], RowLookup.Key.parameter("me")),
    ("SELECT place FROM (%) AS r WHERE (7 == r.id) ORDER BY place LIMIT 1", [2], .integer(7)),
    ("WITH r AS (%) SELECT r.place AS p, id FROM r WHERE :me = id;", [2, 0], .parameter("me")),
    ("SELECT ranks.* FROM ranks WHERE ranks.id = :me", [0, 1, 2], .parameter("me")),
    ("SELECT * FROM (% WHERE price > :least) WHERE id = 1", [0, 1, 2], .integer(1)),
  ])
  func `is found by its rowid`(sql: String, columns: [Int], key: RowLookup.Key) throws {
    let sql = sql.replacing("%", with: Self.rows)
      .replacing("ranks WHERE", with: "(\(Self.rows)) AS ranks WHERE")
    let query = try query(sql)
    let lookup = try #require(query.lookup)
    #expect(lookup.columns == columns && lookup.rowID == key)
    #expect(query.plan == nil && query.tracking.mode == .incremental)
    #expect(query.tracking.reason == RowLookupAnalysis.reason)
    #expect(query.cost(ofCommitTo: "book") == .running)
    #expect(lookup.rows.parameters.map(\.name) == (sql.contains(":least") ? ["least"] : []))
  }

  @Test(arguments: [
    // More than the key decides, or something else.
    "SELECT * FROM (%) WHERE id = :me AND place < 3", "SELECT * FROM (%) WHERE id IS :me",
    "SELECT * FROM (%) WHERE id > :me", "SELECT * FROM (%) WHERE place = :me",
    "SELECT * FROM (%) WHERE title = 'a1'", "SELECT * FROM (%) WHERE id = 1.5",
    "SELECT * FROM (%) WHERE id = :me LIMIT 0", "SELECT * FROM (%) WHERE id = :me LIMIT 1 OFFSET 1",
    "SELECT * FROM (%) WHERE id = :me OR id = 1", "SELECT * FROM (%) WHERE id = place",
    // It shows something else.
    "SELECT place + 1 AS p FROM (%) WHERE id = :me",
    "SELECT count(*) AS n FROM (%) WHERE id = :me GROUP BY id",
    "SELECT r.place, a.name FROM (%) AS r JOIN author a ON a.id = r.id WHERE r.id = :me",
    "SELECT title AS id, place FROM (SELECT title, id, rank() OVER (ORDER BY price) AS place FROM book) AS r WHERE title = :me",
    // Nobody follows the rows.
    "SELECT * FROM (SELECT id, ntile(2) OVER (ORDER BY price) AS n FROM book) WHERE id = :me",
    "SELECT * FROM (SELECT id, rank() OVER (ORDER BY random()) AS n FROM book) WHERE id = :me",
    "SELECT * FROM (% LIMIT 10) WHERE id = :me",
  ])
  func `is not where something else decides`(sql: String) throws {
    #expect(try query(sql.replacing("%", with: Self.rows)).lookup == nil)
  }

  /// What runs has the same order as the rows that are followed.
  @Test func `is that of the same order where a window takes rows for equal`() throws {
    let sql = """
      SELECT place AS nth, id FROM (SELECT id, row_number() OVER (ORDER BY price DESC) AS place FROM book)
      WHERE id = :me
      """
    let query = try query(sql)
    let lookup = try #require(query.lookup)
    #expect(lookup.columns == [1, 0] && query.layout.columns == ["nth", "id"])
    #expect(query.sql.contains(#"OVER (ORDER BY price DESC, "book"."id" DESC)"#))
    #expect(query.sql.contains(#"WHERE "id" = :me"#))
    #expect(query.tracking.reason.hasSuffix("come in the order of their rowid"))
    try DatabaseQueue().write { db in
      try db.execute(sql: trackedSchema)
      try db.execute(sql: "INSERT INTO book (id, price) VALUES (1, 2), (2, 2), (3, 9)")
      let row = try Row.fetchOne(db, sql: query.sql, arguments: ["me": 1])
      #expect(row.map { Array($0.columnNames) } == ["nth", "id"] && row?["nth"] == 3)
    }
  }

  @Test func `is not by another value than an integer`() throws {
    #expect(try query("SELECT * FROM (\(Self.rows)) WHERE id = :me", of: .text).lookup == nil)
  }
}
