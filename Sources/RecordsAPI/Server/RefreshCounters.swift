import FetchedRecords
import HTTPServer
import Locks

/// How long queries took to be brought up to date.
final class RefreshCounters: Sendable {
  /// Of one query, in one way.
  struct Total {
    var count = 0
    var duration = Duration.zero

    fileprivate mutating func add(_ duration: Duration) {
      count += 1
      self.duration += duration
    }
  }

  private struct State {
    var durations: [RefreshKind: Histogram] = [:]
    var byQuery: [String: [RefreshKind: Total]] = [:]
  }

  private let state = Mutex(State())

  var statistics: [RefreshKind: Histogram] { state.withLock { $0.durations } }

  /// By the names of queries.
  var byQuery: [String: [RefreshKind: Total]] { state.withLock { $0.byQuery } }

  /// Nobody asks for a query's numbers any more.
  func forget(_ query: String) { state.withLock { $0.byQuery[query] = nil } }

  func note(_ query: String, _ kind: RefreshKind, _ duration: Duration) {
    state.withLock { state in
      state.durations[kind, default: Histogram()].record(duration)
      state.byQuery[query, default: [:]][kind, default: Total()].add(duration)
    }
  }
}
