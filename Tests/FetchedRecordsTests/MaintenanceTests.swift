import GRDB
import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

@Suite struct `Queries that are maintained row by row` {
  private static let rows: String = (1...20).map { (id: Int) -> String in
    // From the last to the first, so that each book finds its author.
    let id = 21 - id
    return """
      INSERT INTO author VALUES (\(id), 'author \(id % 7)', 'country \(id % 3)');
      INSERT INTO book VALUES (\(id), \(min(20, id + id % 5)), 'title \(id % 5)', \(id % 4));
      INSERT INTO shelf VALUES (\(id), \(id % 11 + 1), 'room \(id % 3)', \(id % 6));
      INSERT INTO pair VALUES (\(id % 3), \(id), \(id % 4));
      INSERT INTO room VALUES ('room \(id)', \(id));
      INSERT INTO loose VALUES (\(id % 3 == 0 ? "NULL" : "'code \(id)'"), \(id % 2), \(id % 5));
      """
  }.joined(separator: "\n")

  private static let changes: [String] = [
    "UPDATE author SET name = name || '+', country = 'country 1' WHERE id = 3",
    "DELETE FROM author WHERE id = 11", "INSERT INTO author VALUES (40, 'x', 'y')",
    "UPDATE book SET authorId = 2, title = 'other', price = price + 1 WHERE id = 4",
    "DELETE FROM book WHERE id = 5", "INSERT INTO book VALUES (41, 1, 'title 9', -1)",
    "UPDATE shelf SET bookId = 1, room = 'room 2', n = n + 1 WHERE id = 6",
    "DELETE FROM shelf WHERE id = 7", "INSERT INTO shelf VALUES (42, 3, NULL, 8)",
    "UPDATE room SET code = 'room 0' WHERE code = 'room 9'",
    "UPDATE pair SET a = 1.0, v = 9 WHERE b = 4", "DELETE FROM pair WHERE b = 5",
    "DELETE FROM room WHERE code = 'room 2'", "UPDATE loose SET v = 1 - v WHERE code = 'code 4'",
    "DELETE FROM loose WHERE code IS NULL AND w = 1", "INSERT INTO loose VALUES (NULL, 1, 1)",
    "UPDATE loose SET code = NULL WHERE code = 'code 5'", "INSERT INTO loose VALUES ('code', 0, 2)",
  ]

  private static let names = RandomWorld.cases.filter { $0.tracking == .incremental }
    .map(\.definition.name)

  @Test(arguments: names)
  func `are refetched once at most, however their tables change`(name: String) throws {
    let test = try #require(RandomWorld.cases.first { $0.definition.name == name })
    let fixture = try Fixture(
      schema: RandomWorld.schema + Self.rows, queries: .definitions([test.definition]))
    let watched = try fixture.open(name, arguments: test.arguments)
    // The first change of each table may make what the others need.
    for change in [
      "UPDATE author SET name = 0 WHERE id = 1", "UPDATE shelf SET n = 9 WHERE id = 1",
      "UPDATE book SET title = 'z' WHERE id = 1", "UPDATE room SET floor = 2 WHERE code = 'room 1'",
    ] {
      try fixture.write(change)
      fixture.refresh()
    }
    let before = fixture.refresher.statistics
    #expect(before.refetches <= 1)
    for change in Self.changes {
      try fixture.write(change)
      fixture.refresh()
      let shown = watched.snapshot.results.shown
      let expected = try fixture.writer.read { try test.plainSelect(in: $0) }
      #expect(shown == expected, "\(change)")
    }
    #expect(fixture.refresher.statistics.refetches == before.refetches)
    #expect(fixture.refresher.statistics.maintained > before.maintained)
    #expect(fixture.refresher.statistics.failures == 0)
  }

  @Test func `are one partition where a column has one value, however many they are`() throws {
    let sql = "SELECT id, lead(n, 2) OVER (ORDER BY n) AS next FROM shelf WHERE bookId = :book"
    let rows = """
      WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 300)
      INSERT INTO shelf SELECT i, i % 2, 'r', i FROM c;
      """
    let definition = QueryDefinition(
      name: "q", form: .sql(sql), parameters: [QueryParameter(name: "book", type: .integer)])
    let fixture = try Fixture(
      schema: RandomWorld.schema + rows, queries: .definitions([definition]))
    let watched = try fixture.open("q", arguments: ["book": .integer(1)])
    try fixture.write("UPDATE shelf SET n = 400 WHERE id = 7")
    fixture.refresh()
    let before = fixture.refresher.statistics
    try fixture.write("UPDATE shelf SET n = 500 WHERE id IN (9, 10)")
    fixture.refresh()
    let shown = watched.snapshot.results.shown.flatMap(\.records)
    let expected = try fixture.writer.read {
      try Row.fetchAll($0, sql: sql + " ORDER BY id", arguments: ["book": 1])
    }
    #expect(shown.map { $0.map(\.text) } == expected.map { $0.databaseValues.map { "\($0)" } })
    #expect(fixture.refresher.statistics.refetches == before.refetches)
    #expect(fixture.refresher.statistics.maintained == before.maintained + 1)
  }

