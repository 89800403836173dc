import HTTP1

/// What all connections of a server have in common: one object, so that each holds 8 bytes of it.
final class ConnectionSettings: Sendable {
  let messageLimits: MessageLimits
  let deadlines: Deadlines
  /// How late a deadline may be.
  let lateness: Duration
  let maximumPipelinedRequests: Int
  let trustedProxies: [AddressRange]
  let counts: ConnectionCounts
  let observer: ExchangeObserver?

  init(_ settings: ServerSettings) {
    messageLimits = settings.messageLimits
    deadlines = Deadlines(settings.timeouts)
    lateness = settings.timeouts.lateness
    maximumPipelinedRequests = settings.maximumPipelinedRequests
    trustedProxies = settings.trustedProxies
    counts = ConnectionCounts(
      limit: settings.maximumConnectionsPerAddress, exempt: settings.trustedProxies)
    observer = settings.observer
  }
}

/// What `Timeouts` says, as it is needed with each request.
struct Deadlines: Sendable {
  let head: Interval
  let body: Interval
  let idle: Interval
  let write: Interval
  let linger: Interval

  init(_ timeouts: Timeouts) {
    head = Interval(timeouts.head)
    body = Interval(timeouts.body)
    idle = Interval(timeouts.idle)
    write = Interval(timeouts.write)
    linger = Interval(timeouts.linger)
  }
}
