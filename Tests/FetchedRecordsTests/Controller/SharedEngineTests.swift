import Dispatch
import Foundation
import GRDB
import Locks
import OrderedResults
import Testing

@testable import FetchedRecords

/// What the controllers of one writer share.
@Suite struct `Controllers of one writer` {
  @Test(arguments: [Storage.pool, .memory])
  func `that ask for the same with other values are found by the values`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let followed = try (0..<20).map { number in
      try world.follow(Player.filter(Column("team") == "T\(number)").order(Column("name")))
    }
    let engine = followed[0].0.core.engine
    #expect(
      engine.queue.sync { Set(engine.live.all.map { $0.group.map(ObjectIdentifier.init) }) }.count
        == 1)
    try world.write("UPDATE player SET team = 'T7' WHERE id = 1", settling: followed[0].0)
    let before = engine.statistics.maintained
    try world.write("UPDATE player SET name = 'Zoe' WHERE id = 1", settling: followed[0].0)
    // One; and where a busy machine interrupted some, those once more.
    #expect((1..<10).contains(engine.statistics.maintained - before))
    world.onQueue {
      for (number, (controller, listener)) in followed.enumerated() {
        #expect(controller.fetchedRecords.map(\.name) == (number == 7 ? ["Zoe"] : []))
        #expect(listener.changes.count == (number == 7 ? 2 : 0))
      }
    }
  }

  @Test(arguments: Storage.allCases)
  func `notice a change of nothing but the schema`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(Player.order(Column("name")))
    try world.write("UPDATE player SET score = 1 WHERE id = 1", settling: controller)
    try world.write("ALTER TABLE player RENAME TO gone", settling: controller)
    world.onQueue { #expect(listener.errors.count == 1) }
    try world.write("ALTER TABLE gone RENAME TO player", settling: controller)
    try world.write("DELETE FROM player WHERE id = 2", settling: controller)
    world.onQueue { #expect(listener.isInStep(with: controller)) }
  }

  /// What replaces rows and leaves the schema as it was said: no hook tells of it.
  @Test(arguments: Storage.allCases)
  func `notice a table that is another of the same words`(storage: Storage) throws {
    let sql = """
      DROP TABLE player;
      CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, team TEXT, score INTEGER NOT NULL);
      INSERT INTO player VALUES (8, 'Zoe', 'Red', 1);
      """
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(Player.order(Column("name")))
    // From the second time on the words are the same.
    for _ in 1...2 { try world.write(sql, settling: controller) }
    world.onQueue {
      #expect(controller.fetchedRecords.map(\.name) == ["Zoe"])
      #expect(listener.isInStep(with: controller))
    }
    try world.write(
      sql + "INSERT INTO player VALUES (9, 'Abe', 'Red', 1)", settling: controller)
    world.onQueue { #expect(controller.fetchedRecords.map(\.name) == ["Abe", "Zoe"]) }
  }

  @Test(arguments: Storage.allCases)
  func `ask a request again that looks at the schema`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let controller = try FetchedRecordsController<Player>(
      world.writer, request: Archived(), queue: world.queue)
    let listener = try world.follow(controller)
    try world.write(
      """
      CREATE TABLE archive AS SELECT 99 AS id, 'Old' AS name, 'Red' AS team, 1 AS score
      """, settling: controller)
    world.onQueue {
      #expect(controller.fetchedRecords.map(\.name).contains("Old"))
      #expect(listener.isInStep(with: controller))
    }
  }

  @Test func `do not wait for one that takes long`() throws {
    let gate = Gate()
    let world = try ControllerWorld(.pool) { $0.add(function: gate.function) }
    let cheap = try world.follow(Player.order(Column("name")))
    let slow = try FetchedRecordsController<Player>(
      world.writer,
      sql: "SELECT DISTINCT id, name, team, score + gate() AS score FROM player ORDER BY id",
      queue: world.queue)
    let listener = try world.follow(slow)
    gate.close()
    try world.write("UPDATE player SET name = 'Zoe' WHERE id = 1")
    cheap.1.wait()
    try world.write("UPDATE player SET name = 'Abe' WHERE id = 1")
    cheap.1.wait()
    world.onQueue {
      #expect(cheap.0.fetchedRecords.map(\.name) == ["Abe", "Barbara", "Cleo"])
      #expect(listener.calls.isEmpty)
    }
    gate.open()
    world.settle(slow)
    world.onQueue {
      #expect(slow.fetchedRecords.map(\.name) == ["Abe", "Barbara", "Cleo"])
      #expect(listener.isInStep(with: slow))
    }
  }
}

/// Players, and those of another table where there is one.
private struct Archived: FetchRequest {
  typealias RowDecoder = Player

  var sqlSubquery: SQLSubquery { Player.all().sqlSubquery }

  func fetchCount(_ db: Database) throws -> Int { try Player.fetchCount(db) }

  func makePreparedRequest(_ db: Database, forSingleResult: Bool) throws -> PreparedRequest {
    let more =
      try db.tableExists("archive") ? " UNION ALL SELECT id, name, team, score FROM archive" : ""
    return try SQLRequest<Player>(
      sql: "SELECT id, name, team, score FROM player\(more) ORDER BY id"
    ).makePreparedRequest(db, forSingleResult: forSingleResult)
  }
}

/// An SQL function that takes some milliseconds, or until it is let through.
private final class Gate: Sendable {
  private let isClosed = Mutex(false)
  private let opened = DispatchSemaphore(value: 0)

  var function: DatabaseFunction {
    DatabaseFunction("gate", argumentCount: 0, pure: false) { [self] _ in
      if isClosed.withLock({ $0 }) {
        opened.wait()
        opened.signal()
      } else {
        // What the engine has seen to take long is not tried in its turns.
        usleep(5_000)
      }
      return 0
    }
  }

  func close() { isClosed.withLock { $0 = true } }

  func open() {
    isClosed.withLock { $0 = false }
    opened.signal()
  }
}