  @Test func `are one row of many, which are followed once for all who look one up`() throws {
    var limits = RefresherLimits()
    limits.dearStatement = .zero
    let sql = """
      SELECT id, place FROM (SELECT *, rank() OVER (ORDER BY price DESC) AS place FROM book)
      WHERE id = :id
      """
    let definition = QueryDefinition(
      name: "place", form: .sql(sql), parameters: [QueryParameter(name: "id", type: .integer)])
    let fixture = try Fixture(
      schema: RandomWorld.schema + Self.rows, queries: .definitions([definition]), limits: limits)
    let watched = try (1...4).map { try fixture.open("place", arguments: ["id": .integer($0)]) }
    for price in 1...6 {
      try fixture.write("UPDATE book SET price = \(price) WHERE id = 2")
      fixture.refresh()
      fixture.refresher.settle()
    }
    let before = fixture.refresher.statistics
    #expect(fixture.refresher.queue.sync { fixture.refresher.followedRows.count } == 1)
    for change in [
      "UPDATE book SET price = 10 WHERE id = 2", "DELETE FROM book WHERE id = 3",
      "INSERT INTO book VALUES (3, 1, 'new', 20)", "UPDATE book SET id = 90 WHERE id = 4",
    ] {
      try fixture.write(change)
      fixture.refresh()
      for (index, watched) in watched.enumerated() {
        let expected = try fixture.writer.read {
          try Row.fetchAll($0, sql: sql, arguments: ["id": index + 1])
        }
        let shown = watched.snapshot.results.shown.flatMap(\.records)
        #expect(
          shown.map { $0.map(\.text) } == expected.map { $0.databaseValues.map { "\($0)" } },
          "\(change), \(index + 1)")
      }
    }
    #expect(fixture.refresher.statistics.refetches == before.refetches)
    // Whoever comes later finds them.
    let later = try fixture.open("place", arguments: ["id": .integer(5)])
    let expected = try fixture.writer.read { try Row.fetchOne($0, sql: sql, arguments: ["id": 5]) }
    let shown = later.snapshot.results.shown.flatMap(\.records)
    #expect(shown.map { $0.map(\.text) } == [expected?.databaseValues.map { "\($0)" }])
    #expect(fixture.refresher.queue.sync { later.controller.durations.fetch } == nil)
    for watched in watched + [later] { fixture.refresher.close(watched.controller) }
    fixture.refresher.settle()
    #expect(fixture.refresher.queue.sync { fixture.refresher.live.isEmpty })
  }

  @Test func `are one record of aggregates, which follows rows once it takes long`() throws {
    var limits = RefresherLimits()
    limits.dearStatement = .zero
    let sql = "SELECT count(*) AS n, sum(price) AS price, max(id) - min(id) AS spread FROM book"
    let fixture = try Fixture(
      schema: RandomWorld.schema + Self.rows,
      queries: .definitions([QueryDefinition(name: "totals", form: .sql(sql))]), limits: limits)
    let watched = try fixture.open("totals")
    for id in 50..<56 {
      try fixture.write("INSERT INTO book VALUES (\(id), 1, 'new', 2)")
      fixture.refresh()
      fixture.refresher.settle()
    }
    let before = fixture.refresher.statistics
    for id in 50..<56 {
      try fixture.write("DELETE FROM book WHERE id = \(id)")
      fixture.refresh()
      let record = try #require(watched.snapshot.results.shown.first?.records.first)
      let expected = try fixture.writer.read { try Row.fetchOne($0, sql: sql) }
      #expect(record.map(\.text) == expected?.databaseValues.map { "\($0)" })
    }
    #expect(fixture.refresher.statistics.refetches == before.refetches)
    fixture.refresher.close(watched.controller)
    fixture.refresher.settle()
    #expect(fixture.refresher.queue.sync { fixture.refresher.followedRows.isEmpty })
  }

  @Test func `run again where all rows are joined with all, and gather no more`() throws {
    let sql =
      "SELECT id, (SELECT count(*) FROM book WHERE price = b.price) AS n FROM book b ORDER BY id"
    let fixture = try Fixture(
      schema: RandomWorld.schema + """
        CREATE INDEX bookByPrice ON book(price);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
        INSERT INTO book SELECT i, NULL, 'x', 1 FROM n;
        """, queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    #expect(watched.snapshot.query.tracking.mode == .incremental)
    for id in 1...3 {
      try fixture.write("UPDATE book SET price = 2 WHERE id = \(id)")
      fixture.refresh()
      let expected = try fixture.writer.read { db in
        try Int.fetchAll(db, sql: "SELECT n FROM (\(sql))")
      }
      let shown = watched.snapshot.results.shown[0].records.map(\.[1])
      #expect(shown == expected.map { .integer(Int64($0)) })
    }
    let fallbacks = fixture.refresher.statistics.queries["q"]?.fallbacks
    #expect(fallbacks == ["manyContributions": 3])
  }

  /// To count the notes of a post takes far longer than what is done on the queue that follows commits.
  @Test func `gather nothing anew where the time for a change is over`() throws {
    let sql = """
      SELECT id, (SELECT count(*) FROM note WHERE note.post = post.id
        AND replace(hex(zeroblob(4000)), '0', word) > 'a') AS n FROM post ORDER BY id
      """
    let changes = [
      "UPDATE note SET word = 'c' WHERE id = 1", "UPDATE note SET post = 2 WHERE id = 2",
      "UPDATE note SET post = 3 WHERE id = 2", "DELETE FROM note WHERE id = 3",
    ]
    let (query, statistics) = try Fixture.following(
      sql,
      schema: """
        CREATE TABLE post (id INTEGER PRIMARY KEY);
        CREATE TABLE note (id INTEGER PRIMARY KEY, post INTEGER, word TEXT);
        CREATE INDEX noteByPost ON note(post);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
        INSERT INTO note SELECT i, i % 2 + 1, 'b' FROM n;
        INSERT INTO post VALUES (1), (2), (3);
        """, changes)
    #expect(query.tracking.mode == .incremental)
    #expect(statistics.queries["q"]?.fallbacks == ["firstChange": 1])
    #expect(statistics.background > 1)
  }
}
