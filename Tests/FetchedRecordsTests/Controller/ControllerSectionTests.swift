import GRDB
import OrderedResults
import Testing

@testable import FetchedRecords

private let byName = Player.order(Column("name"))

@Suite struct `Sections of a controller` {
  @Test(arguments: Storage.allCases)
  func `records are ordered by section first, and a section says how many there are`(
    storage: Storage
  ) throws {
    let world = try ControllerWorld(storage)
    let controller = try world.controller(byName.reversed(), sectionName: Column("team"))
    try world.onQueue {
      try controller.performFetch()
      #expect(controller.sections.map(\.name) == ["Blue", "Red"])
      #expect(controller.sections.map(\.numberOfRecords) == [2, 1])
      #expect(controller.sections[0].records.map(\.name) == ["Barbara", "Ada"])
      #expect(controller.record(at: path(1, 0)).name == "Cleo")
    }
  }

  @Test func `an expression names sections`() throws {
    let world = try ControllerWorld()
    let controller = try world.controller(
      byName, sectionName: SQL("score / \(10) * 10").sqlExpression)
    try world.write("UPDATE player SET score = 15 WHERE id = 1")
    try world.onQueue {
      try controller.performFetch()
      #expect(controller.sections.map(\.databaseName) == [0.databaseValue, 10.databaseValue])
      #expect(controller.sections.map(\.name) == ["0", "10"])
    }
  }

