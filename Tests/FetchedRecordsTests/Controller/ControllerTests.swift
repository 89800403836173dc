import Dispatch
import Foundation
import GRDB
import OrderedResults
import Testing

@testable import FetchedRecords

private let byName = Player.order(Column("name"))

@Suite struct `A fetched records controller` {
  @Test(arguments: Storage.allCases)
  func `performFetch gives the records of a request`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let controller = try world.controller(byName)
    try world.onQueue {
      #expect(controller.fetchedRecords.isEmpty)
      try controller.performFetch()
      #expect(controller.fetchedRecords.map(\.name) == ["Ada", "Barbara", "Cleo"])
      #expect(controller.record(at: path(0, 1)).name == "Barbara")
      #expect(controller.indexPath(for: Player(id: 3, name: "?", team: nil)) == path(0, 2))
      #expect(controller.indexPath(for: Player(id: 9, name: "Cleo", team: nil)) == nil)
      #expect(controller.sections.count == 1)
      #expect(controller.sections[0].numberOfRecords == 3)
      #expect(controller.sections[0].records.map(\.id) == [1, 2, 3])
    }
  }

  @Test(arguments: Storage.allCases)
  func `changes are told in order, with the old records before and the new ones after`(
    storage: Storage
  ) throws {
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(byName)
    try world.write(
      """
      INSERT INTO player (id, name) VALUES (4, 'Aaron');
      DELETE FROM player WHERE id = 3;
      UPDATE player SET score = 7 WHERE id = 1;
      """, settling: controller)
    world.onQueue {
      #expect(
        listener.calls == ["willChange", "onChange", "onChange", "onChange", "didChange"])
      #expect(
        listener.changes == [
          .deletion(indexPath: path(0, 2)),
          .move(
            indexPath: path(0, 0), newIndexPath: path(0, 1),
            changes: ["score": 0.databaseValue]),
          .insertion(indexPath: path(0, 0)),
        ])
      #expect(listener.told.map(\.name) == ["Cleo", "Ada", "Aaron"])
      #expect(listener.told[1].score == 7)
    }
  }

  @Test(arguments: Storage.allCases)
  func `an update in place keeps its index path`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(byName)
    try world.write(
      "UPDATE player SET score = 1, team = 'Green' WHERE id = 2", settling: controller)
    world.onQueue {
      #expect(
        listener.changes == [
          .update(
            indexPath: path(0, 1),
            changes: ["score": 0.databaseValue, "team": "Blue".databaseValue])
        ])
    }
  }

  @Test(arguments: Storage.allCases)
  func `no net change is no callback, and a rollback is none`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(byName)
    try world.write(
      "UPDATE player SET name = 'Z' WHERE id = 1; UPDATE player SET name = 'Ada' WHERE id = 1")
    try world.writer.write { db in
      try db.inSavepoint {
        try db.execute(sql: "DELETE FROM player")
        return .rollback
      }
    }
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      try world.writer.write { db in
        try db.execute(sql: "DELETE FROM player")
        throw Refusal()
      }
    }
    world.settle(controller)
    world.onQueue { #expect(listener.calls.isEmpty) }
    // And it still listens.
    try world.write("DELETE FROM player WHERE id = 1", settling: controller)
    world.onQueue { #expect(listener.changes == [.deletion(indexPath: path(0, 0))]) }
  }

  @Test(arguments: Storage.allCases)
  func `a value fetched alongside comes from the same transaction, before and after`(
    storage: Storage
  ) throws {
    let world = try ControllerWorld(storage)
    let controller = try world.controller(byName)
    var values: [Int] = []
    try world.onQueue {
      controller.trackChanges(
        fetchAlongside: { try Player.fetchCount($0) },
        willChange: { _, count in values.append(count) },
        didChange: { controller, count in
          values.append(count)
          #expect(controller.fetchedRecords.count == count)
        })
      try controller.performFetch()
    }
    try world.write("DELETE FROM player WHERE id = 1", settling: controller)
    world.onQueue { #expect(values == [2, 2]) }
  }

  @Test(arguments: Storage.allCases)
  func `performFetch cancels what is pending, and tells nothing`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(byName)
    try world.onQueue {
      // The queue is busy with this, so nothing can be told before the next fetch.
      try world.write("DELETE FROM player WHERE id = 1")
      controller.core.engine.settle()
      try controller.performFetch()
      #expect(controller.fetchedRecords.count == 2)
    }
    world.settle(controller)
    world.onQueue { #expect(listener.calls.isEmpty) }
    try world.write("DELETE FROM player WHERE id = 2", settling: controller)
    world.onQueue { #expect(listener.changes == [.deletion(indexPath: path(0, 0))]) }
  }

  @Test(arguments: Storage.allCases)
  func `trackChanges after performFetch reports what happened since`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let controller = try world.controller(byName)
    let listener = Listener<Player>()
    try world.onQueue {
      try controller.performFetch()
      try world.write("DELETE FROM player WHERE id = 1")
      listener.track(controller)
    }
    world.settle(controller)
    world.onQueue { #expect(listener.changes == [.deletion(indexPath: path(0, 0))]) }
  }

  @Test(arguments: Storage.allCases)
  func `setRequest reports the difference between old and new records`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(byName)
    try world.onQueue {
      try controller.setRequest(Player.filter(Column("id") > 1).order(Column("name").desc))
    }
    world.settle(controller)
    try world.onQueue {
      #expect(controller.fetchedRecords.map(\.id) == [3, 2])
      #expect(listener.isInStep(with: controller))
      try controller.setRequest(
        sql: "SELECT *, id + ? AS extra FROM player WHERE id < ? ORDER BY id",
        arguments: [7, 3])
    }
    world.settle(controller)
    world.onQueue {
      #expect(controller.fetchedRecords.map(\.id) == [1, 2])
      #expect(listener.isInStep(with: controller))
    }
    // The new request is the one that is followed.
    world.onQueue { listener.forget() }
    try world.write(
      "UPDATE player SET name = 'Bea' WHERE id = 2; DELETE FROM player WHERE id = 3",
      settling: controller)
    world.onQueue {
      #expect(
        listener.changes == [
          .update(indexPath: path(0, 1), changes: ["name": "Barbara".databaseValue])
        ])
    }
  }

  @Test(arguments: Storage.allCases)
  func `an error goes to trackErrors, and the next change is relative to the last good fetch`(
    storage: Storage
  ) throws {
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(byName)
    try world.write(
      "DELETE FROM player WHERE id = 1; ALTER TABLE player RENAME TO gone", settling: controller)
    world.onQueue {
      #expect(listener.errors.count == 1)
      #expect(controller.fetchedRecords.count == 3)
    }
    #expect(throws: (any Error).self) { try world.onQueue { try controller.performFetch() } }
    try world.write(
      "ALTER TABLE gone RENAME TO player; DELETE FROM player WHERE id = 2", settling: controller)
    world.onQueue {
      #expect(controller.fetchedRecords.map(\.id) == [3])
      #expect(listener.changes.count == 2)
      #expect(listener.isInStep(with: controller))
    }
  }

  @Test(arguments: Storage.allCases)
  func `a record that does not decode is an error and no crash`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(byName)
    try world.write(
      "INSERT INTO player (id, name, score) VALUES (4, 'Odd', 'many')", settling: controller)
    world.onQueue {
      #expect(listener.errors.count == 1)
      #expect(controller.fetchedRecords.count == 3)
    }
    try world.write("UPDATE player SET score = 4 WHERE id = 4", settling: controller)
    world.onQueue { #expect(listener.changes == [.insertion(indexPath: path(0, 3))]) }
  }

  @Test(arguments: Storage.allCases)
  func `only the tables, columns and rows of the request are tracked`(storage: Storage) throws {
    let world = try ControllerWorld(
      storage, schema: ControllerWorld.schema + "CREATE TABLE other (x); ")
    let names = try FetchedRecordsController<PlainPlayer>(
      world.writer,
      request: Player.select(Column("id"), Column("name")).order(Column("id"))
        .asRequest(of: PlainPlayer.self), queue: world.queue)
    let one = try world.controller(Player.filter(key: 2))
    let (ofNames, ofOne) = (Listener<PlainPlayer>(), Listener<Player>())
    try world.onQueue {
      ofNames.track(names)
      ofOne.track(one)
      try names.performFetch()
      try one.performFetch()
    }
    try world.write(
      "INSERT INTO other VALUES (1); UPDATE player SET score = 9 WHERE id = 1", settling: names)
    world.onQueue {
      #expect(ofNames.calls.isEmpty)
      #expect(ofOne.calls.isEmpty)
    }
    try world.write("UPDATE player SET score = 9 WHERE id = 2", settling: names)
    world.onQueue {
      #expect(ofNames.calls.isEmpty)
      #expect(
        ofOne.changes == [.update(indexPath: path(0, 0), changes: ["score": 0.databaseValue])])
    }
  }
}

