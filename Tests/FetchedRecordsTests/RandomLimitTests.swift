import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// Queries that are made of the rows up to LIMIT in their FROM or WHERE, held against themselves on the writer's
/// connection after each random transaction.
///
/// `DIDCHANGE_STEPS` is the number of transactions, `DIDCHANGE_SEED` replays a run.
@Suite struct `Random limits` {
  static let steps = RandomSource.number("DIDCHANGE_STEPS") ?? 400
  static let seed = RandomSource.seed

  /// SELECTs of rows whose order leaves nothing open, each with `id` and `n`.
  private static let rows = [
    "SELECT id, price AS n, title FROM book ORDER BY price DESC, id LIMIT 3",
    "SELECT id, authorId AS n, title FROM book WHERE price > :least ORDER BY title, id DESC LIMIT 4 OFFSET 1",
    "SELECT s.id, s.n, s.room AS title FROM shelf AS s ORDER BY n, id LIMIT :least + 2",
    "SELECT id, bookId AS n, room AS title FROM shelf WHERE room = 'a' ORDER BY id LIMIT 5",
    "SELECT number AS id, number AS n, by AS title FROM signed ORDER BY name, number LIMIT 6",
    "SELECT id, country AS n, name AS title FROM author ORDER BY name DESC, id LIMIT 5",
    "SELECT id, price AS n, title FROM book ORDER BY id DESC LIMIT -1 OFFSET 2",
    """
    SELECT b.id, b.price AS n, a.name AS title FROM book AS b LEFT JOIN author AS a ON a.id = b.authorId
    ORDER BY a.name, b.id LIMIT 5
    """,
    """
    SELECT a.id, count(b.id) AS n, a.name AS title FROM author AS a LEFT JOIN book AS b ON b.authorId = a.id
    GROUP BY a.id ORDER BY n DESC, a.id LIMIT 3
    """,
  ]

  /// What is made of them.
  private static let queries = [
    "SELECT * FROM (%) ORDER BY id",
    "SELECT n, id, title FROM (%) AS r WHERE n > 1 OR title IS NULL ORDER BY n, id LIMIT 3",
    "WITH r AS (%) SELECT r.id, r.n, b.title FROM r LEFT JOIN book AS b ON b.id = r.n ORDER BY r.n, r.id",
    """
    SELECT r.id, b.id AS book, name FROM (%) AS r JOIN book AS b ON b.authorId = r.id
    LEFT JOIN author AS a ON a.id = b.authorId ORDER BY name COLLATE BINARY, r.id DESC, b.id
    """,
    """
    WITH r(i, m, t) AS (%) SELECT m, count(*) AS c, max(i) AS last FROM r GROUP BY m ORDER BY m, typeof(m)
    """,
    "SELECT count(*) AS c, group_concat(id) AS ids, max(n) AS most, avg(n) AS mean FROM (%)",
    """
    SELECT r.n, r.title, group_concat(r.id, '/') AS ids, group_concat(b.id) AS books FROM (%) AS r
    LEFT JOIN book AS b ON b.authorId = r.id GROUP BY r.n ORDER BY r.n, typeof(r.n)
    """,
    """
    SELECT r.*, (SELECT count(*) FROM shelf WHERE bookId = r.id) AS c FROM (%) AS r
    WHERE EXISTS (SELECT 1 FROM author WHERE author.id = r.id) ORDER BY c DESC, r.id
    """,
    """
    SELECT b.id, b.title, name FROM book AS b LEFT JOIN author AS a ON a.id = b.authorId
    WHERE (b.id, b.price, b.title) IN (%) ORDER BY b.title, b.id
    """,
  ]

