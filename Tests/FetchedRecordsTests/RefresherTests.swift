import ChangeCapture
import Dispatch
import GRDB
import Locks
import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

private let schema = """
  CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT);
  INSERT INTO player VALUES (1, 'Ada', 'Blue'), (2, 'Barbara', 'Blue');
  """

private let byTeam = QueryDefinition(
  name: "players", form: .declared(.init(table: "player", order: ["name"])), section: "team",
  alongside: [.init(name: "total", sql: "SELECT count(*) FROM player")])

/// A source that fails where it is told.
private final class StumblingFinder: ChangeFinder {
  static let stumbles = Atomic(false)
  private let source = ChangeReader()

  func changes(in db: Database) throws -> DatabaseChanges { try source.changes(in: db) }
  func keep() { source.keep() }
  func follow(_ tables: Set<String>, in db: Database) throws {
    if Self.stumbles.load(ordering: .relaxed) { throw DatabaseError(resultCode: .SQLITE_BUSY) }
    try source.follow(tables, in: db)
  }
  var statistics: CaptureStatistics { source.statistics }
}

/// A database that cannot be read for a while.
private final class Trouble: Sendable {
  private let present = Mutex(ResultCode?.none)
  var code: ResultCode? {
    get { present.withLock(\.self) }
    set { present.withLock { $0 = newValue } }
  }
}

private final class TroubledFinder: ChangeFinder {
  private let trouble: Trouble
  private let source = ChangeReader()

  init(_ trouble: Trouble) { self.trouble = trouble }

  func changes(in db: Database) throws -> DatabaseChanges {
    if let code = trouble.code { throw DatabaseError(resultCode: code) }
    return try source.changes(in: db)
  }
  func keep() { source.keep() }
  func follow(_ tables: Set<String>, in db: Database) throws {
    try source.follow(tables, in: db)
  }
  var statistics: CaptureStatistics { source.statistics }
}

@Suite struct `A refresher` {
  /// To try again at once would take a processor for itself as long as a lock lasts, or the file is gone.
  @Test(arguments: [ResultCode.SQLITE_BUSY, .SQLITE_CANTOPEN])
  func `rests before it tries again to read the database`(code: ResultCode) throws {
    let trouble = Trouble()
    let fixture = try Fixture(schema: schema, queries: .definitions([byTeam])) {
      TroubledFinder(trouble)
    }
    let watched = try fixture.open("players")
    let number = watched.snapshot.number
    try fixture.write("UPDATE player SET name = 'Bea' WHERE id = 2")
    trouble.code = code
    let refresher = fixture.refresher
    refresher.fetch(watched.controller) { _ in }
    for _ in 0..<10 { refresher.queue.sync {} }
    #expect(refresher.queue.sync { !refresher.isSettled && !refresher.isServing })
    trouble.code = nil
    refresher.settle()
    #expect(refresher.queue.sync { watched.snapshot.number } == number + 1)
  }

  /// Another file may come in its place that counts its schema alike.
  @Test func `a schema that was only half followed is looked at again`() throws {
    let fixture = try Fixture(
      schema: "CREATE TABLE item (id INTEGER PRIMARY KEY)", queries: .everyTable(),
      makeFinder: StumblingFinder.init)
    #expect(fixture.refresher.catalog["item"] != nil)
    let number = try fixture.writer.read { try Int.fetchOne($0, sql: "PRAGMA schema_version") ?? 0 }
    StumblingFinder.stumbles.store(true, ordering: .relaxed)
    try fixture.write("DROP TABLE item")
    fixture.refresh()
    #expect(fixture.refresher.catalog["item"] == nil)
    try fixture.write(
      "CREATE TABLE item (id INTEGER PRIMARY KEY); PRAGMA schema_version = \(number)")
    StumblingFinder.stumbles.store(false, ordering: .relaxed)
    fixture.refresh()
    #expect(fixture.refresher.catalog["item"] != nil)
  }

