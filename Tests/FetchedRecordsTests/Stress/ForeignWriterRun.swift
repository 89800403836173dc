import ChangeCapture
import Foundation
import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport

@testable import FetchedRecords

/// One database that other processes write to, under live queries.
final class ForeignWriterRun {
  private let folder: TemporaryFolder
  private let refresher: Refresher
  private var live: [(test: ForeignWriterQueries.Case, watched: Watched)] = []
  /// What a client has that began with the first snapshot and applied every change set.
  private var shown: [PlainResults] = []
  private var sql: RandomSQL
  private var random = RandomSource(seed: RandomSource.seed)
  private let title: String
  private var transactions = 0
  private var comparisons = 0
  private var changeSets = 0

  struct Difference: Error, CustomStringConvertible {
    let description: String
  }

  init(
    pageSize: Int, autoVacuum: Int, journalMode: String, changesSchema: Bool = false
  ) throws {
    folder = try TemporaryFolder()
    title = "page size \(pageSize), auto_vacuum \(autoVacuum), \(journalMode)"
    sql = RandomSQL(
      random: RandomSource(seed: RandomSource.seed ^ UInt64(pageSize + autoVacuum)),
      hasFullTextSearch: false, changesSchema: changesSchema)
    let writer = try DatabaseQueue(path: folder.file())
    let statements =
      [
        "PRAGMA page_size = \(pageSize)", "PRAGMA auto_vacuum = \(autoVacuum)",
        "PRAGMA journal_mode = \(journalMode)",
      ] + sql.schema + ForeignWriterQueries.schema
    try writer.writeWithoutTransaction { db in
      for statement in statements { _ = try Row.fetchAll(db, sql: statement) }
    }
    refresher = try Refresher(
      path: folder.file(),
      queries: .definitions(ForeignWriterQueries.cases.map(\.definition)), log: { _ in })
    try writer.close()
    for test in ForeignWriterQueries.cases {
      let watched = try refresher.watch(test.definition.name, arguments: test.arguments)
      live.append((test, watched))
      shown.append(PlainResults(watched.snapshot.results))
    }
  }

  deinit { refresher.stop() }

  func watch(
    transactions count: Int, writers: Int, kills: Bool = false, holdsLog: Bool = false
  ) throws {
    var scripts = try (0..<writers).map { _ in
      try ForeignScript(
        folder.file(), transactions: (0..<max(1, count / writers)).map { _ in sql.transaction() },
        pause: random.pick([0, 0.001, 0.004, 0.01]), folder: folder)
    }
    transactions += scripts.reduce(0) { $0 + $1.count }
    let holder = holdsLog ? try LogHolder(folder.file()) : nil
    var refreshesToLive = kills ? refreshes + random.number(1...6) : Int.max
    while scripts.contains(where: \.isRunning) {
      try compare()
      if random.once(in: 3) { try holder?.holdOrLetGo() }
      usleep(UInt32(random.number(0...2000)))
      guard refreshes >= refreshesToLive else { continue }
      // In whatever it is doing; the others go on for a while.
      scripts.removeFirst().kill()
      refreshesToLive = refreshes + random.number(1...3)
    }
    try compare()
  }

  private var refreshes: Int { refresher.statistics.refreshes }

  func report() {
    let statistics = refresher.statistics
    var fallbacks: [String: Int] = [:]
    for counts in statistics.queries.values {
      fallbacks.merge(counts.fallbacks, uniquingKeysWith: +)
    }
    let words = fallbacks.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    print(
      """
      \(title), seed \(RandomSource.seed): \(transactions) transactions, \
      \(statistics.refreshes) refreshes, \(comparisons) comparisons, \(changeSets) change sets, \
      \(statistics.maintained) row by row, \(statistics.refetches) refetched \
      (\(words.joined(separator: ", "))); capture: \
      \(refresher.capture.fallbacks.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
      """)
  }

  // MARK: - Comparing

  /// Refreshes, and holds every query against a fetch in the same transaction.
  private func compare() throws {
    var seen: [Seen]?
    while seen == nil {
      let found = refresher.queue.sync { see() }
      guard case .success(let state) = found else { return }
      seen = state
      if seen == nil { refresher.settle() }
    }
    for (index, seen) in (seen ?? []).enumerated() { try compare(index, seen) }
  }

  /// A query in one turn of the engine: what the next turn shows may be of a later commit.
  private struct Seen {
    let fetched: Results?
    let events: [LiveResultEvent]
    let shown: PlainResults
    let failure: FetchFailure?
  }

  /// nil: something that takes longer shows its last commit meanwhile.
  private func see() -> Result<[Seen]?, FetchFailure> {
    refresher.attempt { [live] transaction -> [Results?]? in
      let isWaiting = live.contains {
        $0.watched.controller.isBehind && $0.watched.controller.failure == nil
      }
      if isWaiting { return nil }
      return try live.map { try self.fetch($0.test, in: transaction.db) }
    }.map { fetched in
      guard let fetched else { return nil }
      return zip(live, fetched).map { live, fetched in
        Seen(
          fetched: fetched, events: live.watched.takeEvents(),
          shown: PlainResults(live.watched.snapshot.results),
          failure: live.watched.controller.failure)
      }
    }
  }

  /// What the query returns; nil: it cannot be run under the present schema.
  private func fetch(_ test: ForeignWriterQueries.Case, in db: Database) throws -> Results? {
    guard let query = try? refresher.catalog[test.definition.name]?.analysis.get()
    else { return nil }
    return try? query.fetch(
      comparingWith: .empty(query.layout), arguments: test.arguments, in: db
    ).results
  }

  private func compare(_ index: Int, _ seen: Seen) throws {
    let test = live[index].test
    for event in seen.events {
      switch event {
      case .changed(let changes, _, _):
        changeSets += 1
        shown[index] = try shown[index].applying(changes)
      case .reset(let snapshot): shown[index] = PlainResults(snapshot.results)
      case .failed, .recovered, .counted, .delayed, .fetching, .landed: break
      }
    }
    guard let fetched = seen.fetched else {
      if seen.failure == nil { throw difference(test, "it cannot be run, but has not failed") }
      return
    }
    comparisons += 1
    if let failure = seen.failure {
      throw difference(test, "it can be run, but has failed: \(failure)")
    }
    for (name, sections) in [("snapshot", seen.shown.shown), ("client", shown[index].shown)] {
      guard sections == fetched.shown else {
        throw difference(
          test, "the \(name) shows\n\(sections)\ninstead of\n\(fetched.shown)")
      }
    }
  }

  private func difference(_ test: ForeignWriterQueries.Case, _ what: String) -> Difference {
    Difference(
      description: """
        \(title), seed \(RandomSource.seed), \(test.definition.name) \(test.arguments): \
        \(what.replacing("\0", with: "␀"))
        """)
  }
}

/// A reader that keeps the log from being begun anew.
private final class LogHolder {
  private let connection: DatabaseQueue
  private var isHolding = false

  init(_ path: String) throws {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.allowsUnsafeTransactions = true
    connection = try DatabaseQueue(path: path, configuration: configuration)
  }

  func holdOrLetGo() throws {
    try connection.unsafeRead { db in
      if isHolding {
        try db.execute(sql: "COMMIT")
      } else {
        try db.execute(sql: "BEGIN")
        _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM tiny")
      }
    }
    isHolding.toggle()
  }
}
