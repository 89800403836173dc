/// How much a line of the log matters.
package enum LogLevel: Sendable {
  case debug, info, warning, error
}

/// Receives the server's log; called on any queue.
package typealias LogHandler = @Sendable (LogLevel, String) -> Void
