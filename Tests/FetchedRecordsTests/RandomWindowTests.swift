import GRDB
import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

import ChangeCapture
@testable import FetchedRecords

/// Windows that are live by themselves, held against `SELECT … LIMIT … OFFSET` after random
/// transactions.
///
/// A step reads 36 windows, and the whole of some: `DIDCHANGE_STEPS` is twenty times their number,
/// `DIDCHANGE_SEED` replays a run.
@Suite struct `Random windows` {
  static let steps = RandomSource.number("DIDCHANGE_STEPS").map { $0 / 20 } ?? 60
  static let seed = RandomSource.seed

  enum Source: CaseIterable {
    /// SQL tells where rows are.
    case sql
    /// The same, and sometimes it does not know.
    case doubts
    /// The pages tell.
    case pages
  }

  @Test(arguments: Source.allCases)
  func `show what a plain SELECT returns`(source: Source) throws {
    var run = try RandomWindowRun(seed: Self.seed, source)
    print("random windows (\(source)): DIDCHANGE_SEED=\(Self.seed), \(Self.steps) steps")
    for step in 0..<Self.steps { try run.step(step) }
    let statistics = run.statistics
    let (reported, rows) = (run.rowsReported, run.rows)
    print(
      """
        \(statistics.maintained) by their places, \(statistics.refetches) not; \
      on the pages that were written \(reported) of \(rows) rows
      """)
    switch source {
    // Some of the windows have no index now and then.
    case .sql: #expect(statistics.maintained > statistics.refetches)
    case .doubts: #expect(statistics.refetches > 0)
    case .pages:
      #expect(statistics.maintained > statistics.refetches)
      #expect(reported > 0 && reported < rows / 2)
    }
    #expect(statistics.failures == 0)
  }
}

struct RandomWindowRun {
  private static let orders = [
    "byID": "id", "byName": "name, id", "byNameDown": "name DESC, id DESC",
    "byRank": "rank DESC, id", "byCase": "name COLLATE NOCASE, id",
    "byCode": "code DESC",
  ]
  private static let windows = [0..<1, 0..<5, 3..<20, 40..<140, 100..<101, 500..<600]

  private struct Case {
    let name: String
    let order: String
    let window: Range<Int>
    let watched: Watched
    var shown: PlainResults
  }

  private let fixture: Fixture
  private var cases: [Case] = []
  private var random: RandomSource
  private let seed: UInt64
  private var history: [String] = []
  private var nextCode = 1000
  private var hasIndex = true
  /// Those that there were at each step.
  private(set) var rows = 0

  var statistics: RefreshStatistics { fixture.refresher.statistics }
  /// Rows that were told apart from others of their table.
  var rowsReported: Int { fixture.refresher.capture.rowsReported }

  init(seed: UInt64, _ source: `Random windows`.Source) throws {
    self.seed = seed
    random = RandomSource(seed: seed)
    let queries = Self.orders.map { name, order in
      QueryDefinition(name: name, form: .sql("SELECT * FROM item ORDER BY \(order)"))
    }
    fixture = try Fixture(
      schema: """
        CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, rank, code TEXT NOT NULL, pad TEXT);
        CREATE INDEX byName ON item(name);
        CREATE INDEX byRank ON item(rank DESC);
        CREATE INDEX byCase ON item(name COLLATE NOCASE);
        CREATE UNIQUE INDEX byCode ON item(code);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO item SELECT i, 'N' || (i * 7 % 50), i % 13, 'c' || i, NULL FROM n;
        """, queries: .definitions(queries), pageSize: 512,
      makeFinder: {
        switch source {
        case .sql: OutliningFinder()
        case .doubts: OutliningFinder(doubtingMultiplesOf: 3)
        case .pages: ChangeReader()
        }
      })
    for (name, order) in Self.orders.sorted(by: { $0.key < $1.key }) {
      for window in Self.windows {
        let watched = try fixture.open(name, window: window)
        #expect(watched.snapshot.query.outline != nil, "\(name)")
        cases.append(
          Case(
            name: name, order: order, window: window, watched: watched,
            shown: PlainResults(watched.snapshot.results)))
      }
    }
  }

