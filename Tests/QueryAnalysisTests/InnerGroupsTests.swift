import Foundation
import GRDB
import OrderedResults
import Testing

@testable import QueryAnalysis

@Suite struct `Groups of which all is made` {
  private func query(_ sql: String, _ more: String = "") throws -> Query {
    try analyzed(QueryDefinition(name: "q", form: .sql(sql)), more)
  }

  @Test(arguments: [
    """
    SELECT * FROM (SELECT genre, rank() OVER (ORDER BY count(*)) AS place FROM book GROUP BY genre) WHERE place < 3
    ORDER BY place
    """,
    "SELECT genre, count(*) AS n, ntile(3) OVER (ORDER BY count(*), genre) AS third FROM book GROUP BY genre ORDER BY third",
    "SELECT genre, n, n * 1.0 / sum(n) OVER () AS share FROM perGenre ORDER BY share DESC LIMIT 3",
    """
    SELECT *, rank() OVER (ORDER BY n) AS place FROM (SELECT genre, count(*) AS n FROM book GROUP BY genre)
    ORDER BY place, lag(n) OVER (ORDER BY genre)
    """,
    // Windows of several kinds, and one around another.
    """
    SELECT genre, authorId, rank() OVER (PARTITION BY genre) AS n, rank() OVER (PARTITION BY authorId) AS m
    FROM book GROUP BY genre, authorId
    """,
    """
    SELECT *, rank() OVER (PARTITION BY genre ORDER BY place) AS other FROM (
      SELECT genre, authorId, rank() OVER (PARTITION BY genre ORDER BY count(*)) AS place FROM book
      GROUP BY genre, authorId)
    """,
    "SELECT genre, count(*) * 1.0 / sum(count(*)) OVER () AS share FROM book GROUP BY genre",
    """
    WITH s(kind, n) AS (SELECT genre, count(*) FILTER (WHERE authorId > 2) FROM book GROUP BY genre),
      r AS (SELECT *, row_number() OVER (ORDER BY n DESC) AS place FROM s)
    SELECT place || '. ' || kind AS text FROM r WHERE place < 4 AND kind > 'g0' ORDER BY place
    """,
    """
    SELECT a.id, a.country, count(*) AS n, lead(a.country, 2) OVER (ORDER BY a.id) AS next FROM author a
    JOIN book b ON b.authorId = a.id GROUP BY a.id ORDER BY a.id
    """,
    """
    SELECT substr(title, 1, 1) AS letter, count(*) AS n, avg(count(*)) OVER (ORDER BY substr(title, 1, 1) ROWS 1 PRECEDING) AS mean
    FROM book GROUP BY letter HAVING n > 0 ORDER BY letter
    """,
  ])
  func `are followed, and the query is what it was`(sql: String) throws {
    try DatabaseQueue().write { db in
      try db.execute(sql: trackedSchema)
      for id in 1...12 {
        try db.execute(
          sql: """
            INSERT INTO author VALUES (\(id), 'a\(id % 5)', char(120 + \(id % 3)));
            INSERT INTO book VALUES (\(id), \(id % 4 + 1), char(97 + \(id % 7)), \(id % 6), 'g\(id * id % 5)', 'f');
            """)
      }
      let query = try Query.analyzed(QueryDefinition(name: "q", form: .sql(sql)), in: db)
      let inner = try #require(query.innerGroups, "\(query.tracking.reason)")
      #expect(query.tracking.mode == .incremental && query.plan == nil)
      #expect(query.tables.allSatisfy { query.cost(ofCommitTo: $0) == .running })
      let groups = try Query.analyzed(inner.groups, in: db)
      #expect(groups.plan?.isGrouped == true)
      // The same of the groups as of the tables; what SQL leaves open, is settled in either.
      let rows = try Row.fetchAll(db, sql: groups.sql)
      let values = rows.map { row in
        groups.layout.columns.indices.map { Value(row[$0]) }
      }
      let given = try #require(inner.statement(for: values))
      let arguments = StatementArguments(given.values.map(\.databaseValue))
      #expect(
        try Row.fetchAll(db, sql: given.sql, arguments: arguments)
          == Row.fetchAll(db, sql: query.sql))
      let none = try #require(inner.statement(for: []))
      #expect(
        try !rows.isEmpty
          && Row.fetchAll(
            db, sql: none.sql, arguments: StatementArguments(none.values.map(\.databaseValue))
          ).isEmpty)
      #expect(
        try Set(Row.fetchAll(db, sql: sql).map { $0.map(\.1) })
          == Set(Row.fetchAll(db, sql: query.sql).map { $0.map(\.1) }))
    }
  }

  @Test(arguments: [
    (
      "SELECT * FROM (SELECT genre, rank() OVER (ORDER BY count(*)) AS place FROM book GROUP BY genre) WHERE place < 3",
      "write ORDER BY outside"
    ),
    (
      "SELECT name, count(*) AS n, ntile(2) OVER (ORDER BY count(*), name) AS half FROM author GROUP BY name ORDER BY 3",
      "under another collation than BINARY"
    ),
    (
      """
      SELECT genre, count(*) AS n, max(count(*)) OVER (ORDER BY count(*) % 2) AS most FROM book GROUP BY genre ORDER BY n
      """, "max() depends on the order"
    ),
    (
      """
      SELECT genre, n, lead(n, 2) OVER (ORDER BY n) AS next, (SELECT count(*) FROM author) AS all_of_them FROM perGenre ORDER BY n
      """, "it has a subquery"
    ),
    (
      "SELECT kind, n, ntile(2) OVER (ORDER BY n, kind) AS half FROM (SELECT loose AS kind, random() AS n FROM genre GROUP BY loose) ORDER BY n",
      "random()"
    ),
    (
      "SELECT DISTINCT count(*) AS n, dense_rank() OVER (ORDER BY count(*)) AS place, avg(count(*)) OVER () AS mean FROM book GROUP BY genre",
      "DISTINCT"
    ),
    (
      "SELECT genre, count(*) AS n, avg(count(*)) OVER () AS mean FROM book GROUP BY genre LIMIT 2",
      "it has LIMIT, and no ORDER BY"
    ),
    (
      "SELECT 1 AS k, genre, avg(count(*)) OVER () AS mean FROM book GROUP BY k, genre",
      "what its window functions look at is not certain"
    ),
  ])
  func `are not where more is asked`(sql: String, reason: String) throws {
    let query = try query(sql)
    #expect(query.innerGroups == nil && query.tracking.mode == .refetch)
    #expect(query.tracking.reason.contains(reason), "\(query.tracking.reason)")
  }

  @Test func `are not given where they would compare as something else`() throws {
    let query = try query(
      "SELECT genre, ntile(2) OVER (ORDER BY count(*), genre) AS half FROM book GROUP BY genre ORDER BY half"
    )
    let inner = try #require(query.innerGroups)
    #expect(inner.columns.map(\.affinity) == [nil, .text])
    let groups: [[Value]] = [
      [.integer(2), .text(Array("g".utf8))], [.integer(1), .null], [.integer(1), .text([])],
    ]
    let statement = try #require(inner.statement(for: groups))
    #expect(statement.sql.contains("CAST(column3 AS TEXT)") && statement.values.count == 4 * 3)
    #expect(inner.statement(for: groups + [[.integer(1), .null]])?.sql == statement.sql)
    #expect(inner.statement(for: [[.integer(2), .blob([1])]]) == nil)
    let many = Array(repeating: [Value.integer(1), .null], count: InnerGroups.most + 1)
    #expect(inner.statement(for: many) == nil)
    #expect(inner.statement(for: Array(many.dropLast())) != nil)
  }

  /// Behind a SELECT, a name is that of a result column first.
  @Test func `have the order of their window where its names mean the same`() throws {
    let same = try query(
      "SELECT genre, n, lead(genre, 2) OVER (ORDER BY n DESC, genre) AS next FROM perGenre")
    #expect(same.sql.contains("\nORDER BY n DESC, genre, \"perGenre\""))
    let other = try query(
      "SELECT genre, -n AS n, lead(genre, 2) OVER (ORDER BY n DESC, genre) AS next FROM perGenre")
    #expect(other.innerGroups != nil && other.sql.contains("\nORDER BY \"perGenre\""))
    let number = try query("SELECT genre, n, avg(n) OVER (ORDER BY 1) AS mean FROM perGenre")
    #expect(number.innerGroups != nil && number.sql.contains("\nORDER BY \"perGenre\""))
  }

  @Test(arguments: [0.5, 0.1, 1e15]) func `are not added in another order where that may matter`(
    real: Double
  ) throws {
    let query = try query(
      """
      SELECT genre, total(authorId) AS t, total(authorId) / sum(total(authorId)) OVER () AS share FROM book
      GROUP BY genre
      """)
    let inner = try #require(query.innerGroups)
    let isExact = real == 0.5 || !inner.areToAddExactly
    #expect((inner.statement(for: [[.real(real), .text([0x67])]]) != nil) == isExact)
  }

  @Test func `say by what key equal ones come, where none is written`() throws {
    let query = try query(
      "SELECT genre, row_number() OVER (ORDER BY count(*)) * 2 AS n FROM book GROUP BY genre ORDER BY n"
    )
    #expect(query.innerGroups != nil)
    #expect(query.tracking.reason.hasSuffix("come in the order of genre"))
  }
}

extension Value {
  fileprivate var databaseValue: DatabaseValue {
    switch self {
    case .null: .null
    case .integer(let integer): integer.databaseValue
    case .real(let real): real.databaseValue
    case .text(let text): String(decoding: text, as: UTF8.self).databaseValue
    case .blob(let blob): Data(blob).databaseValue
    }
  }

  fileprivate init(_ value: DatabaseValue) {
    switch value.storage {
    case .null: self = .null
    case .int64(let integer): self = .integer(integer)
    case .double(let real): self = .real(real)
    case .string(let text): self = .text(Array(text.utf8))
    case .blob(let blob): self = .blob(Array(blob))
    }
  }
}
