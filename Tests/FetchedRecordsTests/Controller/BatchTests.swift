import Foundation
import GRDB
import OrderedResults
import Testing

@testable import FetchedRecords

@Suite struct `Records in batches` {
  private func world(_ storage: Storage, count: Int = 1_000) throws -> ControllerWorld {
    try ControllerWorld(
      storage,
      schema: """
        CREATE TABLE player (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL, team TEXT, score INTEGER NOT NULL DEFAULT 0);
        WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO player SELECT i, 'n' || (i * 7919 % 10007), 'team' || (i % 3), i % 100 FROM n;
        """)
  }

  private static let byName = Player.order(Column("name"), Column("id"))

  @Test(arguments: Storage.allCases)
  func `are read by key when they are touched`(storage: Storage) throws {
    let world = try world(storage)
    let controller = try BatchedRecordsController(
      world.writer, request: Self.byName, fetchBatchSize: 10, sectionName: Column("team"),
      queue: world.queue)
    let all = try world.players(Player.order(Column("team"), Column("name"), Column("id")))
    try world.onQueue {
      try controller.performFetch()
      #expect(controller.numberOfRecords == 1_000)
      #expect(controller.sections.map(\.name) == ["team0", "team1", "team2"])
      #expect(controller.sections.map(\.numberOfRecords).reduce(0, +) == 1_000)
      for position in [0, 999, 500, 501, 3] {
        #expect(try controller.record(at: position) == all[position])
      }
      #expect(try controller.record(at: 1_000) == nil)
      #expect(try controller.record(at: path(1, 0)) == all[controller.sections[1].range.lowerBound])
    }
  }

  @Test func `are pages forwards and backwards from a record, and at any place`() throws {
    let world = try world(.pool)
    let controller = try BatchedRecordsController(
      world.writer, request: Self.byName, fetchBatchSize: 7, queue: world.queue)
    let all = try world.players(Self.byName)
    try world.onQueue {
      try controller.performFetch()
      let middle = all[400]
      #expect(controller.position(forKey: middle.id) == 400)
      #expect(controller.indexPath(forKey: middle.id) == path(0, 400))
      #expect(try controller.records(after: middle.id, limit: 20) == Array(all[401..<421]))
      #expect(try controller.records(before: middle.id, limit: 20) == Array(all[380..<400]))
      #expect(try controller.records(before: all[3].id, limit: 20) == Array(all[0..<3]))
      #expect(try controller.records(after: all[990].id, limit: 20) == Array(all[991...]))
      #expect(try controller.records(after: 5_000, limit: 20).isEmpty)
      #expect(try controller.records(in: 700..<731) == Array(all[700..<731]))
    }
  }

