package import HTTP1
package import HTTPServer

/// How the server treats its clients; the defaults, and their reasons, are the HTTP server's.
package struct ServiceSettings: Sendable, Equatable {
  package var messageLimits = MessageLimits()
  package var timeouts = Timeouts()
  package var maximumConnections: Int
  package var maximumConnectionsPerAddress: Int
  package var maximumRequestsInFlight: Int
  /// nil: clients may call the server by any name.
  package var hosts: HostNames?
  /// nil: a page of another origin can read nothing.
  package var crossOrigin: CrossOrigin?
  package var trustedProxies: [AddressRange] = []
  /// nil: no access log.
  package var accessLog: AccessLogFormat?

  package init() {
    let standard = ServerConfiguration()
    maximumConnections = standard.maximumConnections
    maximumConnectionsPerAddress = standard.maximumConnectionsPerAddress
    maximumRequestsInFlight = standard.maximumPipelinedRequests
  }

  /// The server's configuration, without where to listen.
  func configuration() -> ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.messageLimits = messageLimits
    configuration.timeouts = timeouts
    configuration.maximumConnections = maximumConnections
    configuration.maximumConnectionsPerAddress = maximumConnectionsPerAddress
    configuration.maximumPipelinedRequests = maximumRequestsInFlight
    configuration.trustedProxies = trustedProxies
    return configuration
  }
}
