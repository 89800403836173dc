import Locks

/// What all feeds of a server have told.
final class FeedCounters: Sendable {
  struct Statistics: Sendable, Equatable {
    /// Events written into logs, once each, however many streams show them.
    var events = 0
    /// Change sets among them.
    var changeSets = 0
    /// Streams that were resumed, by how.
    var resumptions: [Resumption: Int] = [:]
  }

  /// How a stream went on that had missed something.
  enum Resumption: String, CaseIterable, Sendable {
    /// With the events of the log.
    case log
    /// With one change set.
    case joined
    case snapshot
  }

  private let state = Mutex(Statistics())

  var statistics: Statistics { state.withLock { $0 } }

  func note(events: Int, changeSets: Int) {
    state.withLock { state in
      state.events += events
      state.changeSets += changeSets
    }
  }

  func note(_ resumption: Resumption) {
    state.withLock { $0.resumptions[resumption, default: 0] += 1 }
  }
}