  @Test(arguments: Storage.allCases)
  func `change as they would if they were held`(storage: Storage) throws {
    let world = try world(storage, count: 200)
    let controller = try BatchedRecordsController(
      world.writer, request: Self.byName, fetchBatchSize: 10, queue: world.queue)
    var changes: [FetchedRecordChange] = []
    let before = try world.players(Self.byName)
    try world.onQueue {
      controller.trackChanges(onChange: { changes.append($1) })
      try controller.performFetch()
      _ = try controller.records(in: 0..<200)
    }
    // A column that orders nothing, of a record that is at hand.
    try world.write("UPDATE player SET score = 555 WHERE id = \(before[7].id)")
    world.settle(controller)
    try world.onQueue {
      let updated = try controller.record(at: 7)
      #expect(changes == [.update(indexPath: path(0, 7), changes: [:])])
      #expect(updated?.score == 555)
      changes = []
    }
    try world.write(
      """
      DELETE FROM player WHERE id = \(before[0].id);
      UPDATE player SET name = 'zzz' WHERE id = \(before[1].id);
      INSERT INTO player (id, name) VALUES (1000, 'zzzz');
      """)
    world.settle(controller)
    let after = try world.players(Self.byName)
    try world.onQueue {
      let shown = try controller.records(in: 0..<200)
      #expect(
        changes == [
          .move(indexPath: path(0, 1), newIndexPath: path(0, 198), changes: [:]),
          .deletion(indexPath: path(0, 0)), .insertion(indexPath: path(0, 199)),
        ])
      #expect(shown == after)
    }
  }

  @Test func `that were deleted meanwhile are nil, and then told`() throws {
    let world = try world(.pool, count: 50)
    let controller = try BatchedRecordsController(
      world.writer, request: Self.byName, fetchBatchSize: 5, queue: world.queue)
    var changes: [FetchedRecordChange] = []
    try world.onQueue {
      controller.trackChanges(onChange: { changes.append($1) })
      try controller.performFetch()
      let last = try #require(try world.players(Self.byName).last)
      try world.write("DELETE FROM player WHERE id = \(last.id)")
      #expect(try controller.record(at: 49) == nil)
      #expect(try controller.record(at: 48) != nil)
    }
    world.settle(controller)
    world.onQueue { #expect(changes == [.deletion(indexPath: path(0, 49))]) }
  }

  @Test func `may have fields of their own, and parameters`() throws {
    let world = try world(.pool, count: 50)
    let request = DeclaredRequest<PlainPlayer>(
      table: "player", fields: ["id", "upper(name) || :tail AS name"],
      predicate: "score < :most", order: ["name DESC"],
      arguments: ["tail": "!", "most": 20])
    let controller = try BatchedRecordsController(
      world.writer, request: request, fetchBatchSize: 5, queue: world.queue)
    let expected = try world.writer.read { try request.fetchAll($0) }
    try world.onQueue {
      try controller.performFetch()
      #expect(try controller.records(in: 0..<99) == expected)
      #expect(expected.first?.name.hasSuffix("!") == true)
    }
    let sql = SQLRequest<PlainPlayer>(
      sql: "SELECT id, name FROM player WHERE id > ? ORDER BY score DESC, id", arguments: [40])
    try world.onQueue {
      let controller = try BatchedRecordsController(
        world.writer, request: sql, queue: world.queue)
      try controller.performFetch()
      #expect(
        try controller.records(in: 0..<99) == (try world.writer.read { try sql.fetchAll($0) }))
    }
  }

  @Test(arguments: [
    "SELECT id, upper(name) name FROM player ORDER BY name DESC",
    "SELECT ALL id, name FROM player WHERE score IS DISTINCT FROM 7 ORDER BY id -- AS they came",
    "SELECT id, lower(name) AS \"the name\", name FROM player ORDER BY \"the name\" DESC",
  ])
  func `may be those of any SELECT from one table`(sql: String) throws {
    let world = try world(.pool, count: 50)
    let request = SQLRequest<PlainPlayer>(sql: sql)
    let controller = try BatchedRecordsController(
      world.writer, request: request, fetchBatchSize: 5, queue: world.queue)
    let expected = try world.writer.read { try request.fetchAll($0) }
    try world.onQueue {
      try controller.performFetch()
      #expect(try controller.records(in: 0..<99) == expected)
    }
  }

  @Test(arguments: [
    "SELECT DISTINCT id, name FROM player", "SELECT id, name FROM player LIMIT 3",
    "SELECT a.id, a.name FROM player a JOIN player b", "SELECT min(id) AS id, name FROM player",
    "SELECT id, name FROM player GROUP BY name", "SELECT id, name FROM player ORDER BY random()",
  ])
  func `are refused where the request does not allow them`(sql: String) throws {
    let world = try world(.pool, count: 5)
    let controller = try BatchedRecordsController<PlainPlayer>(
      world.writer, request: SQLRequest<PlainPlayer>(sql: sql), queue: world.queue)
    #expect {
      try world.onQueue { try controller.performFetch() }
    } throws: {
      ($0 as? FetchedRecordsError)?.kind == .request
    }
  }
}
