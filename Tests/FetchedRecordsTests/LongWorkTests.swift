#if os(Linux)
  import Foundation
  import Locks
  import OrderedResults
  import QueryAnalysis
  import Testing

  @testable import FetchedRecords

  @Suite struct `Work beside the queue` {
    private static let counted = QueryDefinition(
      name: "counted",
      form: .sql(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :n)
        SELECT count(*) AS count FROM n
        """),
      parameters: [QueryParameter(name: "n", type: .integer)])

    /// With one reader.
    private func makeFixture() throws -> Fixture {
      var limits = RefresherLimits()
      limits.readers = 1
      return try Fixture(
        schema: "CREATE TABLE t(a)", queries: .definitions([Self.counted]), limits: limits)
    }

    private func precedence(in refresher: Refresher) -> WorkerThread.Precedence? {
      refresher.queue.sync { refresher.readers.first?.precedence }
    }

    /// Whatever else the machine does at present.
    private func leaveOver(_ share: Duration, in refresher: Refresher) {
      let now = ContinuousClock.now + .seconds(3600)
      refresher.queue.sync {
        refresher.idleReading.note(.init(time: now - .seconds(1), unused: .zero))
        refresher.idleReading.note(.init(time: now, unused: share))
        refresher.idleReading.patience = .seconds(1000)
      }
    }

    @Test func `leaves the processor to whoever wakes`() throws {
      let fixture = try makeFixture()
      leaveOver(.seconds(1), in: fixture.refresher)
      for n in 50_000...50_002 {
        let before = fixture.refresher.statistics.background
        _ = try fixture.open("counted", arguments: ["n": .integer(Int64(n))])
        #expect(fixture.refresher.statistics.background > before)
        #expect(precedence(in: fixture.refresher) == .whenIdle)
      }
    }

    /// Nobody knows of a query that it is long before it has run.
    @Test func `lets others go first once it is long, and the next one does not`() throws {
      let fixture = try makeFixture()
      let refresher = fixture.refresher
      leaveOver(.zero, in: refresher)
      let giveUp = refresher.open("counted", arguments: ["n": .integer(.max)]) { _, _ in
      } completion: { _ in
      }
      let deadline = ContinuousClock.now + .seconds(60)
      while precedence(in: refresher) != .behind {
        try #require(ContinuousClock.now < deadline)
        usleep(1000)
      }
      giveUp()
      refresher.settle()
      // On a busy machine one that is short may take as long as what is long.
      for n: Int64 in 50_000..<50_020 where precedence(in: refresher) != .equal {
        let before = refresher.statistics.background
        _ = try fixture.open("counted", arguments: ["n": .integer(n)])
        #expect(refresher.statistics.background > before)
      }
      #expect(precedence(in: refresher) == .equal)
    }

    @Test func `begins anew with its share where others never rest`() throws {
      let fixture = try makeFixture()
      let refresher = fixture.refresher
      leaveOver(.seconds(1), in: refresher)
      // It is taken to have waited from its beginning.
      refresher.queue.sync { refresher.idleReading.patience = .seconds(-1000) }
      let count = try fixture.open("counted", arguments: ["n": .integer(2_000_000)])
      #expect(count.snapshot.results.shown[0].records.map { $0.map(\.text) } == [["2000000"]])
      #expect(refresher.statistics.starved == 1)
      #expect(refresher.statistics.putOff == 0)
      #expect(precedence(in: refresher) != .whenIdle)
    }

    @Test func `has what it will tell made ready there`() throws {
      let fixture = try Fixture(
        schema: """
          CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT);
          INSERT INTO item WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
            WHERE i < 30000) SELECT i, 'a' FROM n
          """, queries: .everyTable())
      let refresher = fixture.refresher
      let seen = Mutex<(ready: [String], told: [String])>(([], []))
      @Sendable func text(_ changes: ChangeSet, _ old: ResultsSnapshot, _ new: ResultsSnapshot)
        -> String
      { "\(changes.count) from \(old.version) to \(new.version) of \(new.commit)" }
      refresher.open(
        "item", arguments: [:],
        prepare: { changes, old, new in
          seen.withLock { seen in
            #expect(seen.told.count == seen.ready.count)
            seen.ready.append(text(changes, old, new))
          }
        },
        onEvent: { event, _ in
          guard case .changed(let changes, let old, let new) = event else { return }
          seen.withLock { $0.told.append(text(changes, old, new)) }
        }, completion: { _ in })
      refresher.settle()
      for run in 1...3 {
        try fixture.write("UPDATE item SET text = 'b\(run)'")
        fixture.refresh()
      }
      let (ready, told) = seen.withLock { $0 }
      #expect(ready.count == 3)
      #expect(ready == told)
    }

    /// Endless until then, by a clock that stands still within a statement.
    private static let untilThen = QueryDefinition(
      name: "untilThen",
      form: .sql(
        """
        WITH RECURSIVE n(i) AS (
          SELECT 1 UNION ALL SELECT i + 1 FROM n, present
          WHERE i < CASE WHEN julianday('now') < until THEN 9e18 ELSE 10 END)
        SELECT count(*) AS count FROM n
        """))

    /// No commit tells that others leave the processor to it again.
    @Test func `that took too long is tried again by itself`() throws {
      var limits = RefresherLimits()
      limits.statement = .milliseconds(100)
      let fixture = try Fixture(
        schema: "CREATE TABLE present(until REAL); INSERT INTO present VALUES (0)",
        queries: .definitions([Self.untilThen]), limits: limits)
      let watched = try fixture.open("untilThen")
      try fixture.write("UPDATE present SET until = julianday('now', '+0.7 seconds')")
      fixture.refresher.refresh()
      var kinds: [FetchFailure.Kind?] = []
      let deadline = ContinuousClock.now + .seconds(120)
      while kinds.last != .some(nil) {
        for event in watched.takeEvents() {
          switch event {
          case .failed(let failure): kinds.append(failure.kind)
          case .recovered, .changed: kinds.append(nil)
          default: break
          }
        }
        try #require(ContinuousClock.now < deadline)
        usleep(1000)
      }
      #expect(kinds == [.tooLong, nil])
    }
  }
#endif
