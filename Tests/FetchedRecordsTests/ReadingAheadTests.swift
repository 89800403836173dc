import ChangeCapture
import Foundation
import GRDB
import Locks
import OrderedResults
import Testing

@testable import FetchedRecords

/// What is read of a large table, so that the changes of its rows are found, or so that it is known where
/// each is, is read a little at a time.
@Suite struct `Reading large tables ahead` {
  private static let schema = """
    CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT);
    CREATE TABLE other (id INTEGER PRIMARY KEY, text TEXT);
    INSERT INTO other VALUES (1, 'a');
    INSERT INTO item WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      SELECT i, printf('%050d', i) FROM n
    """

  private func wait(until isDone: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while !isDone() {
      try #require(ContinuousClock.now < deadline)
      usleep(100)
    }
  }

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
    try wait { fixture.refresher.queue.sync { !finder.hasUnreadRows } }
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

  @Test func `a window and a page wait for the outline, and it is never read at once`() throws {
    let finder = SteppingFinder()
    var limits = RefresherLimits()
    limits.recordsOfWhole = 1000
    let fixture = try Fixture(
      schema: Self.schema, queries: .everyTable(), pageSize: 512, limits: limits,
      makeFinder: { finder })
    let refresher = fixture.refresher
    let isWindowed = Mutex<Bool?>(nil)
    let page = Mutex<PageAnswer?>(nil)
    refresher.queue.sync {
      // Both come before anything is read.
      refresher.hasWindows(of: "item", arguments: [:]) { has in isWindowed.withLock { $0 = has } }
      refresher.readPage(
        of: "item", arguments: [:], PageRange(.offset(10_000), limit: 2)
      ) { answer in page.withLock { $0 = try? answer.get() } }
    }
    try wait { isWindowed.withLock { $0 != nil } && page.withLock { $0 != nil } }
    #expect(isWindowed.withLock(\.self) == true)
    guard case .page(let found, _) = page.withLock(\.self) else {
      Issue.record("no page")
      return
    }
    #expect(found.records.map { $0.value(0) } == [10_001, 10_002].map(Value.integer))
    #expect(finder.piecesOfOutlines > 1)
    #expect(finder.pagesReadAtOnce < 1024)
    let watched = try fixture.open("item", window: 5000..<5001)
    #expect(watched.snapshot.results.shown[0].records.map { $0[0] } == [.integer(5001)])
    #expect(watched.snapshot.total == 20_000)
  }
}

/// Does something before each time that rows are read ahead, and counts.
private final class SteppingFinder: ChangeFinder {
  private let reader = ChangeReader(settings: .init(pagesAtOnce: 8))
  private(set) var piecesOfOutlines = 0
  private(set) var pagesReadAtOnce = 0
  private var pieces = 0
  var beforeReading: (Int) throws -> Void = { _ in }

  func changes(in db: Database) throws -> DatabaseChanges { try reader.changes(in: db) }

  func keep() { reader.keep() }

  func follow(_ tables: Set<String>, in db: Database) throws { try reader.follow(tables, in: db) }

  var statistics: CaptureStatistics { reader.statistics }

  var hasUnreadRows: Bool { reader.hasUnreadRows }

  func readRowsAhead(atMost pages: Int, in db: Database) throws -> Bool {
    pieces += 1
    try beforeReading(pieces)
    return try reader.readRowsAhead(atMost: pages, in: db)
  }

  func pagesToOutline(_ tree: OutlinedTree) -> Int? { reader.pagesToOutline(tree) }

  func readAhead(_ tree: OutlinedTree, atMost pages: Int, in db: Database) throws -> Bool {
    piecesOfOutlines += 1
    return try reader.readAhead(tree, atMost: pages, in: db)
  }

  func outline(_ trees: Set<OutlinedTree>, in db: Database) throws {
    pagesReadAtOnce = trees.reduce(pagesReadAtOnce) { max($0, reader.pagesToOutline($1) ?? 0) }
    try reader.outline(trees, in: db)
  }

  func entryCount(of tree: OutlinedTree, in db: Database) throws -> Int? {
    try reader.entryCount(of: tree, in: db)
  }

  func rowIDs(of tree: OutlinedTree, at range: Range<Int>, in db: Database) throws -> [Int64]? {
    try reader.rowIDs(of: tree, at: range, in: db)
  }
}
