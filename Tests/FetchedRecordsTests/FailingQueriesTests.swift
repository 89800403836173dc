import Testing

@testable import FetchedRecords

/// Queries that fail, and what is told of them, some seconds after a start.
private final class Observer {
  private var failing = FailingQueries()
  private let start = ContinuousClock.now
  let failure = FetchFailure(kind: .database, detail: "integer overflow")

  /// - Returns: whether it is news.
  func fail(live: Bool, at second: Int) -> Bool {
    failing.note("sums", failure, of: live ? ObjectIdentifier(self) : nil, at: time(second))
  }

  /// - Returns: whether it is news.
  func succeed(at second: Int) -> Bool {
    failing.noteSuccess("sums", of: ObjectIdentifier(self), at: time(second))
  }

  func all(at second: Int) -> [String: FetchFailure] { failing.all(at: time(second)) }

  private func time(_ second: Int) -> ContinuousClock.Instant { start + .seconds(second) }
}

@Suite struct `Queries that fail` {
  private let observer = Observer()

  @Test func `are those of which something live does`() {
    #expect(observer.fail(live: true, at: 0))
    #expect(observer.all(at: 3600) == ["sums": observer.failure])
    #expect(observer.succeed(at: 3600))
    #expect(observer.all(at: 3600).isEmpty)
  }

  @Test func `are so for a minute where only a first fetch does`() {
    #expect(observer.fail(live: false, at: 0))
    #expect(observer.all(at: 59) == ["sums": observer.failure])
    #expect(observer.all(at: 60).isEmpty)
    // No news: of the same failures a log tells once.
    #expect(!observer.fail(live: false, at: 90))
    #expect(observer.all(at: 91) == ["sums": observer.failure])
    #expect(!observer.succeed(at: 149))
    #expect(observer.succeed(at: 150))
    #expect(observer.fail(live: false, at: 151))
  }
}
