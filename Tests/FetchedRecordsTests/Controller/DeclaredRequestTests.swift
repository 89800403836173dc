import GRDB
import OrderedResults
import Testing

@testable import FetchedRecords

@Suite struct `Declared requests` {
  private struct Total: Codable, FetchableRecord, Equatable, Sendable {
    var team: String?
    var players: Int
  }

  private struct City: Codable, FetchableRecord, Equatable, Sendable {
    var name: String
    var city: String
  }

  @Test(arguments: Storage.allCases)
  func `name table, predicate and order, and are kept up to date row by row`(storage: Storage)
    throws
  {
    let world = try ControllerWorld(storage)
    let request = DeclaredRequest<Player>(
      table: "player", predicate: "score >= :least", order: ["name DESC"],
      arguments: ["least": 0])
    let controller = try world.controller(request, sectionName: Column("team"))
    let reason = try world.onQueue { try controller.trackingReason() }
    #expect(reason.hasPrefix("incremental"))
    let listener = try world.follow(controller)
    world.onQueue {
      #expect(controller.fetchedRecords.map(\.name) == ["Barbara", "Ada", "Cleo"])
    }
    try world.write(
      "UPDATE player SET score = -1 WHERE id = 1; UPDATE player SET id = 8 WHERE id = 2",
      settling: controller)
    world.onQueue {
      #expect(controller.fetchedRecords.map(\.id) == [8, 3])
      #expect(listener.isInStep(with: controller))
    }
  }

  @Test func `group, with a condition on the groups`() throws {
    let world = try ControllerWorld()
    let request = DeclaredRequest<Total>(
      table: "player", fields: ["team", "count(*) AS players"], groupBy: ["team"],
      having: "count(*) > 1", order: ["players DESC"])
    let (controller, listener) = try world.follow(request)
    world.onQueue {
      #expect(Array(controller.fetchedRecords) == [Total(team: "Blue", players: 2)])
    }
    try world.write("UPDATE player SET team = 'Red' WHERE id > 1", settling: controller)
    world.onQueue {
      #expect(Array(controller.fetchedRecords) == [Total(team: "Red", players: 2)])
      #expect(listener.isInStep(with: controller))
    }
  }

  @Test func `join several tables`() throws {
    let world = try ControllerWorld(
      schema: ControllerWorld.schema + """
        CREATE TABLE town (team TEXT, city TEXT);
        INSERT INTO town VALUES ('Blue', 'Bern'), ('Red', 'Rome');
        """)
    let request = DeclaredRequest<City>(
      tables: ["player", "town"], fields: ["name", "city"],
      predicate: "player.team = town.team AND city <> :city", order: ["name"],
      arguments: ["city": "Paris"])
    let controller = try world.controller(request, sectionName: Column("city"))
    try world.onQueue {
      try controller.performFetch()
      #expect(controller.sections.map(\.name) == ["Bern", "Rome"])
      #expect(controller.fetchedRecords.map(\.city) == ["Bern", "Bern", "Rome"])
    }
  }

  @Test func `have their problems told with their cure`() throws {
    let world = try ControllerWorld()
    let request = DeclaredRequest<Player>(table: "player", predicate: "nmae = 'x'")
    let controller = try world.controller(request)
    #expect {
      try world.onQueue { try controller.performFetch() }
    } throws: { error in
      "\(error)".contains("nmae")
    }
  }

  @Test func `show the SQL that runs, with its values`() throws {
    let world = try ControllerWorld()
    let request = DeclaredRequest<Player>(
      table: "player", fields: ["name"], predicate: "team = :team", arguments: ["team": "it's"])
    let controller = try world.controller(request)
    let sql = try world.onQueue { try controller.previewSQL() }
    #expect(sql.contains("'it''s'"))
    #expect(throws: Never.self) { try world.write("EXPLAIN \(sql)") }
  }

  @Test func `count, and stand in other requests`() throws {
    let world = try ControllerWorld()
    let request = DeclaredRequest<Player>(table: "player", predicate: "team = 'Blue'")
    let names = DeclaredRequest<String>(table: "player", fields: ["name"])
    let counts = try world.writer.read { db in
      [
        try request.fetchCount(db), try request.fetchAll(db).count,
        try Player.filter(names.contains(Column("name"))).fetchCount(db),
      ]
    }
    #expect(counts == [2, 2, 3])
  }
}