@Suite struct `What a controller is given` {
  @Test func `is tracked row by row where the request lets it`() throws {
    let world = try ControllerWorld()
    let column = Column("score")
    func reason(_ request: QueryInterfaceRequest<Player>, section: Column? = nil) throws -> String {
      let controller = try world.controller(request, sectionName: section)
      return try world.onQueue { try controller.trackingReason() }
    }
    #expect(try reason(byName).hasPrefix("incremental"))
    #expect(try reason(byName, section: Column("team")).hasPrefix("incremental"))
    #expect(try reason(byName.filter(column > 1 && Column("name") != "x")).hasPrefix("incremental"))
    #expect(try reason(byName.filter(keys: [1, 2])).hasPrefix("incremental"))
    #expect(try reason(byName.limit(2, offset: 1)).hasPrefix("incremental"))
    #expect(try reason(byName.distinct()).hasPrefix("incremental"))
    #expect(try reason(byName.filter(sql: "random() IS NOT NULL")).hasPrefix("refetch"))
  }

  @Test func `has the main queue and the tracking of others by default`() throws {
    let world = try ControllerWorld()
    let controller = try FetchedRecordsController(world.writer, request: byName)
    #expect(controller.queue.label == DispatchQueue.main.label)
    #expect(controller.databaseWriter === world.writer)
    let bySQL = try FetchedRecordsController<Player>(
      world.writer, sql: "SELECT * FROM player WHERE score = :score", arguments: ["score": 0])
    #expect(bySQL.queue.label == DispatchQueue.main.label)
  }

