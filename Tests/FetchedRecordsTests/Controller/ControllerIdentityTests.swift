import Foundation
import GRDB
import OrderedResults
import Testing

@testable import FetchedRecords

@Suite struct `Identity of records` {
  private struct Pair: FetchableRecord, TableRecord, Codable, EncodableRecord, Equatable, Sendable {
    static let databaseTableName = "pair"
    var a: String
    var b: Int
    var value: Int
  }

  private struct Note: FetchableRecord, TableRecord, Codable, EncodableRecord, Equatable, Sendable {
    static let databaseTableName = "note"
    static var databaseSelection: [any SQLSelectable] { [.allColumns, .rowID] }
    var rowid: Int64
    var text: String
  }

  @Test(arguments: [Storage.pool, .memory])
  func `is the primary key, also a compound one`(storage: Storage) throws {
    let world = try ControllerWorld(
      storage,
      schema: """
        CREATE TABLE pair (a TEXT, b INTEGER, value INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
        INSERT INTO pair VALUES ('x', 1, 1), ('x', 2, 2), ('y', 1, 3);
        """)
    let (controller, listener) = try world.follow(Pair.order(Column("value")))
    world.onQueue {
      #expect(controller.indexPath(for: Pair(a: "y", b: 1, value: 0)) == path(0, 2))
      #expect(controller.fetchedRecords.indexPath(forKey: "x", 2) == path(0, 1))
    }
    try world.write("UPDATE pair SET value = 9 WHERE a = 'x' AND b = 1", settling: controller)
    world.onQueue {
      #expect(
        listener.changes == [
          .move(
            indexPath: path(0, 0), newIndexPath: path(0, 2), changes: ["value": 1.databaseValue])
        ])
    }
  }

  @Test(arguments: [Storage.pool, .memory])
  func `is the rowid of a table without a primary key`(storage: Storage) throws {
    let world = try ControllerWorld(
      storage,
      schema: "CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('a'), ('b')")
    let (controller, listener) = try world.follow(Note.order(Column.rowID))
    try world.write("UPDATE note SET text = 'c' WHERE text = 'b'", settling: controller)
    world.onQueue {
      #expect(
        listener.changes == [
          .update(indexPath: path(0, 1), changes: ["text": "b".databaseValue])
        ])
    }
  }

  @Test(arguments: [Storage.pool, .memory])
  func `a changed key is a deletion and an insertion`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(Player.order(Column("name")))
    try world.write("UPDATE player SET id = 7 WHERE id = 2", settling: controller)
    world.onQueue {
      #expect(
        listener.changes == [.deletion(indexPath: path(0, 1)), .insertion(indexPath: path(0, 1))])
      #expect(listener.told.map(\.id) == [2, 7])
    }
  }

  @Test(arguments: [Storage.pool, .memory])
  func `a row that REPLACE deletes is gone`(storage: Storage) throws {
    let world = try ControllerWorld(
      storage, schema: ControllerWorld.schema + "CREATE UNIQUE INDEX byName ON player (name)")
    let (controller, listener) = try world.follow(Player.order(Column("id")))
    try world.write(
      "INSERT OR REPLACE INTO player (id, name) VALUES (5, 'Ada')", settling: controller)
    world.onQueue {
      #expect(
        listener.changes == [.deletion(indexPath: path(0, 0)), .insertion(indexPath: path(0, 2))])
    }
  }

  @Test func `is isSameRecord where it is given`() throws {
    let world = try ControllerWorld()
    let controller = try FetchedRecordsController<PlainPlayer>(
      world.writer, sql: "SELECT id, name FROM player ORDER BY name", queue: world.queue,
      isSameRecord: { $0.id == $1.id })
    let listener = try world.follow(controller)
    world.onQueue {
      #expect(controller.indexPath(for: PlainPlayer(id: 2, name: "")) == path(0, 1))
    }
    try world.write(
      "UPDATE player SET name = 'Zed' WHERE id = 1; UPDATE player SET name = 'Cora' WHERE id = 2",
      settling: controller)
    world.onQueue {
      #expect(listener.isInStep(with: controller))
      #expect(
        listener.changes.allSatisfy { change in
          switch change {
          case .move, .update: true
          case .insertion, .deletion: false
          }
        })
      // The second stays where it is, and the third passes it.
      #expect(listener.changes.count == 3)
      #expect(Set(listener.told.map(\.id)).count == 3)
    }
  }

  @Test func `without either, records are only inserted and deleted`() throws {
    let world = try ControllerWorld()
    let controller = try FetchedRecordsController<PlainPlayer>(
      world.writer, sql: "SELECT id, name FROM player ORDER BY name", queue: world.queue)
    let listener = try world.follow(controller)
    world.onQueue {
      #expect(controller.indexPath(for: PlainPlayer(id: 2, name: "Barbara")) == path(0, 1))
    }
    try world.write("UPDATE player SET name = 'Bea' WHERE id = 2", settling: controller)
    world.onQueue {
      #expect(
        listener.changes == [.deletion(indexPath: path(0, 1)), .insertion(indexPath: path(0, 1))])
      #expect(listener.isInStep(with: controller))
    }
  }

  @Test func `of a join is the key of the records' own table`() throws {
    let world = try ControllerWorld(
      schema: ControllerWorld.schema + """
        CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
        INSERT INTO team VALUES (1, 'Blue', 'Bern'), (2, 'Red', 'Rome');
        """)
    let controller = try FetchedRecordsController<Player>(
      world.writer,
      sql: "SELECT player.*, team.* FROM player JOIN team ON team.name = team ORDER BY player.name",
      adapter: RangeRowAdapter(0..<4), queue: world.queue)
    let listener = try world.follow(controller)
    world.onQueue {
      #expect(controller.fetchedRecords.map(\.id) == [1, 2, 3])
    }
    try world.write("UPDATE player SET team = 'Red' WHERE id = 1", settling: controller)
    world.onQueue {
      #expect(listener.changes.count == 1)
      guard case .update(path(0, 0), let changes)? = listener.changes.first else {
        Issue.record("\(listener.changes)")
        return
      }
      #expect(changes["team"] == "Blue".databaseValue)
    }
  }

  @Test(arguments: [
    """
    SELECT max(id) AS id, group_concat(name) AS name, team, sum(score) AS score FROM player
    GROUP BY team ORDER BY team
    """,
    "SELECT id + 0 AS ID, name, team, score FROM player WHERE id = 2",
  ])
  func `is the primary key that SQL computes under its name`(sql: String) throws {
    let world = try ControllerWorld()
    let controller = try FetchedRecordsController<Player>(
      world.writer, sql: sql, queue: world.queue)
    let listener = try world.follow(controller)
    try world.write("UPDATE player SET score = 5 WHERE id = 2", settling: controller)
    world.onQueue {
      #expect(
        listener.changes == [
          .update(indexPath: path(0, 0), changes: ["score": 0.databaseValue])
        ])
      #expect(listener.isInStep(with: controller))
    }
  }

  @Test func `is the primary key that a declared request computes under its name`() throws {
    let world = try ControllerWorld()
    let request = DeclaredRequest<Player>(
      table: "player", fields: ["max(id) AS id", "'all' AS name", "team", "sum(score) AS score"],
      groupBy: ["team"], order: ["team"])
    let (controller, listener) = try world.follow(request)
    try world.write("UPDATE player SET id = 9, team = 'Red' WHERE id = 2", settling: controller)
    world.onQueue {
      // The group is the same one, and its record another.
      #expect(
        listener.changes == [
          .deletion(indexPath: path(0, 1)), .deletion(indexPath: path(0, 0)),
          .insertion(indexPath: path(0, 0)), .insertion(indexPath: path(0, 1)),
        ])
      #expect(listener.isInStep(with: controller))
    }
  }

  @Test func `is the computed primary key that an adapter shows`() throws {
    let world = try ControllerWorld()
    let controller = try FetchedRecordsController<Player>(
      world.writer,
      sql: "SELECT 'x' AS id, id * 1 AS number, name, team, score FROM player ORDER BY name",
      adapter: ColumnMapping(["id": "number", "name": "name", "team": "team", "score": "score"]),
      queue: world.queue)
    let listener = try world.follow(controller)
    try world.write("UPDATE player SET name = 'Bea' WHERE id = 2", settling: controller)
    world.onQueue {
      #expect(
        listener.changes == [
          .update(indexPath: path(0, 1), changes: ["name": "Barbara".databaseValue])
        ])
    }
  }
}
