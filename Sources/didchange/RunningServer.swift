import Dispatch
import Logging
import RecordsAPI

/// What the command needs of a server that runs.
struct RunningServer {
  /// Where it listens, with the port that the system chose for port 0.
  let address: ListenAddress
  /// Stops accepting, ends all streams after a whole event, and calls back when the last connection
  /// is closed.
  private let drain:
    @Sendable (_ timeout: Duration, _ completion: @escaping @Sendable () -> Void) -> Void

  private init(
    address: ListenAddress,
    drain: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
  ) {
    self.address = address
    self.drain = drain
  }

  /// The label of the logger for requests.
  static let accessLabel = "didchange.access"

  /// Opens the database, prepares the queries, and listens.
  static func start(_ settings: LaunchSettings, logger: Logger) throws -> RunningServer {
    let server = try RecordsServer(
      settings, logger: logger, accessLogger: Logger(label: accessLabel))
    return RunningServer(address: try server.start()) { limit, completion in
      server.drain(timeout: limit, completion: completion)
    }
  }

  /// Returns when the last connection is closed, at the latest after the time given: a client that
  /// does not read must not keep the process alive.
  func drain(within limit: Duration) {
    let drained = DispatchSemaphore(value: 0)
    drain(limit) { drained.signal() }
    drained.wait()
  }
}
