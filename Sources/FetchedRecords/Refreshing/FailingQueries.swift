import Locks
import QueryAnalysis

/// The queries that cannot be brought up to date, by their names.
///
/// One fails as long as something live of it does. Where nothing is live, since its first fetch
/// fails, anybody can make it fail with one argument and succeed with another: it is among those that
/// fail for a minute after that, so that one bad request calls no operator; and news is first that it
/// succeeds at least a minute after it failed last, so that a log says both once a minute at most.
struct FailingQueries {
  private struct Entry {
    var failure: FetchFailure
    /// What is live of it and fails.
    var results: Set<ObjectIdentifier> = []
    /// When a first fetch failed last; nil: none did.
    var firstFetchFailed: ContinuousClock.Instant?
  }

  private var entries: [String: Entry] = [:]

  private static let pause = Duration.seconds(60)

  /// Why each fails that does so now.
  func all(at now: ContinuousClock.Instant) -> [String: FetchFailure] {
    entries.filter { _, entry in
      !entry.results.isEmpty || entry.firstFetchFailed.map { now - $0 < Self.pause } ?? false
    }.mapValues(\.failure)
  }

  var isEmpty: Bool { entries.isEmpty }

  /// - Parameters:
  ///   - name: of the query.
  ///   - failure: why it failed.
  ///   - result: what is live of it; nil: it was the first fetch.
  ///   - now: the time.
  /// - Returns: whether that is news.
  mutating func note(
    _ name: String, _ failure: FetchFailure, of result: ObjectIdentifier?,
    at now: ContinuousClock.Instant
  ) -> Bool {
    let isNews = entries[name] == nil
    var entry = entries[name] ?? Entry(failure: failure)
    entry.failure = failure
    if let result { entry.results.insert(result) } else { entry.firstFetchFailed = now }
    entries[name] = entry
    return isNews
  }

  /// - Returns: whether the query fails no longer.
  mutating func noteSuccess(
    _ name: String, of result: ObjectIdentifier, at now: ContinuousClock.Instant
  ) -> Bool {
    guard var entry = entries[name] else { return false }
    entry.results.remove(result)
    if let failed = entry.firstFetchFailed, now - failed >= Self.pause {
      entry.firstFetchFailed = nil
    }
    let isOver = entry.results.isEmpty && entry.firstFetchFailed == nil
    entries[name] = isOver ? nil : entry
    return isOver
  }

  /// Nothing more is known of what is let go; returns whether the query fails no longer.
  mutating func noteEnd(_ name: String, of result: ObjectIdentifier) -> Bool {
    guard var entry = entries[name], entry.results.remove(result) != nil else { return false }
    let isOver = entry.results.isEmpty && entry.firstFetchFailed == nil
    entries[name] = isOver ? nil : entry
    return isOver
  }

  /// There is no such query any more.
  mutating func remove(_ name: String) { entries[name] = nil }
}

extension Refresher {
  /// The queries that cannot be brought up to date, and why; readable from any thread.
  package var failingQueries: [String: FetchFailure] { failing.withLock { $0.all(at: .now) } }

  /// Notes a failure that is the query's own: of the database as a whole it is told by itself. A page
  /// that is damaged may be in the way of some queries only.
  func note(_ failure: FetchFailure, ofQuery result: LiveResult) {
    let own: [FetchFailure.Kind] = [
      .query, .sections, .tooLong, .tooLarge, .noMemory, .exploration, .database,
    ]
    let isOwn =
      own.contains(failure.kind)
      || self.failure == nil && failure.kind == .unavailable && failure.cause != nil
    guard isOwn, result.listener is NamedQueryListener else { return }
    if result.isExplored { return log(.explorationFails(result.queryName, failure)) }
    let live = result.opening == nil ? ObjectIdentifier(result) : nil
    let isNews = failing.withLock { $0.note(result.queryName, failure, of: live, at: .now) }
    // What is shown may still be of what the query was before.
    let query = (try? result.bound?.get().query) ?? result.snapshot.query
    if isNews { log(.queryFails(result.queryName, sql: query.sql, failure)) }
  }

  func noteSuccess(ofQuery result: LiveResult) {
    let isOver = failing.withLock { failing in
      !failing.isEmpty
        && failing.noteSuccess(result.queryName, of: ObjectIdentifier(result), at: .now)
    }
    if isOver { log(.queryRecovered(result.queryName)) }
  }

  func noteEnd(ofQuery result: LiveResult) {
    let isOver = failing.withLock { failing in
      !failing.isEmpty && failing.noteEnd(result.queryName, of: ObjectIdentifier(result))
    }
    if isOver { log(.queryRecovered(result.queryName)) }
  }
}