  @Test(arguments: Storage.allCases)
  func `a closure over the record names sections, also of what changes`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let controller = try FetchedRecordsController<Player>(
      world.writer, request: byName, sectionName: { String($0.name.prefix(1)) },
      queue: world.queue)
    let listener = try world.follow(controller)
    world.onQueue {
      #expect(controller.sections.map(\.name) == ["A", "B", "C"])
    }
    try world.write(
      """
      UPDATE player SET name = 'Anna' WHERE id = 2;
      INSERT INTO player (id, name) VALUES (4, 'Dora'), (5, 'Cy');
      """, settling: controller)
    world.onQueue {
      #expect(controller.sections.map(\.name) == ["A", "C", "D"])
      #expect(controller.sections[0].records.map(\.name) == ["Ada", "Anna"])
      #expect(listener.isInStep(with: controller))
    }
  }

  @Test func `section changes are told before record changes`() throws {
    let world = try ControllerWorld()
    let (controller, listener) = try world.follow(byName, sectionName: Column("team"))
    try world.write("UPDATE player SET team = 'Green' WHERE team = 'Red'", settling: controller)
    world.onQueue {
      #expect(
        listener.calls == [
          "willChange", "onSectionChange", "onSectionChange", "onChange", "didChange",
        ])
      #expect(
        listener.sectionChanges == [
          .deletion(index: 1, name: "Red"), .insertion(index: 1, name: "Green"),
        ])
    }
  }

  @Test func `index titles can be overridden, and lead to their section`() throws {
    let world = try ControllerWorld()
    try world.write("INSERT INTO player (id, name, team) VALUES (4, 'Dora', 'Black')")
    let controller = try world.controller(byName, sectionName: Column("team"))
    try world.onQueue {
      try controller.performFetch()
      #expect(controller.sectionIndexTitles == ["B", "B", "R"])
      #expect(controller.sectionIndexTitle(forSectionName: "green") == "G")
      #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 1)
      #expect(controller.section(forSectionIndexTitle: "R", at: 2) == 2)
      #expect(controller.section(forSectionIndexTitle: "X", at: 0) == nil)
      controller.overrideSectionIndexTitles { String($0.suffix(1)) }
      #expect(controller.sectionIndexTitles == ["k", "e", "d"])
      #expect(controller.sections[0].indexTitle == "k")
      #expect(controller.sectionIndexTitle(forSectionName: "green") == "n")
    }
  }

  @Test func `without a section name there is one section, also when it is empty`() throws {
    let world = try ControllerWorld()
    try world.write("DELETE FROM player")
    let plain = try world.controller(byName)
    let named = try world.controller(byName, sectionName: Column("team"))
    try world.onQueue {
      try plain.performFetch()
      try named.performFetch()
      #expect(plain.sections.map(\.name) == [nil])
      #expect(plain.sections[0].records.isEmpty)
      #expect(named.sections.isEmpty)
    }
  }

  @Test
  func `a section name that does not come in contiguous runs is an error that names the record`()
    throws
  {
    let world = try ControllerWorld()
    try world.write("INSERT INTO player (id, name, team) VALUES (4, 'Dora', 'Blue')")
    let controller = try FetchedRecordsController<Player>(
      world.writer, sql: "SELECT * FROM player ORDER BY id", sectionName: Column("team"),
      queue: world.queue)
    #expect {
      try world.onQueue { try controller.performFetch() }
    } throws: { error in
      guard let error = error as? FetchedRecordsError else { return false }
      return error.kind == .sections && error.message.contains("key 4")
    }
    let byClosure = try FetchedRecordsController<Player>(
      world.writer, request: Player.order(Column("id")), sectionName: { $0.team },
      queue: world.queue)
    #expect(throws: FetchedRecordsError.self) {
      try world.onQueue { try byClosure.performFetch() }
    }
  }

  @Test func `request and section name change in one step`() throws {
    let world = try ControllerWorld()
    let (controller, listener) = try world.follow(byName)
    let steps: [(FetchedRecordsController<Player>) throws -> Void] = [
      { try $0.setRequest(byName.reversed(), sectionName: Column("team")) },
      { try $0.setRequest(byName.filter(Column("id") > 7), sectionName: nil) },
      { try $0.setRequest(byName, sectionName: { String($0.name.prefix(1)) }) },
      { try $0.setRequest(byName.filter(Column("id") > 7), sectionName: Column("team")) },
      { try $0.setRequest(byName, sectionName: nil) },
    ]
    for step in steps {
      try world.onQueue { try step(controller) }
      world.settle(controller)
      world.onQueue { #expect(listener.isInStep(with: controller)) }
    }
    world.onQueue { #expect(listener.countsAtDidChange == [3, 0, 3, 0, 3]) }
  }
}

@Suite struct `Classic bugs` {
  private func observe(
    _ first: String, then second: String, sectionName: Bool = true,
    request: QueryInterfaceRequest<Player> = byName
  ) throws -> (Listener<Player>, [FetchedRecordChange], [FetchedSectionChange]) {
    let world = try ControllerWorld()
    try world.write("DELETE FROM player; \(first)")
    let (controller, listener) = try world.follow(
      request, sectionName: sectionName ? Column("team") : nil)
    try world.write(second, settling: controller)
    return world.onQueue {
      #expect(listener.isInStep(with: controller))
      return (listener, listener.changes, listener.sectionChanges)
    }
  }

  @Test func `a record that changes section but keeps its index path is a move`() throws {
    let (_, changes, sections) = try observe(
      "INSERT INTO player (id, name, team) VALUES (1, 'Ada', 'Blue')",
      then: "UPDATE player SET team = 'Red'")
    #expect(sections == [.deletion(index: 0, name: "Blue"), .insertion(index: 0, name: "Red")])
    #expect(
      changes == [
        .move(
          indexPath: path(0, 0), newIndexPath: path(0, 0),
          changes: ["team": "Blue".databaseValue])
      ])
  }

  @Test func `a record that changes and moves is one event`() throws {
    let (_, changes, _) = try observe(
      "INSERT INTO player (id, name, team) VALUES (1, 'Ada', 'Blue'), (2, 'Bea', 'Blue')",
      then: "UPDATE player SET name = 'Zoe', score = 3 WHERE id = 1")
    #expect(changes.count == 1)
  }

  @Test func `a move never has equal paths in a section that stays`() throws {
    // In the middle of three, the second one changes places with both neighbours at once.
    let (_, changes, _) = try observe(
      """
      INSERT INTO player (id, name, score) VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);
      """,
      then: """
        UPDATE player SET score = 9 WHERE id = 1;
        UPDATE player SET score = 5, name = 'B' WHERE id = 2;
        """, sectionName: false, request: Player.order(Column("score")))
    for case .move(let old, let new, _) in changes { #expect(old != new) }
    #expect(
      changes.contains(
        .update(
          indexPath: path(0, 1), changes: ["score": 2.databaseValue, "name": "b".databaseValue]))
        || changes.contains {
          if case .move = $0 { true } else { false }
        })
  }

  @Test func `a record that begins to match the predicate is inserted, one that ceases is deleted`()
    throws
  {
    let (_, changes, _) = try observe(
      "INSERT INTO player (id, name, score) VALUES (1, 'a', 1), (2, 'b', 0)",
      then: "UPDATE player SET score = 1 - score", sectionName: false,
      request: byName.filter(Column("score") == 1))
    #expect(changes == [.deletion(indexPath: path(0, 0)), .insertion(indexPath: path(0, 0))])
  }

  @Test func `the last record of a section moves while the section goes`() throws {
    let (_, changes, sections) = try observe(
      "INSERT INTO player (id, name, team) VALUES (1, 'Ada', 'Blue'), (2, 'Bea', 'Red')",
      then: "UPDATE player SET team = 'Red' WHERE id = 1")
    #expect(sections == [.deletion(index: 0, name: "Blue")])
    #expect(
      changes == [
        .move(
          indexPath: path(0, 0), newIndexPath: path(0, 0),
          changes: ["team": "Blue".databaseValue])
      ])
  }

  @Test func `NULL and empty section names are two sections`() throws {
    let (listener, _, sections) = try observe(
      "INSERT INTO player (id, name, team) VALUES (1, 'Ada', NULL), (2, 'Bea', 'x')",
      then: "UPDATE player SET team = '' WHERE id = 2")
    #expect(sections == [.deletion(index: 1, name: "x"), .insertion(index: 1, name: "")])
    #expect(listener.calls.first == "willChange")
  }

  @Test func `names that differ only in case are two sections`() throws {
    let world = try ControllerWorld(
      schema: """
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT COLLATE NOCASE,
          score INTEGER DEFAULT 0);
        INSERT INTO player (id, name, team) VALUES (1, 'a', 'blue'), (2, 'b', 'BLUE'),
          (3, 'c', 'blue'), (4, 'd', 'BLUE');
        """)
    for request in [byName, byName.order(Column("team"), Column("name"))] {
      let controller = try world.controller(request, sectionName: Column("team"))
      try world.onQueue {
        try controller.performFetch()
        #expect(controller.sections.map(\.name) == ["BLUE", "blue"])
        #expect(controller.sections.map(\.numberOfRecords) == [2, 2])
      }
    }
  }

  @Test func `duplicates of a key are told apart by their order`() throws {
    let world = try ControllerWorld()
    let sql = "SELECT player.* FROM player JOIN (VALUES (1), (2)) ORDER BY name, column1"
    let controller = try FetchedRecordsController<Player>(
      world.writer, sql: sql, queue: world.queue)
    let listener = try world.follow(controller)
    world.onQueue {
      #expect(controller.fetchedRecords.map(\.id) == [1, 1, 2, 2, 3, 3])
    }
    try world.write(
      "UPDATE player SET name = 'Zed' WHERE id = 1; DELETE FROM player WHERE id = 2",
      settling: controller)
    world.onQueue {
      #expect(controller.fetchedRecords.map(\.id) == [3, 3, 1, 1])
      #expect(listener.isInStep(with: controller))
    }
  }
}
