import FetchedRecords
import HTTPServer
import Locks
import Logging

/// What a server answers by at this moment, until its configuration is read again.
final class PresentService: Sendable {
  struct State: Sendable {
    var settings: LaunchSettings
    var service: RecordsService
    /// nil: there never was one.
    var accessLog: AccessLog?
  }

  private let state: Mutex<State>

  init(_ settings: LaunchSettings, _ service: RecordsService, _ accessLog: AccessLog?) {
    state = Mutex(State(settings: settings, service: service, accessLog: accessLog))
  }

  var current: State { state.withLock(\.self) }

  func use(_ new: State) { state.withLock { $0 = new } }

  var gate: Gatekeeper? { state.withLock(\.service.gate) }

  var accessLog: AccessLog? { state.withLock(\.accessLog) }
}

extension LaunchSettings {
  /// What the HTTP server is made with.
  func serverSettings(_ accessLog: AccessLog?) -> ServerSettings {
    var settings = service.server
    if let accessLog { settings.observer = { accessLog.note($0) } }
    settings.host = listen.host
    settings.port = Int(listen.port)
    settings.unixSocketPath = listen.socketPath
    settings.inheritedSockets = inheritedSockets
    return settings
  }

  /// What tells callers from each other; nil: nothing does.
  ///
  /// - Throws: ``ConfigurationProblems`` where keys or secrets cannot be read.
  func makeGate(logger: Logger) throws -> Gatekeeper? {
    guard let callers else { return nil }
    return try placingKeyProblems {
      try Gatekeeper(callers, access, crossOrigin: service.crossOrigin, logger: logger)
    }
  }
}
