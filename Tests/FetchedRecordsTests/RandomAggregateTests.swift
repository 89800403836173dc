import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// Statements that aggregate rows, beside lists that have little to do with them, held against the same
/// statements on the writer's connection after each random transaction.
///
/// `DIDCHANGE_STEPS` is the number of transactions, `DIDCHANGE_SEED` replays a run.
@Suite struct `Random aggregates` {
  static let steps = RandomSource.number("DIDCHANGE_STEPS") ?? 400
  static let seed = RandomSource.seed

  /// Those whose rows are followed.
  static let followed = [
    "SELECT count(*) FROM pair",
    "SELECT count(*) FROM author", "SELECT count(price) FROM book", "SELECT sum(price) FROM book",
    "SELECT total(price) FROM book", "SELECT avg(price) FROM book WHERE price > :least",
    "SELECT sum(price * 1.1) FROM book", "SELECT avg(price / 7) || total(id + 0.7) FROM book",
    "SELECT max(price) FROM book", "SELECT min(price) FROM book", "SELECT max(title) FROM book",
    "SELECT max(n) - min(n) || ' of ' || count(*) FROM shelf", "SELECT sum(n) FROM shelf",
    "SELECT avg(n) FROM shelf WHERE room IS NOT NULL",
    "SELECT coalesce(sum(n) FILTER (WHERE bookId > :least), -1) AS \"the sum\" FROM shelf -- a",
    "SELECT count(*) FROM book JOIN author ON author.id = authorId WHERE country IS NOT NULL",
    "SELECT count(DISTINCT room) FROM shelf", "SELECT count(DISTINCT price) FROM book",
    "SELECT count(DISTINCT n) || ' of ' || count(n) || sum(DISTINCT n) FROM shelf WHERE n > :least",
    "SELECT max(number) FROM signed", "SELECT count(*) FROM cheap",
    "WITH b AS (SELECT * FROM book WHERE price < 5) SELECT sum(id) FROM b",
    "SELECT count(*) FROM (SELECT DISTINCT room FROM shelf)",
    "SELECT max(c) FROM (SELECT count(*) AS c FROM shelf GROUP BY room) WHERE c > 1",
    "SELECT CASE WHEN count(*) > 5 THEN 'many' ELSE round(avg(n), 1) END FROM shelf",
  ]

  /// Those that run again.
  static let refused = [
    "SELECT max(name) FROM author",
    "SELECT group_concat(title) FROM (SELECT title FROM book ORDER BY id)",
    "SELECT sum(total) FROM crowd",
    "SELECT (SELECT count(*) FROM book)",
    "SELECT count(*) FROM book GROUP BY authorId ORDER BY 1 DESC LIMIT 1",
    "SELECT price FROM book ORDER BY id LIMIT 1",
    "SELECT count(*) FROM book UNION SELECT 1 LIMIT 1",
    "SELECT title || max(id) FROM book",
    """
    SELECT sum(id) FROM (
      SELECT id, authorId, row_number() OVER (PARTITION BY authorId ORDER BY title) AS n FROM book)
    WHERE n = 1
    """,
  ]

