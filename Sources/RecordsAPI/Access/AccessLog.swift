import Foundation
import HTTPServer
import Logging

/// Writes a line for each exchange, on a queue of its own: an event loop must not wait for whoever
/// reads the log.
final class AccessLog: Sendable {
  private let format: AccessLogFormat
  private let logger: Logger
  private let queue: LogQueue

  init(_ format: AccessLogFormat, logger: Logger) {
    self.format = format
    self.logger = logger
    queue = LogQueue(label: "didchange.access-log") {
      logger.warning("\($0) lines were dropped: they came too fast")
    }
  }

  /// From any thread; does not wait for the writing.
  func note(_ exchange: FinishedExchange) {
    let date = Date()
    queue.write { [self] in logger.info("\(format.text(of: exchange, at: date))") }
  }

  /// Returns when what was noted so far is written, or after so many seconds.
  func flush(within seconds: Double) { queue.flush(within: seconds) }
}
