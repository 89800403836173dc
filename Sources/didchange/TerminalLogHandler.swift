import Logging
import RecordsAPI

/// Writes messages as another handler does, one line each: names of tables and words of clients are
/// no commands to the terminal, and begin no line of the log.
struct TerminalLogHandler: LogHandler {
  static let queue = LogQueue(label: "didchange.log") {
    StandardError.write("\($0) lines of the log were lost: nobody took them\n")
  }

  private var inner: StreamLogHandler

  init(_ inner: StreamLogHandler) { self.inner = inner }

  var logLevel: Logger.Level {
    get { inner.logLevel }
    set { inner.logLevel = newValue }
  }

  var metadata: Logger.Metadata {
    get { inner.metadata }
    set { inner.metadata = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { inner[metadataKey: key] }
    set { inner[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) {
    var event = event
    event.message = "\(event.message.description.showingControls())"
    event.metadata = event.metadata?.mapValues { "\($0.description.showingControls())" }
    Self.queue.write { [inner, event] in inner.log(event: event) }
  }
}