  @Test func `may have arguments of every kind, bound by place, number and name`() throws {
    let world = try ControllerWorld()
    for (sql, arguments) in [
      ("id > ? AND name <> ?", [1, "Cleo"]), ("id > ?2 AND name <> ?1", ["Cleo", 1]),
      ("id > :id AND name <> @name", ["id": 1, "name": "Cleo"]),
      ("id > ? AND name <> 'a?b' AND name <> :name", [1] + ["name": "Cleo"]),
    ] as [(String, StatementArguments)] {
      let controller = try FetchedRecordsController<Player>(
        world.writer, sql: "SELECT * FROM player WHERE \(sql) ORDER BY id -- why?",
        arguments: arguments, sectionName: SQL("team || \("!")").sqlExpression,
        queue: world.queue)
      let listener = try world.follow(controller)
      world.onQueue {
        #expect(controller.fetchedRecords.map(\.id) == [2], "\(sql)")
        #expect(controller.sections.map(\.name) == ["Blue!"])
      }
      try world.write("UPDATE player SET score = score + 1 WHERE id = 2", settling: controller)
      world.onQueue { #expect(listener.changes.count == 1, "\(sql)") }
    }
  }

  @Test func `is refused with its cure where it prefetches associations`() throws {
    struct Team: Codable, FetchableRecord, TableRecord {
      static let players = hasMany(Player.self, using: ForeignKey(["team"], to: ["name"]))
      var name: String
    }
    let world = try ControllerWorld(
      schema: ControllerWorld.schema + "CREATE TABLE team (name TEXT PRIMARY KEY)")
    let controller = try world.controller(Team.including(all: Team.players))
    #expect {
      try world.onQueue { try controller.performFetch() }
    } throws: {
      "\($0)".contains("including(all:)")
    }
  }
}