  @Test func `a move to a new section is told whole`() throws {
    let fixture = try Fixture(schema: schema, queries: .definitions([byTeam]))
    let watched = try fixture.open("players")
    try fixture.write("UPDATE player SET team = 'Red' WHERE id = 2")
    fixture.refresh()
    let changes = try watched.takeChanges()
    #expect(
      changes.sectionChanges == [.insertion(section: 1, name: .text("Red"), indexTitle: "R")])
    guard case .move(let from, let to, _, _)? = changes.recordChanges.first else {
      Issue.record("no move in \(changes)")
      return
    }
    #expect(from == IndexPath(section: 0, item: 1))
    #expect(to == IndexPath(section: 1, item: 0))
  }

  @Test func `results that are shown together do not hold one another when it has stopped`() throws
  {
    let fixture = try Fixture(schema: schema, queries: .everyTable())
    try fixture.write("CREATE TABLE team (name TEXT PRIMARY KEY)")
    fixture.refresh()
    let refresher = fixture.refresher
    let shown = try ["player", "team"].map { try fixture.open($0).controller }
    refresher.queue.sync { _ = refresher.bind(shown, to: ObjectIdentifier(fixture)) }
    #expect(refresher.queue.sync { shown.map(\.companions.count) } == [1, 1])
    refresher.stop()
    #expect(refresher.queue.sync { shown.allSatisfy(\.companions.isEmpty) })
  }

  @Test func `no net change is no event`() throws {
    let fixture = try Fixture(schema: schema, queries: .definitions([byTeam]))
    let watched = try fixture.open("players")
    let version = watched.snapshot.version
    try fixture.write(
      "UPDATE player SET name = 'X' WHERE id = 1; UPDATE player SET name = 'Ada' WHERE id = 1")
    fixture.refresh()
    #expect(watched.takeEvents().isEmpty)
    #expect(watched.snapshot.version == version)
  }

  @Test func `alongside values belong to the records' commit`() throws {
    let fixture = try Fixture(schema: schema, queries: .definitions([byTeam]))
    let watched = try fixture.open("players")
    try fixture.write("INSERT INTO player VALUES (3, 'Cara', 'Blue')")
    fixture.refresh()
    #expect(watched.snapshot.alongside == [NamedValue(name: "total", value: .integer(3))])
  }

  @Test func `opening a query brings the others to the same commit first`() throws {
    let fixture = try Fixture(schema: schema, queries: .definitions([byTeam]))
    let first = try fixture.open("players")
    try fixture.write("DELETE FROM player")
    let second = try fixture.open("players")
    #expect(first.snapshot.results.isEmpty)
    #expect(second.snapshot.results.isEmpty)
    #expect(first.snapshot.commit == second.snapshot.commit)
    #expect(first.takeEvents().count == 1)
    #expect(second.takeEvents().isEmpty)
  }

  @Test func `a dropped table is a failure, and the next change set is relative to before`() throws
  {
    let fixture = try Fixture(schema: schema, queries: .definitions([byTeam]))
    let watched = try fixture.open("players")
    try fixture.write("DROP TABLE player")
    fixture.refresh()
    guard case .failed(let failure)? = watched.takeEvents().first else {
      Issue.record("no failure")
      return
    }
    #expect(failure.kind == .query)
    #expect(watched.snapshot.results.count == 2)
    try fixture.write(
      """
      CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT);
      INSERT INTO player VALUES (2, 'Barbara', 'Blue');
      """)
    fixture.refresh()
    let changes = try watched.takeChanges()
    #expect(changes.count == 1)
    #expect(watched.controller.failure == nil)
  }

  @Test func `a new column makes the records another shape, and everyone starts over`() throws {
    let fixture = try Fixture(schema: schema, queries: .definitions([byTeam]))
    let watched = try fixture.open("players")
    let state = watched.snapshot.version.state
    try fixture.write("ALTER TABLE player ADD COLUMN score DEFAULT 7")
    fixture.refresh()
    guard case .reset(let snapshot)? = watched.takeEvents().first else {
      Issue.record("no reset")
      return
    }
    #expect(snapshot.results.layout.columns == ["id", "name", "team", "score"])
    #expect(snapshot.version.state != state)
  }

  @Test func `sections that do not come in runs are a failure that names the record`() throws {
    let fixture = try Fixture(
      schema: schema + "INSERT INTO player VALUES (3, 'Abel', 'Red')",
      queries: .definitions([
        QueryDefinition(
          name: "q", form: .sql("SELECT id, team FROM player ORDER BY team"), section: "team")
      ]))
    _ = try fixture.open("q")
    let broken = try Fixture(
      schema: schema + "INSERT INTO player VALUES (0, 'Abel', 'Red'), (4, 'Zed', 'Red')",
      queries: .definitions([
        QueryDefinition(
          name: "q", form: .sql("SELECT id, team FROM player ORDER BY id"), section: "team")
      ]))
    #expect {
      try broken.open("q")
    } throws: { error in
      guard let failure = error as? FetchFailure else { return false }
      return failure.kind == .sections && failure.detail.contains("key 4")
        && failure.detail.contains("ORDER BY team")
    }
  }

  @Test func `values are bound, never spliced`() throws {
    let fixture = try Fixture(
      schema: schema,
      queries: .definitions([
        QueryDefinition(
          name: "q",
          form: .declared(.init(table: "player", predicate: "name = :name OR name IS :other")),
          parameters: [
            QueryParameter(name: "name", type: .text), QueryParameter(name: "other", type: .text),
          ])
      ]))
    let watched = try fixture.open(
      "q", arguments: ["name": .text("Ada"), "other": .text("' OR 1=1 --")])
    #expect(watched.snapshot.results.count == 1)
  }

  @Test func `without definitions every table and view is a query, later ones too`() throws {
    let fixture = try Fixture(schema: schema, queries: .everyTable())
    try fixture.write("CREATE VIEW reds AS SELECT * FROM player WHERE team = 'Red'")
    fixture.refresh()
    #expect(fixture.refresher.catalog.all.map(\.definition.name) == ["player", "reds"])
  }

  @Test(arguments: ["wal", "delete", "truncate", "persist"])
  func `every journal mode is read`(mode: String) throws {
    let fixture = try Fixture(
      schema: schema, queries: .definitions([byTeam]), journalMode: mode)
    let watched = try fixture.open("players")
    try fixture.write("DELETE FROM player WHERE id = 1")
    fixture.refresh()
    #expect(try watched.takeChanges().count == 1)
  }

  @Test func `a lock that nobody commits under is over when it is let go`() throws {
    let fixture = try Fixture(
      schema: schema, queries: .definitions([byTeam]), journalMode: "delete")
    let watched = try fixture.open("players")
    try fixture.writer.writeWithoutTransaction { db in
      try db.execute(sql: "BEGIN EXCLUSIVE")
      fixture.refresh()
      try db.execute(sql: "ROLLBACK")
    }
    #expect(watched.controller.failure?.kind == .busy)
    fixture.refresh()
    #expect(fixture.refresher.failure == nil)
    #expect(watched.controller.failure == nil)
  }
  @Test func `one fetch answers all that wait for it`() throws {
    let fixture = try Fixture(schema: schema, queries: .definitions([byTeam]))
    let refresher = fixture.refresher
    let watched = try fixture.open("players")
    let before = refresher.statistics.refetches
    let versions = Mutex<[ResultsVersion?]>([])
    refresher.queue.sync {
      for _ in 1...20 {
        refresher.fetch(watched.controller) { result in
          versions.withLock { $0.append(try? result.get().version) }
        }
      }
    }
    refresher.settle()
    #expect(versions.withLock { $0 } == Array(repeating: watched.snapshot.version, count: 20))
    #expect(refresher.statistics.refetches == before + 1)
    // Whoever asks later has another one.
    refresher.fetch(watched.controller) { _ in }
    refresher.settle()
    #expect(refresher.statistics.refetches == before + 2)
  }

  @Test func `what clients wait for lets a commit go first`() throws {
    let definition = QueryDefinition(
      name: "q", form: .declared(.init(table: "player", predicate: "id = :id")),
      parameters: [QueryParameter(name: "id", type: .integer)])
    let fixture = try Fixture(schema: schema, queries: .definitions([definition]))
    let refresher = fixture.refresher
    let watched = try (1...3).map { try fixture.open("q", arguments: ["id": .integer($0)]) }
    let order = Mutex<[String]>([])
    let isOver = DispatchSemaphore(value: 0)
    refresher.queue.sync {
      for (index, one) in watched.enumerated() {
        refresher.fetch(one.controller) { _ in
          order.withLock { $0.append("fetch \(index)") }
          isOver.signal()
        }
      }
      refresher.open("q", arguments: ["id": .integer(9)]) { _, _ in
      } completion: { _ in
        order.withLock { $0.append("open") }
        isOver.signal()
      }
      refresher.queue.async { order.withLock { $0.append("commit") } }
    }
    for _ in 0...watched.count { isOver.wait() }
    let all = order.withLock { $0 }
    #expect(all.first == "commit")
    // On a busy machine one may take so long that it is done beside.
    #expect(all.sorted() == ["commit", "fetch 0", "fetch 1", "fetch 2", "open"])
  }
}
