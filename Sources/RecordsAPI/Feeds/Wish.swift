import Locks

/// Something that somebody waits for, and may stop waiting for.
final class Wish: Sendable {
  private enum State {
    case open([@Sendable () -> Void])
    case over
  }

  private let state = Mutex(State.open([]))

  /// Says what has to be done too where nobody waits any more; at once, where that is so already.
  func onAbandon(_ abandon: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      guard case .open(let others) = state else { return true }
      state = .open(others + [abandon])
      return false
    }
    if isOver { abandon() }
  }

  /// Nobody waits any more; from any thread, any number of times.
  func abandon() {
    let bodies = state.withLock { state -> [@Sendable () -> Void] in
      guard case .open(let bodies) = state else { return [] }
      state = .over
      return bodies
    }
    for body in bodies { body() }
  }
}
