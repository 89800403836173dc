import ChangeCapture
import GRDB
import Locks
import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

@Suite struct `A window that is live by itself` {
  private let finder = OutliningFinder()
  private let fixture: Fixture

  init() throws {
    let finder = finder
    var limits = RefresherLimits()
    limits.recordsOfWhole = 100
    fixture = try Fixture(
      schema: """
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, n INTEGER DEFAULT 0);
        CREATE INDEX byName ON item(name);
        CREATE TABLE few (id INTEGER PRIMARY KEY);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO item SELECT i, printf('N%04d', i), 0 FROM n;
        """,
      queries: .definitions([
        QueryDefinition(name: "items", form: .sql("SELECT * FROM item ORDER BY name")),
        QueryDefinition(name: "down", form: .sql("SELECT * FROM item ORDER BY name DESC")),
        QueryDefinition(name: "few", form: .sql("SELECT * FROM few")),
        QueryDefinition(name: "some", form: .sql("SELECT * FROM item WHERE n = 0 ORDER BY name")),
      ]), limits: limits, makeFinder: { finder })
  }

  private func hasWindows(_ name: String) -> Bool {
    let answer = Mutex(false)
    fixture.refresher.hasWindows(of: name, arguments: [:]) { has in answer.withLock { $0 = has } }
    fixture.refresher.queue.sync {}
    return answer.withLock { $0 }
  }

  @Test func `is of a result that is large and has an outline`() {
    #expect(hasWindows("items"))
    #expect(hasWindows("down"))
    #expect(!hasWindows("few"))
    #expect(!hasWindows("some"))
  }

  @Test func `holds the records that it shows`() throws {
    let watched = try fixture.open("items", window: 500..<510)
    #expect(watched.snapshot.results.count == 10)
    #expect(watched.snapshot.total == 1000)
    #expect(watched.snapshot.results.shown[0].records[0][0] == .integer(501))
    let down = try fixture.open("down", window: 990..<1010)
    let ids = down.snapshot.results.shown[0].records.map { $0[0] }
    #expect(ids == (1...10).reversed().map { .integer($0) })
    #expect(fixture.refresher.statistics.refetches == 0)
  }

  @Test func `moves on with what comes before it`() throws {
    let watched = try fixture.open("items", window: 500..<503)
    try fixture.write("INSERT INTO item (name) VALUES ('A')")
    fixture.refresh()
    #expect(try watched.takeChanges().count == 2)
    let ids = watched.snapshot.results.shown[0].records.map { $0[0] }
    #expect(ids == [500, 501, 502].map(Value.integer))
    try fixture.write("UPDATE item SET n = 1 WHERE id = 501")
    fixture.refresh()
    #expect(try watched.takeChanges().count == 1)
    #expect(fixture.refresher.statistics.refetches == 0)
    #expect(fixture.refresher.statistics.maintained == 2)
  }

  @Test func `reads rows again that may have changed, and no others`() throws {
    let watched = try fixture.open("items", window: 500..<503)
    var shown: [Value] { watched.snapshot.results.shown[0].records.map { $0[2] } }
    finder.present = [2, 501, 900]
    try fixture.write("UPDATE item SET n = 1 WHERE id IN (501, 502)")
    fixture.refresh()
    #expect(shown == [1, 0, 0].map(Value.integer))
    try fixture.write("UPDATE item SET name = 'Z' WHERE id = 3; UPDATE item SET n = 2")
    fixture.refresh()
    // The row that comes into it is read, too: it holds 502 to 504 now.
    #expect(shown == [0, 0, 2].map(Value.integer))
    finder.present = nil
    try fixture.write("UPDATE item SET n = 3 WHERE id = 7")
    fixture.refresh()
    #expect(shown == [2, 2, 2].map(Value.integer))
    #expect(fixture.refresher.statistics.refetches == 0)
  }

  @Test func `counts what comes behind it`() throws {
    let watched = try fixture.open("items", window: 500..<503)
    let version = watched.snapshot.version
    try fixture.write("INSERT INTO item (name) VALUES ('Z')")
    fixture.refresh()
    guard case .counted(let snapshot)? = watched.takeEvents().first else {
      throw UnexpectedEvents(events: [])
    }
    #expect(snapshot.total == 1001)
    #expect(snapshot.version == version)
  }

  @Test func `is read by itself where its index is gone, and by its places again`() throws {
    let watched = try fixture.open("items", window: 500..<503)
    for sql in ["DROP INDEX byName", "CREATE INDEX byName ON item(name)"] {
      try fixture.write(sql)
      fixture.refresh()
      try fixture.write("INSERT INTO item (name) VALUES ('A')")
      fixture.refresh()
      #expect(watched.snapshot.total == 1001 + (sql.hasPrefix("CREATE") ? 1 : 0))
    }
    let shown = watched.snapshot.results.shown[0].records.map { $0[0] }
    #expect(shown == [499, 500, 501].map(Value.integer))
  }

  @Test func `is there without a wait where the order is read ahead`() throws {
    let large = try Fixture(
      schema: """
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
        CREATE INDEX byName ON item(name);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
        INSERT INTO item SELECT i, printf('N%020d', i) FROM n;
        """,
      queries: .definitions([
        QueryDefinition(name: "items", form: .sql("SELECT * FROM item ORDER BY name"))
      ]))
    let refresher = large.refresher
    while refresher.queue.sync({ !refresher.outlinesToRead.isEmpty }) {
      try large.write("UPDATE item SET name = name || 'x' WHERE id = 1000")
      large.refresh()
    }
    #expect(refresher.queue.sync { refresher.outlines } == [.index("byName")])
    let watched = try large.open("items", window: 100_000..<100_001)
    #expect(watched.snapshot.results.shown[0].records.map { $0[0] } == [.integer(100_001)])
    #expect(watched.snapshot.total == 200_000)
  }

  @Test func `has the name that it has as a part of the whole`() throws {
    let whole = try fixture.open("items")
    let watched = try fixture.open("items", window: 500..<503)
    let part = whole.snapshot.with(whole.snapshot.results.window(500..<503), number: 1)
    #expect(watched.snapshot.version.state == part.version.state)
  }
}
