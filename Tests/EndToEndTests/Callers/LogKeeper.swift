import Foundation
import Locks
import Logging

/// Keeps all that a server writes into its log, of any level.
final class LogKeeper: Sendable {
  private let lines = Mutex<[String]>([])

  var text: String { lines.withLock { $0.joined(separator: "\n") } }

  var logger: Logger {
    var logger = Logger(label: "end-to-end") { _ in Handler(keeper: self) }
    logger.logLevel = .trace
    return logger
  }

  private struct Handler: LogHandler {
    let keeper: LogKeeper
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let line = "\(event.message) \(event.metadata ?? [:]) \(metadata)"
      keeper.lines.withLock { $0.append(line) }
    }
  }
}
