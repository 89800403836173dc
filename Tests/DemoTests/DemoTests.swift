import FetchedRecords
import Foundation
import GRDB
import Logging
import QueryAnalysis
import SeededRandom
import Testing

@testable import Demo
@testable import RecordsAPI

/// A SELECT with all the SQL of a query's definition.
private func select(_ query: QueryDefinition) -> String {
  switch query.form {
  case .sql(let sql): sql
  case .declared(let declaration):
    """
    SELECT \((declaration.fields ?? ["*"]).joined(separator: ", ")), \(query.section ?? "1")
    FROM \(declaration.table) WHERE \(declaration.predicate ?? "1")
    ORDER BY \((declaration.order + query.orders.flatMap(\.terms)).joined(separator: ", "))
    """
  }
}

@Suite struct `The demo` {
  @Test func `stays within its bounds and keeps its keys for ever`() throws {
    let queue = try DatabaseQueue()
    var season = DemoSeason(generator: SeededGenerator(seed: 1))
    try queue.write { database in try season.begin(database) }
    var counts: Set<Int> = []
    for _ in 1...20 {
      for _ in 1...100 { try queue.write { database in try season.step(database) } }
      try queue.read { database in
        try database.checkForeignKeys()
        let players = try Int.fetchOne(database, sql: "SELECT count(*) FROM player") ?? 0
        let goals = try Int.fetchOne(database, sql: "SELECT count(*) FROM goal") ?? 0
        let teams = try Int.fetchOne(database, sql: "SELECT count(*) FROM team")
        let best = try Int.fetchOne(database, sql: "SELECT max(score) FROM player") ?? 0
        #expect(DemoSeason.players.contains(players))
        #expect(goals <= DemoSeason.goals)
        #expect(teams == DemoNames.teams.count)
        #expect(best <= DemoSeason.goal + 3)
        counts.insert(players)
      }
    }
    #expect(counts.count > 1)
  }

  @Test func `is the same league for the same seed`() throws {
    func league() throws -> [Row] {
      let queue = try DatabaseQueue()
      var season = DemoSeason(generator: SeededGenerator(seed: 3))
      try queue.write { database in
        try season.begin(database)
        for _ in 1...50 { try season.step(database) }
      }
      return try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM player ORDER BY id") }
    }
    #expect(try league() == league())
  }

  @Test func `goes on without players and without teams`() throws {
    let queue = try DatabaseQueue()
    var season = DemoSeason(generator: SeededGenerator(seed: 2))
    try queue.write { database in
      try season.begin(database)
      try database.execute(sql: "DELETE FROM player; DELETE FROM team")
      for _ in 1...300 { try season.step(database) }
    }
  }

  @Test func `declares queries that prepare`() throws {
    let demo = try DemoDatabase()
    defer { demo.remove() }
    let queue = try DatabaseQueue(path: demo.path)
    #expect(Set(DemoDatabase.queries.map(\.name)).count == DemoDatabase.queries.count)
    try queue.read { database in
      #expect(try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal")
      for query in DemoDatabase.queries {
        #expect(QueryName.flaw(query.name) == nil)
        for parameter in query.parameters { #expect(ParameterName.flaw(parameter.name) == nil) }
        for statement in query.alongside { _ = try database.makeStatement(sql: statement.sql) }
        _ = try database.makeStatement(sql: select(query))
      }
    }
  }

  @Test func `changes by itself until it is removed`() async throws {
    let demo = try DemoDatabase()
    let queue = try DatabaseQueue(path: demo.path)
    let version = { try queue.read { try Int.fetchOne($0, sql: "PRAGMA data_version") } }
    let before = try version()
    demo.startWriting(logger: Logger(label: "test"))
    while try version() == before { try await Task.sleep(for: .milliseconds(10)) }
    demo.remove()
    #expect(!FileManager.default.fileExists(atPath: demo.path))
    demo.remove()
  }
}
