import Dispatch
import Foundation
import HTTPServer
import Logging
import Synchronization

/// Writes a line for each exchange, on a queue of its own: an event loop must not wait for whoever
/// reads the log.
///
/// Bounded: where lines come faster than they are taken, the newest are dropped and counted, and
/// the count is written when there is room again.
final class AccessLog: Sendable {
  /// Exchanges that wait to be written; some 500 bytes each.
  static let capacity = 8192

  private struct State {
    var waiting: [(exchange: FinishedExchange, date: Date)] = []
    var dropped = 0
    var isWriting = false
  }

  private let format: AccessLogFormat
  private let logger: Logger
  private let queue = DispatchQueue(label: "didchange.access-log", qos: .utility)
  private let state = Mutex(State())

  init(_ format: AccessLogFormat, logger: Logger) {
    self.format = format
    self.logger = logger
  }

  /// From any thread; does not wait for the writing.
  func note(_ exchange: FinishedExchange) {
    let mustStart = state.withLock { state in
      guard state.waiting.count < Self.capacity else {
        state.dropped += 1
        return false
      }
      state.waiting.append((exchange, Date()))
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if mustStart { queue.async { [self] in write() } }
  }

  private func write() {
    while true {
      let (lines, dropped) = state.withLock { state in
        defer { (state.waiting, state.dropped) = ([], 0) }
        state.isWriting = !state.waiting.isEmpty
        return (state.waiting, state.dropped)
      }
      if lines.isEmpty { return }
      for (exchange, date) in lines { logger.info("\(format.text(of: exchange, at: date))") }
      if dropped > 0 { logger.warning("\(dropped) lines were dropped: they came too fast") }
    }
  }

  /// Returns when what was noted so far is written, or after the time given.
  func flush(within limit: Duration) {
    let isWritten = DispatchSemaphore(value: 0)
    queue.async { isWritten.signal() }
    _ = isWritten.wait(
      timeout: .now() + .nanoseconds(Int(limit.components.seconds) * 1_000_000_000))
  }
}
