import HTTP1

/// What all connections of a server have in common: one object, so that each holds 8 bytes of it.
final class ConnectionSettings: Sendable {
  let messageLimits: MessageLimits
  let timeouts: Timeouts
  let maximumPipelinedRequests: Int
  let trustedProxies: [AddressRange]
  let counts: ConnectionCounts
  let observer: ExchangeObserver?

  init(_ configuration: ServerConfiguration) {
    messageLimits = configuration.messageLimits
    timeouts = configuration.timeouts
    maximumPipelinedRequests = configuration.maximumPipelinedRequests
    trustedProxies = configuration.trustedProxies
    counts = ConnectionCounts(
      limit: configuration.maximumConnectionsPerAddress, exempt: configuration.trustedProxies)
    observer = configuration.observer
  }
}
