import Foundation
import HTTPServer
import Locks
import Logging

/// Writes a line for each exchange, on a queue of its own: an event loop must not wait for whoever
/// reads the log.
final class AccessLog: Sendable {
  /// nil: nothing is written for now.
  private let format: Mutex<AccessLogFormat?>
  private let logger: Logger
  private let queue: LogQueue

  init(_ format: AccessLogFormat, logger: Logger) {
    self.format = Mutex(format)
    self.logger = logger
    queue = LogQueue(label: "didchange.access-log") {
      logger.warning("\($0) lines were dropped: they came too fast")
    }
  }

  /// What is noted from now on is written in another form, or not at all.
  func use(_ format: AccessLogFormat?) { self.format.withLock { $0 = format } }

  /// From any thread; does not wait for the writing.
  func note(_ exchange: FinishedExchange) {
    guard let format = format.withLock(\.self) else { return }
    if exchange.phase == .begin, !format.tellsBeginnings { return }
    let date = Date()
    queue.write { [logger] in logger.info("\(format.text(of: exchange, at: date))") }
  }

  /// Returns when what was noted so far is written, or after so many seconds.
  func flush(within seconds: Double) { queue.flush(within: seconds) }
}
