import Locks

/// Whether commits are followed: told on the refresher's queue from time to time, and readable from
/// any thread, above all when that queue is stuck.
struct RefresherPulse: Sendable {
  /// When the queue was last seen to go on.
  var beat: ContinuousClock.Instant
  /// Since when something that takes little is waiting; nil: nothing is.
  var waitingSince: ContinuousClock.Instant?

  /// So long nothing waits in a server that does its work: commits come first, and what is done
  /// before them takes milliseconds.
  static let patience = Duration.seconds(10)

  func isStuck(at now: ContinuousClock.Instant) -> Bool {
    now - min(beat, waitingSince ?? beat) > Self.patience
  }
}

extension Refresher {
  /// Notes that the queue goes on; to be called there about every second.
  package func beat() {
    queue.preconditionInTurn()
    // A commit that was noticed and is not read, or a result that stands in line and is short.
    let waiting = [behindSince, line.behind.first?.behindSince].compactMap { $0 }.min()
    pulse.withLock { $0 = RefresherPulse(beat: .now, waitingSince: waiting) }
  }

  /// Whether a commit was noticed some time ago and is still not brought in where that takes little.
  /// A query that takes long is no reason. From any thread.
  package func isStuck(at now: ContinuousClock.Instant = .now) -> Bool {
    pulse.withLock { $0.isStuck(at: now) }
  }
}