  @Test(arguments: ["wal", "delete"])
  func `each result is that of the query`(journalMode: String) throws {
    let texts = Self.queries.flatMap { query in Self.rows.map { query.replacing("%", with: $0) } }
    let definitions = texts.enumerated().map { index, sql in
      QueryDefinition(
        name: "q\(index)", form: .sql(sql),
        parameters: sql.contains(":least") ? [QueryParameter(name: "least", type: .integer)] : [])
    }
    var limits = RefresherLimits()
    limits.dearStatement = .zero
    let fixture = try Fixture(
      schema: RandomWorld.schema, queries: .definitions(definitions), journalMode: journalMode,
      limits: limits)
    let arguments: QueryArguments = ["least": .integer(1)]
    let watched = try definitions.map { try fixture.open($0.name, arguments: arguments) }
    let followed = watched.filter { $0.snapshot.query.limitedRows != nil }
    #expect(followed.count > texts.count / 2, "\(followed.count) of \(texts.count)")
    var random = RandomSource(seed: Self.seed)
    print("random limits (\(journalMode)): DIDCHANGE_SEED=\(Self.seed), \(Self.steps) steps")
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
        for (text, watched) in zip(texts, watched) {
          try #require(
            try Self.shown(by: watched) == Self.rows(of: text, arguments, in: db),
            """
            \(text), step \(step): replay by DIDCHANGE_SEED=\(Self.seed) DIDCHANGE_STEPS=\((step + 1) * 4) \
            swift test --filter 'Random limits'; the last transaction: \(sql.joined(separator: "; "))
            """)
        }
      }
    }
    let statistics = fixture.refresher.statistics
    #expect(statistics.maintained > statistics.refetches / 4, "\(statistics)")
    #expect(fixture.refresher.queue.sync { fixture.refresher.followedRows.count } > 3)
    for watched in watched { fixture.refresher.close(watched.controller) }
    fixture.refresher.settle()
    #expect(fixture.refresher.queue.sync { fixture.refresher.followedRows.isEmpty })
    #expect(fixture.refresher.queue.sync { fixture.refresher.live.isEmpty })
  }

  /// The first rows that an index has for each of several arguments.
  private static let windows = [
    "SELECT id, n, bookId FROM shelf WHERE room = :key ORDER BY id DESC LIMIT 3",
    "SELECT id, n FROM shelf WHERE room = :key ORDER BY id LIMIT 2",
    "SELECT id, room FROM shelf WHERE :key = bookId ORDER BY id DESC LIMIT 4",
    "SELECT id, title, price FROM book WHERE authorId = :key ORDER BY id LIMIT 1",
    "SELECT id, title FROM book WHERE authorId = :key ORDER BY id LIMIT 2 OFFSET 1",
    "SELECT id, title FROM book WHERE authorId = :key ORDER BY id LIMIT 2 + (:key IS 1)",
    "SELECT id, n, room FROM shelf WHERE :key IS NOT 9 ORDER BY n, id LIMIT 4",
  ]

  @Test(arguments: ["wal", "delete"])
  func `each window is that of its argument`(journalMode: String) throws {
    let definitions = Self.windows.enumerated().map { index, sql in
      QueryDefinition(
        name: "q\(index)", form: .sql(sql),
        parameters: [QueryParameter(name: "key", type: .text)])
    }
    let fixture = try Fixture(
      schema: RandomWorld.schema, queries: .definitions(definitions), journalMode: journalMode)
    let keys: [Value] =
      ["a", "A", "ä", "B "].map { .text(Array($0.utf8)) } + (1...5).map(Value.integer)
    var watched: [(sql: String, arguments: QueryArguments, watched: Watched)] = []
    for (sql, definition) in zip(Self.windows, definitions) {
      for key in keys {
        let arguments = ["key": key]
        watched.append((sql, arguments, try fixture.open(definition.name, arguments: arguments)))
      }
    }
    let routed = watched.filter { $0.watched.snapshot.query.routing != nil }
    #expect(routed.count == 4 * keys.count)
    var random = RandomSource(seed: Self.seed)
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
        for (text, arguments, watched) in watched {
          try #require(
            try Self.shown(by: watched) == Self.rows(of: text, arguments, in: db),
            """
            \(text) \(arguments), step \(step): replay by DIDCHANGE_SEED=\(Self.seed) \
            DIDCHANGE_STEPS=\((step + 1) * 4) swift test --filter 'Random limits'; the last transaction: \
            \(sql.joined(separator: "; "))
            """)
        }
      }
    }
    let statistics = fixture.refresher.statistics
    #expect(statistics.maintained > statistics.refetches, "\(statistics)")
    fixture.refresher.queue.sync {
      #expect(routed.allSatisfy { $0.watched.controller.whole == nil })
    }
  }

  private static func shown(by watched: Watched) -> [[Value]] {
    let results = watched.snapshot.results
    return results.records(in: 0..<results.count).map { record in
      results.layout.columns.indices.map { record.value($0) }
    }
  }

  private static func rows(
    of sql: String, _ arguments: QueryArguments, in db: Database
  ) throws -> [[Value]] {
    let statement = try db.cachedStatement(sql: sql)
    statement.bind(arguments)
    var rows: [[Value]] = []
    while try statement.step(in: db) {
      rows.append((0..<Int32(statement.columnCount)).map { statement.value(at: $0) })
    }
    return rows
  }
}