  mutating func step(_ step: Int) throws {
    let sql = change(step)
    history.append(sql)
    if history.count > 10 { history.removeFirst() }
    if sql == "VACUUM" {
      try fixture.writer.vacuum()
    } else {
      try fixture.write(sql)
    }
    fixture.refresh()
    try fixture.examine { db in
      rows += try Int.fetchOne(db, sql: "SELECT count(*) FROM item") ?? 0
      for index in cases.indices { try check(index, step, in: db) }
    }
  }

  private mutating func change(_ step: Int) -> String {
    if random.once(in: 60) { return "VACUUM" }
    if random.once(in: 60) {
      hasIndex.toggle()
      return hasIndex ? "CREATE INDEX byName ON item(name)" : "DROP INDEX byName"
    }
    return (0..<random.number(1...4)).map { _ in statement() }.joined(separator: "; ")
  }

  private mutating func statement() -> String {
    let id = random.number(1...800)
    nextCode += 1
    let name = "'\(random.pick(["N", "n", "M", ""]))\(random.number(0...60))'"
    let pad = random.once(in: 3) ? "printf('%.*c', \(random.number(1...9000)), 'x')" : "NULL"
    switch random.number(0...9) {
    case 0...3:
      let rank = random.pick(["NULL", "\(random.number(0...20))", "1.5", "'a'"])
      return "REPLACE INTO item VALUES (\(id), \(name), \(rank), 'd\(nextCode)', \(pad))"
    case 4, 5: return "DELETE FROM item WHERE id = \(id)"
    case 6: return "UPDATE item SET name = \(name) WHERE id = \(id)"
    case 7: return "UPDATE item SET pad = \(pad) WHERE id BETWEEN \(id) AND \(id + 5)"
    case 8: return "UPDATE item SET rank = \(id % 17) WHERE id % 40 = \(id % 40)"
    default:
      return random.once(in: 10)
        ? "DELETE FROM item WHERE id % 5 = \(id % 5)"
        : """
        INSERT OR IGNORE INTO item SELECT id + 800 + \(id), name || 'x', rank, code || 'e\(nextCode)',
          \(pad) FROM item WHERE id BETWEEN \(id) AND \(id + 20)
        """
    }
  }

  private mutating func check(_ index: Int, _ step: Int, in db: Database) throws {
    let test = cases[index]
    for event in test.watched.takeEvents() {
      switch event {
      case .changed(let changes, _, let to):
        cases[index].shown = try cases[index].shown.applying(changes)
        guard cases[index].shown.shown == to.results.shown else {
          throw failure("applying \(changes) does not give \(to.results.shown)", test, step)
        }
      case .counted, .recovered: break
      default: throw failure("the event \(event)", test, step)
      }
    }
    let statement = try db.makeStatement(
      sql: """
        SELECT * FROM item ORDER BY \(test.order)
        LIMIT \(test.window.count) OFFSET \(test.window.lowerBound)
        """)
    let layout = test.watched.snapshot.results.layout
    var expected: [[Value]] = []
    try statement.forEachRow(of: layout, in: db) { row in
      let record = row.makeRecord()
      expected.append((0..<layout.columns.count).map { record.value($0) })
    }
    let shown = cases[index].shown.shown.flatMap(\.records)
    if shown != expected {
      throw failure("shown:    \(shown)\nexpected: \(expected)", test, step)
    }
    let total = try Int.fetchOne(db, sql: "SELECT count(*) FROM item")
    if test.watched.snapshot.total != total {
      throw failure("\(test.watched.snapshot.total ?? -1) of \(total ?? -1) records", test, step)
    }
  }

  private func failure(_ what: String, _ test: Case, _ step: Int) -> RandomFailure {
    RandomFailure(
      description: """
        \(test.name) \(test.window), step \(step): \(what)
        replay: DIDCHANGE_SEED=\(seed) DIDCHANGE_STEPS=\((step + 1) * 20) \
        swift test --filter 'Random windows'
        the last transactions:
        \(history.joined(separator: "\n"))
        """)
  }
}

private struct RandomFailure: Error, CustomStringConvertible {
  let description: String
}
