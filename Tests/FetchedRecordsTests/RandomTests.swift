import ChangeCapture
import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// Random transactions by one connection, watched through a refresher on another, and held against
/// plain SELECTs on the first.
///
/// `DIDCHANGE_STEPS` is the number of transactions, `DIDCHANGE_SEED` replays a run.
@Suite struct `Random transactions` {
  static let steps = RandomSource.number("DIDCHANGE_STEPS") ?? 400
  static let seed = RandomSource.seed

  @Test(arguments: ["wal", "delete"], RandomRun.Source.allCases)
  func `every change set turns the old result into what a plain SELECT returns`(
    journalMode: String, source: RandomRun.Source
  ) throws {
    var run = try RandomRun(seed: Self.seed, journalMode: journalMode, source: source)
    print("random transactions (\(journalMode)): DIDCHANGE_SEED=\(Self.seed), \(Self.steps) steps")
    for step in 0..<Self.steps / 6 { try run.step(step) }
    #expect(run.changeSets > 0)
    #expect((run.statistics.maintained > run.statistics.refetches) == (source != .commits))
  }

  @Test(arguments: ["UTF-16le", "UTF-16be"])
  func `so it is where text is held in UTF-16`(encoding: String) throws {
    var run = try RandomRun(
      seed: Self.seed, journalMode: "wal", source: .capture, encoding: encoding)
    for step in 0..<Self.steps / 6 { try run.step(step) }
    #expect(run.changeSets > 0)
    #expect(run.statistics.maintained > run.statistics.refetches)
  }
}

/// One run: a database, its queries, and what each was last known to show.
struct RandomRun {
  /// Where the refresher learns of changes.
  enum Source: CaseIterable {
    /// Only that something was committed: everything is refetched.
    case commits
    /// From a comparison of whole tables.
    case comparison
    /// From the pages that were written.
    case capture
  }

  private let fixture: Fixture
  private let watched: [(test: RandomWorld.Case, watched: Watched)]
  private var shown: [PlainResults]
  private var random: RandomSource
  private let seed: UInt64
  private var history: [String] = []
  private(set) var changeSets = 0

  var statistics: RefreshStatistics { fixture.refresher.statistics }

  init(
    seed: UInt64, journalMode: String, source: Source, encoding: String = "UTF-8"
  ) throws {
    self.seed = seed
    random = RandomSource(seed: seed)
    let fixture = try Fixture(
      schema: "PRAGMA encoding = '\(encoding)';" + RandomWorld.schema,
      queries: .definitions(RandomWorld.cases.map(\.definition)),
      journalMode: journalMode,
      makeFinder: {
        switch source {
        case .commits: CommitFinder()
        case .comparison:
          TableComparingFinder(
            rowIDTables: ["author", "book", "loose", "audit", "shelf", "room"],
            otherTables: ["pair"])
        case .capture:
          // Of every other run nothing is read but what is written, and behind what waits.
          ChangeReader(settings: .init(pagesAtOnce: seed.isMultiple(of: 2) ? 0 : 512))
        }
      })
    self.fixture = fixture
    watched = try RandomWorld.cases.map { test in
      (test, try fixture.open(test.definition.name, arguments: test.arguments))
    }
    shown = watched.map { PlainResults($0.watched.snapshot.results) }
    for (test, watched) in watched {
      let tracking = watched.snapshot.query.tracking
      let expected = encoding == "UTF-8" ? test.tracking : test.trackingOfUTF16 ?? test.tracking
      #expect(tracking.mode == expected, "\(test.definition.name): \(tracking.reason)")
    }
  }

  mutating func step(_ step: Int) throws {
    try writeTransaction()
    fixture.refresh()
    try fixture.examine { db in
      for index in watched.indices { try check(index, step: step, in: db) }
    }
  }

  private mutating func writeTransaction() throws {
    let (sql, isRolledBack) = RandomWorld.transaction(using: &random)
    history.append(
      (["BEGIN"] + sql + [isRolledBack ? "ROLLBACK" : "COMMIT"]).joined(separator: "; "))
    if history.count > 20 { history.removeFirst() }
    try fixture.writer.writeWithoutTransaction { db in
      try db.inTransaction {
        for statement in sql { try db.execute(sql: statement) }
        return isRolledBack ? .rollback : .commit
      }
    }
  }

  private mutating func check(_ index: Int, step: Int, in db: Database) throws {
    let (test, watched) = watched[index]
    let old = shown[index]
    let events = watched.takeEvents()
    for event in events {
      guard case .changed(let changes, let from, let to) = event else {
        throw failure("the event \(event)", test, step)
      }
      changeSets += 1
      #expect(!changes.isEmpty)
      #expect(from.version.number + 1 == to.version.number)
      try checkNamedOnce(changes, test, step)
      shown[index] = try shown[index].applying(changes)
      if shown[index].shown != to.results.shown {
        throw failure("applying \(changes) does not give \(to.results.shown)", test, step)
      }
    }
    let expected = try test.plainSelect(in: db)
    if shown[index].shown != expected {
      throw failure(
        "shown:    \(shown[index].shown)\nexpected: \(expected)", test, step)
    }
    // A record may be replaced by another that looks the same.
    if old.shown == expected, old.keys == shown[index].keys, !events.isEmpty {
      throw failure("\(events.count) events though nothing changed", test, step)
    }
  }

  private func checkNamedOnce(
    _ changes: ChangeSet, _ test: RandomWorld.Case, _ step: Int
  ) throws {
    var old: Set<IndexPath> = []
    var new: Set<IndexPath> = []
    for change in changes.recordChanges {
      if let path = change.oldIndexPath, !old.insert(path).inserted {
        throw failure("\(path) is named twice among the old", test, step)
      }
      if let path = change.newIndexPath, !new.insert(path).inserted {
        throw failure("\(path) is named twice among the new", test, step)
      }
    }
  }

  private func failure(_ what: String, _ test: RandomWorld.Case, _ step: Int) -> RandomFailure {
    // Values have NUL in them, at which the output of a test would end.
    let what = what.replacing("\0", with: "␀")
    return RandomFailure(
      description: """
        \(test.definition.name), step \(step): \(what)
        replay: DIDCHANGE_SEED=\(seed) DIDCHANGE_STEPS=\((step + 1) * 6) \
        swift test --filter RandomTests
        the last transactions:
        \(history.joined(separator: "\n"))
        """)
  }
}

private struct RandomFailure: Error, CustomStringConvertible {
  let description: String
}

extension RecordChange {
  fileprivate var oldIndexPath: IndexPath? {
    switch self {
    case .insertion: nil
    case .deletion(let path, _): path
    case .move(let from, _, _, _), .update(let from, _, _, _): from
    }
  }

  fileprivate var newIndexPath: IndexPath? {
    switch self {
    case .insertion(let path, _): path
    case .deletion: nil
    case .move(_, let to, _, _), .update(_, let to, _, _): to
    }
  }
}
