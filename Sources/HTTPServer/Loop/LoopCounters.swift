import Locks

/// What the server has done, for its metrics.
package struct ServerStatistics: Sendable, Equatable {
  /// Connections accepted since the start.
  package var connectionsAccepted = 0

  /// Connections open now.
  package var connectionsOpen = 0

  /// Connections turned away, because their address had too many.
  package var connectionsRefused = 0

  /// Responses begun, and how long they had been asked for then.
  package var answers: [Answer: Histogram] = [:]

  /// What answers are counted by.
  package struct Answer: Sendable, Hashable {
    /// Nil where a request did not get to a handler.
    package var route: Route?
    package var status: Int
  }

  /// Bytes read from sockets.
  package var bytesReceived = 0

  /// Bytes that sockets took.
  package var bytesSent = 0

  /// Streams begun since the start.
  package var streamsBegun = 0

  /// Streams open now.
  package var streamsOpen = 0

  /// How often a stream's reader was so slow that it was skipped forward.
  package var slowReadersSkipped = 0

  /// Deadlines that passed: of slow heads, bodies and readers, and of idle connections.
  package var timeouts = 0

  /// Idle connections that were closed to make room for others.
  package var idleClosed = 0

  /// Times that accepting paused because there were no descriptors.
  package var acceptPauses = 0
}

extension ServerStatistics {
  mutating func add(_ other: ServerStatistics) {
    for count in Self.counts { self[keyPath: count] += other[keyPath: count] }
    answers.merge(other.answers, uniquingKeysWith: +)
  }

  private static let counts: [any WritableKeyPath<ServerStatistics, Int> & Sendable] = [
    \.connectionsAccepted, \.connectionsOpen, \.connectionsRefused, \.bytesReceived, \.bytesSent,
    \.streamsBegun, \.streamsOpen, \.slowReadersSkipped, \.timeouts, \.idleClosed, \.acceptPauses,
  ]
}

/// One loop's part of the counters.
///
/// Only this loop writes, so its lock is never fought for (some 20 ns, beside a system call each
/// time).
final class LoopCounters: Sendable {
  private let counters = Mutex(ServerStatistics())

  func update(_ body: (inout ServerStatistics) -> Void) {
    counters.withLock { body(&$0) }
  }

  var current: ServerStatistics { counters.withLock { $0 } }
}
