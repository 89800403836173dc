import Dispatch
import Foundation
import GRDB
import OrderedResults
import TestSupport
import Testing

@testable import FetchedRecords

@Suite struct `Controllers while others write` {
  /// Writes from two threads, one of them through another connection if there is a file.
  private func write(_ world: ControllerWorld, _ storage: Storage, count: Int) throws
    -> DispatchGroup
  {
    var configuration = Configuration()
    configuration.busyMode = .timeout(30)
    let other: any DatabaseWriter =
      storage == .memory
      ? world.writer : try DatabaseQueue(path: world.path, configuration: configuration)
    let own = world.writer
    let group = DispatchGroup()
    for (thread, writer) in [own, other].enumerated() {
      DispatchQueue.global().async(group: group) {
        var random = RandomSource(seed: UInt64(thread + 7))
        for _ in 0..<count {
          let id = Int.random(in: 1...50, using: &random)
          #expect(throws: Never.self) {
            try writer.write { db in
              try db.execute(
                sql: "INSERT OR REPLACE INTO player (id, name, team, score) VALUES (?, ?, ?, ?)",
                arguments: [
                  id, "n\(Int.random(in: 0..<20, using: &random))", "t\(id % 3)", id * 7 % 13,
                ])
              if random.once(in: 3) {
                try db.execute(sql: "DELETE FROM player WHERE id = ?", arguments: [51 - id])
              }
            }
          }
        }
      }
    }
    return group
  }

  @Test(arguments: [Storage.pool, .walQueue, .memory])
  func `no change falls between a fetch and the start of tracking`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let request = DeclaredRequest<Player>(table: "player", order: ["name", "id"])
    let controller = try world.controller(request, sectionName: Column("team"))
    let listener = Listener<Player>()
    let group = try write(world, storage, count: 150)
    world.onQueue { listener.track(controller) }
    repeat {
      try world.onQueue {
        try controller.performFetch()
        listener.begin(with: controller)
      }
      world.settle(controller)
      world.onQueue { #expect(listener.isInStep(with: controller)) }
    } while group.wait(timeout: .now() + .milliseconds(1)) != .success
    controller.core.engine.refresh()
    world.settle(controller)
    let expected = try world.players(Player.order(Column("team"), Column("name"), Column("id")))
    world.onQueue {
      #expect(listener.isInStep(with: controller))
      #expect(Array(controller.fetchedRecords) == expected)
    }
  }

  @Test func `one transaction is one notification, whatever it does`() throws {
    let world = try ControllerWorld(.memory)
    let (controller, listener) = try world.follow(Player.order(Column("name")))
    try world.onQueue {
      // With the queue held, every notification of these is still to come.
      for round in 0..<5 {
        try world.write(
          """
          INSERT INTO player (name) VALUES ('x\(round)'); DELETE FROM player WHERE name = 'Ada';
          INSERT INTO player (name) VALUES ('Ada'); UPDATE player SET score = \(round + 1);
          """)
      }
    }
    world.settle(controller)
    world.onQueue {
      #expect(listener.calls.count { $0 == "willChange" } == 5)
      #expect(listener.countsAtDidChange == [4, 5, 6, 7, 8])
    }
  }
}

/// What takes too long for every run: `DIDCHANGE_LARGE=1` lets it run.
@Suite(.enabled(if: RandomSource.number("DIDCHANGE_LARGE") != nil)) struct `Large controllers` {
  @Test func `a million records are fetched, shown and followed`() throws {
    let world = try ControllerWorld(
      schema: """
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER DEFAULT 0);
        WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
        INSERT INTO player SELECT i, 'n' || (i * 7919 % 1000003), 'team' || (i % 100), 0 FROM n;
        """)
    let request = DeclaredRequest<Player>(table: "player", order: ["name"])
    let controller = try world.controller(request, sectionName: Column("team"))
    let listener = Listener<Player>()
    try world.onQueue {
      listener.track(controller)
      try controller.performFetch()
      #expect(controller.fetchedRecords.count == 1_000_000)
      #expect(controller.sections.count == 100)
    }
    for id in [1, 500_000, 1_000_000] {
      try world.write("UPDATE player SET team = 'new' WHERE id = \(id)", settling: controller)
    }
    try world.write("DELETE FROM player WHERE id > 1000", settling: controller)
    world.onQueue {
      #expect(controller.fetchedRecords.count == 1_000)
      #expect(listener.calls.count { $0 == "willChange" } == 4)
      #expect(controller.sections.first?.name == "new")
    }
  }
}
