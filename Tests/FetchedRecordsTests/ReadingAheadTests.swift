import ChangeCapture
import GRDB
import Locks
import Testing

@testable import FetchedRecords

/// What is read of a large table, so that the changes of its rows are found, is read a little at a time.
@Suite struct `Reading the rows of large tables ahead` {
  private static let schema = """
    CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT);
    CREATE TABLE other (id INTEGER PRIMARY KEY, text TEXT);
    INSERT INTO other VALUES (1, 'a');
    INSERT INTO item WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      SELECT i, printf('%050d', i) FROM n
    """

  @Test func `commits are told in between, each by its rows`() throws {
    let finder = SteppingFinder()
    let fixture = try Fixture(
      schema: Self.schema, queries: .everyTable(), pageSize: 512, makeFinder: { finder })
    let small = try fixture.open("other")
    // Each piece that is read finds the work of the one before done, and a commit after it.
    let told = Mutex<[Int]>([])
    finder.beforeReading = { [unowned fixture] piece in
      told.withLock { $0.append(small.takeEvents().count) }
      try fixture.write("UPDATE other SET text = 'b\(piece)'")
      try fixture.write("UPDATE item SET text = 'c\(piece)' WHERE id = 20000 - \(piece)")
      fixture.refresher.refresh()
    }
    let large = try fixture.open("item")
    while fixture.refresher.queue.sync({ finder.hasUnreadRows }) { fixture.refresher.settle() }
    fixture.refresh()
    let pieces = told.withLock { $0 }
    #expect(pieces.count > 5)
    #expect(pieces.dropFirst().allSatisfy { $0 == 1 }, "\(pieces)")
    #expect(fixture.refresher.statistics.refetches == 0)
    let text = try fixture.examine {
      try String.fetchAll($0, sql: "SELECT text FROM item ORDER BY id")
    }
    #expect(large.snapshot.results.shown.flatMap(\.records).map(\.[1].text) == text)
  }
}

/// Does something before each time that rows are read ahead.
private final class SteppingFinder: ChangeFinder {
  private let reader = ChangeReader(settings: .init(pagesAtOnce: 8))
  private var pieces = 0
  var beforeReading: (Int) throws -> Void = { _ in }

  func changes(in db: Database) throws -> DatabaseChanges { try reader.changes(in: db) }

  func keep() { reader.keep() }

  func follow(_ tables: Set<String>, in db: Database) throws { try reader.follow(tables, in: db) }

  var statistics: CaptureStatistics { reader.statistics }

  var hasUnreadRows: Bool { reader.hasUnreadRows }

  func readOn(atMost pages: Int, in db: Database) throws -> Bool {
    pieces += 1
    try beforeReading(pieces)
    return try reader.readOn(atMost: pages, in: db)
  }
}
