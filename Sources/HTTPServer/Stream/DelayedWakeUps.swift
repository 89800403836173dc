/// Event loops that one thread was to wake for new bytes, and rather serves itself.
///
/// To wake a loop's thread takes two system calls and a change of threads: a third of what it costs
/// to show one event to one client. A thread that made the event and has nothing else to do can run
/// the loop's queue instead, as long as nothing is on it.
// Unchecked: one thread makes it, fills it and empties it.
package final class DelayedWakeUps: @unchecked Sendable {
  /// The collection of the thread that runs, if it makes one.
  @TaskLocal static var current: DelayedWakeUps?

  /// More loops than this are woken, so that each serves its streams beside the others.
  private static let mostServedHere = 4

  private var fanOuts: [FanOut] = []

  private init() {}

  /// Runs `body`, and then shows the first streams what it appended to their broadcasts.
  ///
  /// The thread waits for loops that are busy, so it may hold nothing that a loop might wait for:
  /// no lock, and no queue. Where there are many streams only a few are served here.
  package static func serving(_ body: () -> Void) {
    let wakeUps = DelayedWakeUps()
    $current.withValue(wakeUps, operation: body)
    if wakeUps.fanOuts.count > mostServedHere { return wakeUps.wake() }
    for fanOut in wakeUps.fanOuts { fanOut.serveHere() }
  }

  /// Wakes the loops now, inside of ``serving(_:)``: what comes next takes long.
  package static func flush() { current?.wake() }

  func add(_ fanOut: FanOut) { fanOuts.append(fanOut) }

  private func wake() {
    for fanOut in fanOuts { fanOut.wakeLoop() }
    fanOuts = []
  }
}
