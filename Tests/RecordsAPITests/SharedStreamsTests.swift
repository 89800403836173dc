import FetchedRecords
import HTTPServer
import HTTPTypes
import Locks
import Testing

@testable import RecordsAPI

@Suite struct `Streams that caches share` {
  private func sharing(every period: Duration, at time: Double) -> StreamSharing {
    SharedStreams(period: period, now: { time }).next
  }

  private func lifetime(every period: Duration, at time: Double) -> Duration {
    sharing(every: period, at: time).lifetime
  }

  @Test func `end at multiples of the time`() {
    #expect(lifetime(every: .seconds(60), at: 1_800_000_001) == .seconds(59))
    #expect(lifetime(every: .seconds(60), at: 1_800_000_000) == .seconds(60))
    #expect(lifetime(every: .milliseconds(3500), at: 7) == .milliseconds(3500))
    #expect(lifetime(every: .milliseconds(3500), at: 8) == .milliseconds(2500))
  }

  @Test func `go on to the time after that where little is left`() {
    #expect(lifetime(every: .seconds(60), at: 58) == .seconds(2))
    #expect(lifetime(every: .seconds(60), at: 58.001) == .milliseconds(61_999))
    #expect(lifetime(every: .seconds(60), at: 59.999) == .milliseconds(60_001))
    #expect(lifetime(every: .seconds(3), at: 1.5) == .milliseconds(4500))
  }

  /// In each millisecond of some periods.
  @Test(arguments: [3000, 3001, 3999, 5000, 60_000])
  func `outlive their freshness by a second at least, and are fresh`(period: Int) {
    for milliseconds in stride(from: 0, to: 2 * period, by: 1) {
      let sharing = sharing(
        every: .milliseconds(period), at: 1_800_000_000 + Double(milliseconds) / 1000)
      #expect(sharing.maximumAge >= 1)
      #expect(.seconds(sharing.maximumAge + 1) <= sharing.lifetime)
      #expect(sharing.lifetime <= .milliseconds(period + 2000))
    }
  }

  @Test func `say so to caches`() {
    let fields = sharing(every: .seconds(60), at: 1.5).amending([:])
    #expect(fields[.cacheControl] == "public, max-age=57, no-transform")
    #expect(fields[.vary] == "Accept, Origin, Last-Event-ID")
  }

  @Test func `end with the state that was shown last, under the number of their end`() throws {
    let fixture = try FeedFixture(
      "CREATE TABLE t (a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
    let log = fixture.feed.log
    let time = Mutex(1_800_000_010.0)
    let sharing = SharedStreams(period: .seconds(60), now: { time.withLock { $0 } }).next
    let term = sharing.term(of: log)
    #expect(term.lifetime == .seconds(50))
    let (before, position) = (fixture.feed.head.snapshot.version, log.broadcast.end)
    let number = 1_800_000_060_000
    func end(_ ending: StreamTerm.Ending = .due) -> String {
      String(decoding: term.end(position, ending), as: UTF8.self)
    }
    #expect(end() == "id: \(before.state).\(number)\n\n")
    // What came since was not shown to the stream.
    try fixture.commit("INSERT INTO t VALUES (2)")
    #expect(end() == "id: \(before.state).\(number)\n\n")
    let after = fixture.feed.head.snapshot.version
    #expect(after.state != before.state)
    #expect(
      String(decoding: term.end(log.broadcast.end, .due), as: UTF8.self)
        == "id: \(after.state).\(number)\n\n")
    // Drained streams end with another number, whenever that is: a cache may have them still.
    time.withLock { $0 = 1_800_000_020.7 }
    #expect(end(.early) == "id: \(before.state).1800000020001\n\n")
    time.withLock { $0 = 1_800_000_060 }
    #expect(end(.early) == "id: \(before.state).1800000060001\n\n")
    // The versions of change sets are counted from the time in seconds.
    #expect(after.number < 1_800_000_000_000 && after.number > 1_700_000_000)
  }
}
