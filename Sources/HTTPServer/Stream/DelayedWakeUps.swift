import Synchronization

/// Fan-outs that one thread was to wake for new bytes, and rather serves itself.
///
/// To wake a loop's thread takes two system calls and a change of threads: a third of what it costs
/// to show one event to one client. A thread that made the event and has nothing else to do can run
/// the loop's queue instead, where the loop is idle.
package final class DelayedWakeUps: Sendable {
  /// The collection of the thread that runs, if it makes one.
  @TaskLocal static var current: DelayedWakeUps?

  /// Where there are more, their loops are woken and serve them beside each other.
  private static let mostServedHere = 4

  /// nil: it is over, and whoever comes late wakes the loop.
  private let fanOuts = Mutex<[FanOut]?>([])

  private init() {}

  /// Runs `body`, and then shows the first streams what it appended to their broadcasts.
  ///
  /// Where there are many streams only a few are served here, and whatever a stream needs beside the
  /// log is left to its loop. Should a loop become busy just then the thread waits for its turn to
  /// end, so it may hold nothing that a loop might wait for: no lock, and no queue.
  package static func serving(_ body: () -> Void) {
    let wakeUps = DelayedWakeUps()
    $current.withValue(wakeUps, operation: body)
    let fanOuts = wakeUps.take()
    for fanOut in fanOuts {
      if fanOuts.count > mostServedHere { fanOut.wakeLoop() } else { fanOut.serveHere() }
    }
  }

  func add(_ fanOut: FanOut) {
    let isOver = fanOuts.withLock { fanOuts in
      fanOuts?.append(fanOut)
      return fanOuts == nil
    }
    if isOver { fanOut.wakeLoop() }
  }

  private func take() -> [FanOut] {
    fanOuts.withLock { fanOuts in
      defer { fanOuts = nil }
      return fanOuts ?? []
    }
  }
}
