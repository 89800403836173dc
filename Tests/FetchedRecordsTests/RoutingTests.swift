import Foundation
import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// Many controllers of one query, told apart by an argument that a column must equal.
@Suite struct RoutingTests {
  private static func players(_ predicate: String) -> QueryDefinition {
    QueryDefinition(
      name: "players",
      form: .declared(.init(table: "player", predicate: predicate, order: ["name"])),
      parameters: [
        QueryParameter(name: "team", type: .text),
        QueryParameter(name: "least", type: .integer, defaultValue: .integer(0)),
      ])
  }

  private static let predicate = "score >= :least AND team = :team"

  private static let schema = """
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER);
    CREATE TABLE other (id INTEGER PRIMARY KEY);
    """

  @Test func `only the controllers that a row concerns are looked at`() throws {
    let fixture = try Fixture(
      schema: Self.schema, queries: .definitions([Self.players(Self.predicate)]))
    try fixture.write(
      "INSERT INTO player VALUES (1, 'a', 'T1', 1), (2, 'b', 'T1', 1), (3, 'c', 'T2', 1)")
    let all = try (0..<50).map {
      try fixture.open(
        "players", arguments: ["team": .text("T\($0)"), "least": .integer(0)])
    }
    let before = fixture.refresher.statistics
    try fixture.write("UPDATE player SET name = 'z' WHERE id = 1")
    fixture.refresh()
    #expect(fixture.refresher.statistics.maintained == before.maintained + 1)
    #expect(all[1].snapshot.results.count == 2)
    #expect(try all[1].takeChanges().count == 1)

    try fixture.write("UPDATE player SET team = 'T7' WHERE id = 2")
    fixture.refresh()
    #expect(fixture.refresher.statistics.maintained == before.maintained + 3)
    #expect(all[1].snapshot.results.count == 1)
    #expect(all[7].snapshot.results.count == 1)

    try fixture.write("DELETE FROM player WHERE id = 3")
    fixture.refresh()
    #expect(fixture.refresher.statistics.maintained == before.maintained + 4)
    #expect(all[2].snapshot.results.count == 0)
    #expect(fixture.refresher.statistics.refetches == before.refetches)
  }

  @Test func `only the windows that a row concerns are looked at`() throws {
    let sql = "SELECT id, name FROM player WHERE team = :team ORDER BY score DESC, id DESC LIMIT 2"
    let fixture = try Fixture(
      schema: Self.schema + "CREATE INDEX best ON player(team, score);",
      queries: .definitions([
        QueryDefinition(
          name: "best", form: .sql(sql), parameters: [QueryParameter(name: "team", type: .text)])
      ]))
    try fixture.write(
      "INSERT INTO player VALUES (1, 'a', 'T1', 1), (2, 'b', 'T1', 2), (3, 'c', 'T1', 3), (4, 'd', 'T2', 1)"
    )
    let all = try (0..<50).map { try fixture.open("best", arguments: ["team": .text("T\($0)")]) }
    func keys(_ index: Int) -> [Int64] {
      let results = all[index].snapshot.results
      return results.records(in: 0..<results.count).map { $0.rowID(at: 0) }
    }
    let before = fixture.refresher.statistics
    func maintained(_ change: String) throws -> Int {
      let before = fixture.refresher.statistics.maintained
      try fixture.write(change)
      fixture.refresh()
      return fixture.refresher.statistics.maintained - before
    }
    #expect(keys(1) == [3, 2])
    #expect(try maintained("UPDATE player SET name = 'z' WHERE id = 1") == 1)
    #expect(try maintained("UPDATE player SET score = 9 WHERE id = 1") == 1)
    #expect(keys(1) == [1, 3])
    // It was not shown, and comes elsewhere.
    #expect(try maintained("UPDATE player SET team = 'T7' WHERE id = 2") == 1)
    #expect(keys(7) == [2])
    #expect(try maintained("UPDATE player SET team = 'T7' WHERE id = 1") == 2)
    #expect(keys(1) == [3] && keys(7) == [1, 2])
    #expect(try maintained("DELETE FROM player WHERE id = 3") == 1)
    #expect(try maintained("INSERT INTO player VALUES (5, 'e', 'T7', 5), (6, 'f', 'T1', 0)") == 2)
    #expect(keys(1) == [6] && keys(7) == [1, 5])
    #expect(fixture.refresher.statistics.refetches == before.refetches)
    fixture.refresher.queue.sync {
      #expect(all.allSatisfy { $0.controller.whole == nil })
    }
  }

  @Test func `a commit to a table that no query reads looks at no controller`() throws {
    let fixture = try Fixture(
      schema: Self.schema, queries: .definitions([Self.players(Self.predicate)]))
    let watched = try fixture.open("players", arguments: ["team": .text("T1")])
    let before = fixture.refresher.statistics
    try fixture.write("INSERT INTO other VALUES (1)")
    fixture.refresh()
    let after = fixture.refresher.statistics
    #expect(after.refreshes == before.refreshes + 1)
    #expect(after.maintained == before.maintained && after.refetches == before.refetches)
    #expect(watched.takeEvents().isEmpty)
  }

