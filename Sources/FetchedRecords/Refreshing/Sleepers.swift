/// Somebody who sleeps until there is something to do, such as a loop that shows events to clients.
package protocol Sleeper: Sendable {
  /// Wakes the thread that does it.
  func wake()

  /// Does some of it on the calling thread, which holds nothing that others wait for, and wakes the
  /// other for the rest.
  func serveHere()
}

/// Those for whom the events of one turn of the engine have something to do.
///
/// To wake a thread takes two system calls and a change of threads: a third of what it costs to show
/// one event to one client. The thread that took the turn, and has nothing else to do when it is over,
/// can rather do their work.
package struct Sleepers: Sendable {
  /// Where there are more, they are woken and work beside each other.
  private static let mostServedHere = 4

  private var all: [any Sleeper] = []

  package init() {}

  package var isEmpty: Bool { all.isEmpty }

  package mutating func append(_ sleepers: [some Sleeper]) {
    // Not as one: an array of another type is made by casting each element dynamically.
    for sleeper in sleepers { all.append(sleeper) }
  }

  /// Takes all of them out: they must be woken.
  mutating func take() -> Sleepers {
    defer { all = [] }
    return self
  }

  package func wake() {
    for sleeper in all { sleeper.wake() }
  }

  /// Wakes them, where the rest of the turn takes long.
  package mutating func wakeNow() { take().wake() }

  /// Does the work of a few on the calling thread, which holds nothing: no lock, and no queue.
  package func serveHere() {
    if all.count > Self.mostServedHere { return wake() }
    for sleeper in all { sleeper.serveHere() }
  }
}
