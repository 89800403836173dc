import Foundation
import JSON
import Logging
import RecordsAPI

/// Writes messages as JSON, an object a line, to standard error.
struct JSONLogHandler: LogHandler {
  let label: String
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let date = Date()
    let (message, level, more) = (event.message.description, event.level, event.metadata)
    TerminalLogHandler.queue.write { [self] in
      StandardError.write(line(message, level, more ?? [:], at: date) + "\n")
    }
  }

  private func line(
    _ message: String, _ level: Logger.Level, _ more: Logger.Metadata, at date: Date
  ) -> String {
    var json = JSONWriter()
    json.object { json in
      json.member("time", date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
      json.member("level", level.rawValue)
      json.member("logger", label)
      json.member("message", message)
      for (name, value) in metadata.merging(more, uniquingKeysWith: { $1 })
        .sorted(by: { $0.key < $1.key })
      {
        json.name(name)
        json.string(value.description)
      }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