  @Test func `fallbacks are counted by query and by reason`() throws {
    let fixture = try Fixture(
      schema: Self.schema, queries: .definitions([Self.players(Self.predicate)]))
    _ = try fixture.open("players", arguments: ["team": .text("T1")])
    try fixture.write(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO player SELECT i, 'x', 'T1', 1 FROM n
      """)
    fixture.refresh()
    #expect(fixture.refresher.statistics.queries["players"]?.fallbacks == ["manyRows": 1])
    try fixture.write("ALTER TABLE player ADD COLUMN more")
    fixture.refresh()
    #expect(
      fixture.refresher.statistics.queries["players"]?.fallbacks == ["manyRows": 1, "schema": 1])
    try fixture.write("UPDATE player SET name = 'y' WHERE id = 5")
    fixture.refresh()
    let counts = try #require(fixture.refresher.statistics.queries["players"])
    #expect(counts.maintained == 1 && counts.refetches == 2)
  }

  /// Every pair of values that SQLite takes for equal must be found.
  @Test(arguments: [
    "TEXT", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM", "INTEGER", "REAL", "", "NUMERIC",
  ])
  func `no controller is passed over whatever the values`(_ type: String) throws {
    let fixture = try Fixture(
      schema: "CREATE TABLE player (id INTEGER PRIMARY KEY, team \(type))",
      queries: .definitions([
        QueryDefinition(
          name: "players", form: .declared(.init(table: "player", predicate: "team = :team")),
          parameters: [QueryParameter(name: "team", type: .text)])
      ]))
    let values: [Value] = [
      .null, .integer(5), .real(5), .text("5"), .text(" 5 "), .text("5.0"), .text("05"),
      .text("5e0"), .integer(0), .real(-0.0), .text("-0"), .text("a"), .text("A"), .text("a "),
      .text("a\u{0}b"), .text("a\u{0}c"), .text(""), .text(" "), .real(0.1), .text("0.1"),
      .real(0.30000000000000004), .text("0.3"), .integer(.max), .text("9223372036854775807"),
      .real(9_223_372_036_854_775_808), .integer(9_007_199_254_740_993),
      .real(9_007_199_254_740_992), .text("9007199254740993"), .blob([0x61]), .text("é"),
      .text("É"), .blob([]), .text("1e400"), .text("+5"), .text("5 x"), .text("0x5"),
    ]
    let opened = try values.map { try fixture.open("players", arguments: ["team": $0]) }
    for (index, value) in values.enumerated() {
      _ = try rows(
        of: "INSERT INTO player VALUES (:id, :team)",
        ["id": .integer(Int64(index)), "team": value], in: fixture)
      fixture.refresh()
    }
    #expect(fixture.refresher.statistics.queries["players"]?.refetches ?? 0 == 0)
    for (index, watched) in opened.enumerated() {
      let expected = try rows(
        of: "SELECT id FROM player WHERE team = :team ORDER BY id", ["team": values[index]],
        in: fixture)
      let found = watched.snapshot.results.records(in: 0..<watched.snapshot.results.count).map {
        $0.value(0)
      }
      #expect(found == expected, "\(values[index])")
    }
  }

  /// `DIDCHANGE_STEPS` is the number of transactions, `DIDCHANGE_SEED` replays a run.
  @Test func `whoever holds a row is found when it changes, at random`() throws {
    let fixture = try Fixture(
      schema: Self.schema, queries: .definitions([Self.players(Self.predicate)]))
    let seed = RandomSource.seed
    var random = RandomSource(seed: seed)
    var open: [String: (team: Int, least: Int, watched: Watched)] = [:]
    print("random routing: DIDCHANGE_SEED=\(seed)")
    for step in 1...(RandomSource.number("DIDCHANGE_STEPS") ?? 400) {
      for _ in 0..<random.number(0...2) {
        let (team, least) = (random.number(0...20), random.number(0...3))
        let name = "\(team) \(least)"
        if let known = open.removeValue(forKey: name) {
          fixture.refresher.close(known.watched.controller)
        } else {
          let arguments: QueryArguments = [
            "team": .text("T\(team)"), "least": .integer(Int64(least)),
          ]
          open[name] = (team, least, try fixture.open("players", arguments: arguments))
        }
      }
      for _ in 0..<random.number(1...3) { try fixture.write(Self.change(&random)) }
      if random.number(0...9) > 0 { fixture.refresh() }
      if random.number(0...19) == 0, let one = open.values.first {
        fixture.refresher.fetch(one.watched.controller) { _ in }
        fixture.refresher.settle()
      }
      fixture.refresh()
      for (team, least, watched) in open.values {
        let expected = try rows(
          of: "SELECT id FROM player WHERE score >= :least AND team = :team ORDER BY name, id",
          ["team": .text("T\(team)"), "least": .integer(Int64(least))], in: fixture)
        let results = watched.snapshot.results
        let found = results.records(in: 0..<results.count).map { $0.value(0) }
        try #require(found == expected, "T\(team) from \(least), step \(step), seed \(seed)")
      }
    }
    #expect(fixture.refresher.statistics.maintained > 0)
  }

  private static func change(_ random: inout RandomSource) -> String {
    let (id, team, score) = (random.number(1...300), random.number(0...20), random.number(0...4))
    return switch random.number(0...7) {
    case 0: "DELETE FROM player WHERE id = \(id)"
    case 1: "UPDATE player SET team = 'T\(team)' WHERE id % 50 = \(id % 50)"
    case 2: "UPDATE player SET score = \(score) WHERE id = \(id)"
    case 3: "UPDATE OR REPLACE player SET id = \(id) + 300 WHERE id = \(id)"
    case 4: "UPDATE player SET team = 't\(team)' WHERE id = \(id)"
    case 5 where score == 0: "UPDATE player SET team = 'T' || (id % 21)"
    default: "INSERT OR REPLACE INTO player VALUES (\(id), 'n' || \(id % 7), 'T\(team)', \(score))"
    }
  }

  /// The first column of a statement whose parameters are bound as the product binds them.
  private func rows(of sql: String, _ arguments: QueryArguments, in fixture: Fixture) throws
    -> [Value]
  {
    try fixture.writer.write { db in
      let statement = try db.makeStatement(sql: sql)
      statement.bind(arguments)
      var values: [Value] = []
      while try statement.step(in: db) { values.append(statement.value(at: 0)) }
      return values
    }
  }
}
