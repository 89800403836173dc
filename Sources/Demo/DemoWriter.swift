import Dispatch
import GRDB
import Locks
import Logging

/// Plays the season at a human pace.
final class DemoWriter: Sendable {
  /// Milliseconds between two transactions: two a second on average, as fast as eyes can follow.
  private static let pace = 150...850
  /// Milliseconds after a transaction that failed: a visitor may have taken a table away for good.
  private static let pause = 5000

  private let connection: DatabaseQueue
  private let queue = DispatchQueue(label: "demo writer", qos: .utility)
  private let state: Mutex<State>

  private struct State {
    var season: DemoSeason
    var isRunning = false
    var failures = 0
  }

  init(queue connection: DatabaseQueue, season: DemoSeason) {
    self.connection = connection
    state = Mutex(State(season: season))
  }

  deinit {
    assert(!state.withLock(\.isRunning), "a demo writer was dropped while it was writing")
  }

  func start(logger: Logger) {
    state.withLock { $0.isRunning = true }
    schedule(after: Self.pace.upperBound, logger)
  }

  /// Waits until nothing more will be written, and closes the connection.
  func stop() {
    state.withLock { $0.isRunning = false }
    queue.sync { try? connection.close() }
  }

  private func schedule(after milliseconds: Int, _ logger: Logger) {
    queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
      self?.write(logger)
    }
  }

  private func write(_ logger: Logger) {
    let next: Int? = state.withLock { state in
      guard state.isRunning else { return nil }
      do {
        try connection.write { database in try state.season.step(database) }
        state.failures = 0
        return state.season.pick(Self.pace)
      } catch {
        state.failures += 1
        if state.failures == 1 { logger.warning("the demo cannot go on for now: \(error)") }
        return Self.pause
      }
    }
    if let next { schedule(after: next, logger) }
  }
}
