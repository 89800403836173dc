import Logging

/// Writes messages as they are, one a line, to standard error: an access log has its own form.
struct BareLogHandler: LogHandler {
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { StandardError.write("\(event.message)\n") }
}
