import ChangeCapture
import Dispatch
import Foundation
import GRDB
import Locks
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// A database in a temporary folder, a connection that writes to it, and a refresher that reads it.
final class Fixture {
  let folder: TemporaryFolder
  let writer: DatabaseQueue
  let refresher: Refresher

  var path: String { writer.path }

  init(
    schema: String, queries: QueryCatalog.Extent, journalMode: String = "wal",
    pageSize: Int = 4096,
    limits: RefresherLimits = RefresherLimits(),
    makeFinder: @escaping () -> any ChangeFinder = { ChangeReader() }
  ) throws {
    folder = try TemporaryFolder()
    let path = folder.file("test.sqlite")
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      // Nothing here survives a power failure, nor has to.
      try db.execute(sql: "PRAGMA synchronous = OFF")
    }
    writer = try DatabaseQueue(path: path, configuration: configuration)
    try writer.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA page_size = \(pageSize)")
      try db.execute(sql: "PRAGMA journal_mode = \(journalMode)")
      try db.execute(sql: schema)
    }
    refresher = try Refresher(
      path: path, queries: queries, limits: limits, makeFinder: makeFinder
    ) { _ in }
  }

  func write(_ sql: String, arguments: StatementArguments = []) throws {
    try writer.write { try $0.execute(sql: sql, arguments: arguments) }
  }

  /// Reads by the writer's connection, which nobody else writes with meanwhile.
  ///
  /// GRDB's `read` sets `PRAGMA query_only` before and after, and like most pragmas that has SQLite
  /// prepare all statements anew: a third of the time of random tests.
  func examine<Result>(_ read: (Database) throws -> Result) rethrows -> Result {
    try writer.unsafeRead(read)
  }

  /// Refreshes and waits for the end of it.
  func refresh() {
    refresher.refresh()
    refresher.settle()
  }

  /// Makes a change, and holds what is shown against a plain SELECT of the writer, in any order.
  func expect(
    _ watched: Watched, toShow sql: String, after change: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try write(change)
    refresh()
    let width = watched.snapshot.query.layout.columns.count
    let shown = watched.snapshot.results.shown.flatMap(\.records)
      .map { "\($0.prefix(width).map(\.text))" }
    let expected = try examine { db in
      try Row.fetchAll(db, sql: sql).map { "\(Array($0.databaseValues).map { Value($0).text })" }
    }
    #expect(shown.sorted() == expected.sorted(), "\(change)", sourceLocation: sourceLocation)
  }

  /// A live result of a SELECT, held against what the writer reads of it after each of these changes.
  ///
  /// Groups that take as long as `dearGroup` to be read are made of what their rows come to.
  static func following(
    _ sql: String, schema: String, _ changes: [String], dearGroup: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> (query: Query, statistics: RefreshStatistics) {
    var limits = RefresherLimits()
    if let dearGroup { limits.dearGroup = dearGroup }
    let fixture = try Fixture(
      schema: schema, queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]),
      limits: limits)
    let watched = try fixture.open("q")
    let query = watched.snapshot.query
    for change in changes {
      try fixture.expect(watched, toShow: sql, after: change, sourceLocation: sourceLocation)
    }
    return (query, fixture.refresher.statistics)
  }

  func open(
    _ name: String, arguments: QueryArguments = [:], window: Range<Int>? = nil
  ) throws -> Watched {
    try refresher.watch(name, arguments: arguments, window: window)
  }
}

extension Refresher {
  /// Waits until everything shows the present.
  func settle() {
    while !queue.sync({ isSettled }) { usleep(100) }
  }

  /// Opens a query, and keeps the events that it tells.
  func watch(
    _ name: String, arguments: QueryArguments, window: Range<Int>? = nil
  ) throws -> Watched {
    let watched = Watched()
    let result = Mutex<Result<LiveResult, FetchFailure>?>(nil)
    // What it watches it holds.
    open(name, arguments: arguments, window: window) { [weak watched] event, _ in
      watched?.receive(event)
    } completion: { opened in
      result.withLock { $0 = opened }
    }
    settle()
    let controller = try #require(try result.withLock { try $0?.get() })
    watched.begin(with: controller)
    return watched
  }
}

/// A controller and the events that it told since they were last taken.
final class Watched: Sendable {
  private let state = Mutex<(controller: LiveResult?, events: [LiveResultEvent])>((nil, []))

  func begin(with controller: LiveResult) { state.withLock { $0.controller = controller } }

  func receive(_ event: LiveResultEvent) { state.withLock { $0.events.append(event) } }

  func takeEvents() -> [LiveResultEvent] {
    state.withLock { state in
      defer { state.events = [] }
      return state.events
    }
  }

  /// The change set of the only event since they were last taken.
  func takeChanges(sourceLocation: SourceLocation = #_sourceLocation) throws -> ChangeSet {
    let events = takeEvents()
    #expect(events.count == 1, sourceLocation: sourceLocation)
    guard case .changed(let changes, _, _)? = events.first else {
      throw UnexpectedEvents(events: events.map { "\($0)" })
    }
    return changes
  }

  var controller: LiveResult {
    state.withLock { $0.controller! }
  }

  var snapshot: ResultsSnapshot { controller.snapshot }
}

struct UnexpectedEvents: Error {
  let events: [String]
}

extension Results {
  /// The visible values of all records, section by section.
  var shown: [ShownSection] { PlainResults(self).shown }
}

extension PlainResults {
  var shown: [ShownSection] {
    sections.map { ShownSection(name: $0.name, records: rows($0)) }
  }
}

/// A section and its records as a client sees them.
struct ShownSection: Equatable, CustomStringConvertible {
  var name: Value
  var records: [[Value]]

  var description: String {
    "\(name.text): " + records.map { "(" + $0.map(\.text).joined(separator: ", ") + ")" }.joined()
  }
}