  @Test(arguments: ["wal", "delete"])
  func `each value is that of the statement`(journalMode: String) throws {
    let statements = Self.followed + Self.refused
    var definitions = statements.enumerated().map { Self.definition("q\($0)", [$1]) }
    definitions.append(Self.definition("all", statements))
    definitions += Self.wholes.enumerated().map { Self.whole("w\($0)", $1) }
    var limits = RefresherLimits()
    limits.dearStatement = .zero
    let fixture = try Fixture(
      schema: RandomWorld.schema, queries: .definitions(definitions), journalMode: journalMode,
      limits: limits)
    let all = try #require(fixture.refresher.catalog["all"]).analysis.get()
    for (index, whole) in Self.wholes.enumerated() {
      let query = try #require(fixture.refresher.catalog["w\(index)"]).analysis.get()
      #expect(query.tracking.mode == (index == 0 ? .refetch : .incremental), "\(whole)")
    }
    for (index, statement) in all.alongside.enumerated() {
      #expect((statement.plan != nil) == (index < Self.followed.count), "\(statement)")
    }
    let arguments: QueryArguments = ["least": .integer(2)]
    let watched = try definitions.map { definition in
      (definition, try fixture.open(definition.name, arguments: arguments))
    }
    var random = RandomSource(seed: Self.seed)
    print("random aggregates (\(journalMode)): DIDCHANGE_SEED=\(Self.seed), \(Self.steps) steps")
    for step in 0..<Self.steps / 4 {
      let (sql, isRolledBack) = RandomWorld.transaction(using: &random)
      try fixture.writer.writeWithoutTransaction { db in
        try db.inTransaction {
          for statement in sql { try db.execute(sql: statement) }
          return isRolledBack ? .rollback : .commit
        }
      }
      fixture.refresh()
      try fixture.examine { db in
        for (definition, watched) in watched {
          if case .sql(let whole) = definition.form {
            // There may be no row that is looked up.
            let row = try Self.row(of: whole, arguments, in: db) ?? []
            let results = watched.snapshot.results
            let shown = results.records(in: 0..<results.count).flatMap { record in
              results.layout.columns.indices.map { record.value($0) }
            }
            try #require(
              shown == row,
              """
              \(whole), step \(step): replay by DIDCHANGE_SEED=\(Self.seed) \
              DIDCHANGE_STEPS=\((step + 1) * 4) swift test --filter 'Random aggregates'; the last \
              transaction: \(sql.joined(separator: "; "))
              """)
            continue
          }
          let expected = try definition.alongside.map {
            NamedValue(name: $0.name, value: try db.value(of: $0.sql, arguments))
          }
          try #require(
            watched.snapshot.alongside == expected,
            """
            \(definition.alongside.map(\.sql)), step \(step): replay by DIDCHANGE_SEED=\(Self.seed) \
            DIDCHANGE_STEPS=\((step + 1) * 4) swift test --filter 'Random aggregates'; the last \
            transaction: \(sql.joined(separator: "; "))
            """)
        }
      }
    }
    let statistics = fixture.refresher.statistics
    #expect(statistics.knownAlongside > statistics.ranAlongside / 4)
    #expect(statistics.maintained > Self.steps / 8)
    for (_, watched) in watched { fixture.refresher.close(watched.controller) }
    fixture.refresher.settle()
    #expect(fixture.refresher.queue.sync { fixture.refresher.followedRows.isEmpty })
    #expect(fixture.refresher.queue.sync { fixture.refresher.live.isEmpty })
  }

  /// Queries whose only record aggregates all rows, or is one of them; that of the first runs again.
  static let wholes = [
    "SELECT count(*) AS n, max(name) AS name FROM author",
    "SELECT count(*) AS n FROM author", "SELECT sum(price) AS s, count(*) AS n FROM book",
    "SELECT min(n) AS least, max(n) AS most, max(n) - min(n) AS spread, avg(n) AS mean FROM shelf",
    "SELECT count(*) FILTER (WHERE price > :least) AS dear, total(price * 0.3) AS t FROM book",
    """
    WITH b AS (SELECT * FROM book WHERE price < 5) SELECT count(*) AS n, max(b.id) AS last -- a, b
    FROM b JOIN author ON author.id = b.authorId
    """,
    """
    SELECT * FROM (SELECT id, title, price, rank() OVER (ORDER BY price DESC) AS place FROM book)
    WHERE id = :least
    """,
    """
    WITH r AS (SELECT row_number() OVER (ORDER BY n DESC) AS place, id, room FROM shelf)
    SELECT place, r.id, room AS at FROM r WHERE 3 == r.id LIMIT 1
    """,
    """
    SELECT total, s.id FROM (
      SELECT id, sum(n) OVER (ORDER BY id) AS total FROM shelf WHERE n < 5) AS s
    WHERE (s.id = :least) ORDER BY total
    """,
  ]

  private static func whole(_ name: String, _ sql: String) -> QueryDefinition {
    QueryDefinition(
      name: name, form: .sql(sql),
      parameters: sql.contains(":least") ? [QueryParameter(name: "least", type: .integer)] : [])
  }

  private static func row(
    of sql: String, _ arguments: QueryArguments, in db: Database
  ) throws -> [Value]? {
    let statement = try db.cachedStatement(sql: sql)
    statement.bind(arguments)
    guard try statement.step(in: db) else { return nil }
    let row = (0..<Int32(statement.columnCount)).map { statement.value(at: $0) }
    while try statement.step(in: db) {}
    return row
  }

  private static func definition(_ name: String, _ statements: [String]) -> QueryDefinition {
    let isParameterUsed = statements.contains { $0.contains(":least") }
    return QueryDefinition(
      name: name, form: .declared(.init(table: "audit")),
      parameters: isParameterUsed ? [QueryParameter(name: "least", type: .integer)] : [],
      alongside: statements.enumerated().map { .init(name: "v\($0)", sql: $1) })
  }
}
