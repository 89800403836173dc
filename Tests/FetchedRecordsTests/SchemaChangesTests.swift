import GRDB
import Locks
import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// Changes of the schema while queries are live.
@Suite struct `A schema that changes` {
  private static let schema = """
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team INTEGER);
    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
    CREATE INDEX byTeam ON player(team);
    CREATE VIEW blue AS SELECT * FROM player WHERE team = 1;
    INSERT INTO team VALUES (1, 'Blue'), (2, 'Red');
    INSERT INTO player VALUES (1, 'Ada', 1), (2, 'Bob', 2);
    """

  private static let queries = [
    QueryDefinition(
      name: "players", form: .declared(.init(table: "player", order: ["name"])),
      alongside: [.init(name: "n", sql: "SELECT count(*) FROM player")]),
    QueryDefinition(name: "blue", form: .sql("SELECT name FROM blue")),
    QueryDefinition(name: "teams", form: .declared(.init(table: "team"))),
    QueryDefinition(name: "sizes", form: .sql("SELECT team, count(*) AS n FROM player GROUP BY 1")),
  ]

  private func fixture() throws -> (Fixture, [String: Watched]) {
    let fixture = try Fixture(schema: Self.schema, queries: .definitions(Self.queries))
    let names = Self.queries.map(\.name)
    let watched = try names.map { ($0, try fixture.open($0)) }
    return (fixture, Dictionary(uniqueKeysWithValues: watched))
  }

  private func analyses(_ fixture: Fixture) -> [String: ObjectIdentifier] {
    Dictionary(
      uniqueKeysWithValues: fixture.refresher.catalog.all.compactMap { entry in
        (try? entry.analysis.get()).map { (entry.definition.name, ObjectIdentifier($0)) }
      })
  }

  private func names(_ watched: Watched?) -> [[Value]] {
    watched?.snapshot.results.shown.flatMap(\.records) ?? []
  }

  @Test func `leaves alone what it does not concern, and tells its rows as ever`() throws {
    let (fixture, watched) = try fixture()
    // The first change of groups reads them anew.
    try fixture.write("UPDATE player SET name = 'Abe' WHERE id = 1")
    fixture.refresh()
    for watched in watched.values { _ = watched.takeEvents() }
    let (before, refetches) = (analyses(fixture), fixture.refresher.statistics.refetches)
    try fixture.write(
      """
      CREATE TABLE other (a); CREATE INDEX otherByA ON other(a); INSERT INTO other VALUES (1);
      UPDATE player SET name = 'Zed' WHERE id = 1; INSERT INTO player VALUES (3, 'Cy', 1);
      """)
    fixture.refresh()
    #expect(analyses(fixture) == before)
    #expect(fixture.refresher.statistics.refetches == refetches)
    let players = try #require(watched["players"])
    let changes = try players.takeChanges()
    #expect(changes.recordChanges.count == 2)
    #expect(players.snapshot.alongside == [NamedValue(name: "n", value: .integer(3))])
    #expect(names(watched["blue"]) == [[.text("Zed")], [.text("Cy")]])
    #expect(names(watched["sizes"]) == [[.integer(1), .integer(2)], [.integer(2), .integer(1)]])
    #expect(watched["teams"]?.takeEvents().isEmpty == true)
    try fixture.write("DROP TABLE other; DELETE FROM player WHERE id = 3")
    fixture.refresh()
    #expect(analyses(fixture) == before)
    #expect(names(watched["sizes"]) == [[.integer(1), .integer(1)], [.integer(2), .integer(1)]])
  }

  @Test func `has that analysed and read anew which it concerns, by a view too`() throws {
    let (fixture, watched) = try fixture()
    let before = analyses(fixture)
    try fixture.write("CREATE INDEX byName ON player(name)")
    fixture.refresh()
    let after = analyses(fixture)
    #expect(["players", "blue", "sizes"].allSatisfy { before[$0] != after[$0] })
    #expect(before["teams"] == after["teams"])
    try fixture.write("DROP VIEW blue; CREATE VIEW blue AS SELECT * FROM player WHERE team = 2")
    fixture.refresh()
    #expect(["players", "sizes", "teams"].allSatisfy { analyses(fixture)[$0] == after[$0] })
    #expect(names(watched["blue"]) == [[.text("Bob")]])
    try fixture.write("INSERT INTO player VALUES (3, 'Cy', 2); DELETE FROM team WHERE id = 1")
    fixture.refresh()
    #expect(names(watched["blue"]) == [[.text("Bob")], [.text("Cy")]])
    #expect(watched["players"]?.snapshot.alongside == [NamedValue(name: "n", value: .integer(3))])
    #expect(watched["teams"]?.snapshot.results.count == 1)
  }

  @Test func `has what it concerns analysed behind what others wait for, and all of it`() throws {
    let fixture = try Fixture(schema: Self.schema, queries: .definitions(Self.queries))
    let refresher = fixture.refresher
    let areOutdated = Mutex<[Bool]>([])
    // What is open is held until the end.
    let opened = Mutex<LiveResult?>(nil)
    refresher.open("teams", arguments: [:], window: nil) { [weak refresher] _, _ in
      areOutdated.withLock { $0.append(refresher?.catalog.nextOutdated != nil) }
    } completion: { result in
      opened.withLock { $0 = try? result.get() }
    }
    refresher.settle()
    let before = analyses(fixture)
    try fixture.write("ALTER TABLE player ADD COLUMN born; INSERT INTO team VALUES (3, 'Green')")
    fixture.refresh()
    #expect(areOutdated.withLock(\.self) == [true])
    let after = analyses(fixture)
    #expect(["players", "blue", "sizes"].allSatisfy { before[$0] != after[$0] })
    #expect(before["teams"] == after["teams"])
    let players = try fixture.open("players")
    #expect(players.snapshot.results.layout.columns.contains("born"))
    _ = opened.withLock { $0.take() }
  }

  @Test func `makes a query right again that did not fit it`() throws {
    let (fixture, watched) = try fixture()
    try fixture.write("ALTER TABLE team RENAME TO club")
    fixture.refresh()
    guard case .failed? = watched["teams"]?.takeEvents().first else {
      Issue.record("no failure")
      return
    }
    // Of another table: nobody knows by which change it may be right.
    try fixture.write("CREATE TABLE other (a)")
    fixture.refresh()
    try fixture.write("ALTER TABLE club RENAME TO team; INSERT INTO team VALUES (3, 'Green')")
    fixture.refresh()
    #expect(watched["teams"]?.snapshot.results.count == 3)
  }
}
