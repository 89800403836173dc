package import HTTPServer

/// How the server treats its clients.
package struct ServiceSettings: Sendable {
  /// What the HTTP server is made with; the defaults, and their reasons, are its own.
  package var server = ServerSettings()
  /// nil: clients may call the server by any name.
  package var hosts: HostNames?
  /// nil: a page of another origin can read nothing.
  package var crossOrigin: CrossOrigin?
  /// nil: no access log.
  package var accessLog: AccessLogFormat?

  package init() {}

  /// Connections in all.
  package var maximumConnections: Int { server.maximumConnections }
}
