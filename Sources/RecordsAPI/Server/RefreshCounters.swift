import FetchedRecords
import HTTPServer
import Synchronization

/// How long queries took to be brought up to date.
final class RefreshCounters: Sendable {
  private let durations = Mutex<[RefreshKind: Histogram]>([:])

  var statistics: [RefreshKind: Histogram] { durations.withLock { $0 } }

  func note(_ kind: RefreshKind, _ duration: Duration) {
    durations.withLock { $0[kind, default: Histogram()].record(duration) }
  }
}
