/// What all connections of a server have in common: one object, so that each holds 8 bytes of it.
final class ConnectionSettings: Sendable {
  let server: ServerSettings
  let deadlines: Deadlines
  let counts: ConnectionCounts

  /// - Parameters:
  ///   - settings: Those of the server.
  ///   - counts: Go on; nil: there is no connection yet.
  init(_ settings: ServerSettings, _ counts: ConnectionCounts? = nil) {
    server = settings
    deadlines = Deadlines(settings.timeouts)
    self.counts =
      counts
      ?? ConnectionCounts(
        limit: settings.maximumConnectionsPerAddress, exempt: settings.trustedProxies)
  }
}

/// What `Timeouts` says, as it is needed with each request.
struct Deadlines: Sendable {
  let head: Interval
  let body: Interval
  let idle: Interval
  let write: Interval
  let linger: Interval
  /// Since the connection began, for its first request to come when the server stops: what was on its way is
  /// answered, since a client that has just come does not know it from a refusal. What was opened ahead
  /// of need is older.
  let arrival = Interval(.milliseconds(500))

  init(_ timeouts: Timeouts) {
    head = Interval(timeouts.head)
    body = Interval(timeouts.body)
    idle = Interval(timeouts.idle)
    write = Interval(timeouts.write)
    linger = Interval(timeouts.linger)
  }
}
