import Dispatch
import GRDB
import Locks
import Testing

@testable import FetchedRecords

@Suite struct `A refresher that is stuck` {
  private let fixture: Fixture

  init() throws {
    fixture = try Fixture(
      schema: "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)",
      queries: .everyTable(), journalMode: "delete")
  }

  private var later: ContinuousClock.Instant { .now + .seconds(11) }

  private func beat() { fixture.refresher.queue.sync { fixture.refresher.beat() } }

  private var waitingSince: ContinuousClock.Instant? {
    fixture.refresher.pulse.withLock { $0.waitingSince }
  }

  @Test func `is told by its queue, which does not go on`() throws {
    let refresher = fixture.refresher
    beat()
    #expect(!refresher.isStuck())
    let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    refresher.queue.async {
      began.signal()
      goOn.wait()
    }
    began.wait()
    #expect(!refresher.isStuck())
    #expect(refresher.isStuck(at: later))
    goOn.signal()
  }

  @Test func `is told by a commit that it cannot bring in`() throws {
    let refresher = fixture.refresher
    fixture.refresh()
    beat()
    #expect(waitingSince == nil)
    // It sees that there is something, and cannot read it.
    try fixture.writer.writeWithoutTransaction { db in
      try db.execute(sql: "BEGIN EXCLUSIVE; DELETE FROM t")
      refresher.refresh()
      refresher.queue.sync {}
      beat()
      let since = try #require(waitingSince)
      beat()
      #expect(waitingSince == since)
      try db.execute(sql: "COMMIT")
    }
    fixture.refresh()
    beat()
    #expect(waitingSince == nil)
  }

  @Test func `waits for less than ten seconds in vain`() {
    let now = ContinuousClock.now
    #expect(!RefresherPulse(beat: now, waitingSince: now - .seconds(9)).isStuck(at: now))
    #expect(RefresherPulse(beat: now, waitingSince: now - .seconds(11)).isStuck(at: now))
    #expect(!RefresherPulse(beat: now, waitingSince: nil).isStuck(at: now))
  }
}
