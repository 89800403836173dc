import Dispatch
import FetchedRecords
import HTTPServer
import HTTPTypes
import HeldMemory
package import Logging

/// The whole server: a database, its live queries, and HTTP in front of them.
package final class RecordsServer: Sendable {
  private let registry: FeedRegistry
  private let server: Server
  // Unchecked: Dispatch objects may be used by any thread, but the protocol does not say so.
  private nonisolated(unsafe) let sweeper: any DispatchSourceTimer
  private let logger: Logger
  private let listen: ListenAddress
  private let accessLog: AccessLog?

  /// Opens the database and analyses the queries.
  ///
  /// - Parameters:
  ///   - settings: what to serve, and where.
  ///   - logger: is told what an operator should know.
  ///   - accessLogger: is given the lines of the access log, where there is one.
  /// - Throws: ``ConfigurationProblems`` where queries do not fit the database, or where it would be
  ///   among the files of the page; `FetchFailure` or `DatabaseAccessError` where it cannot be read.
  package init(
    _ settings: LaunchSettings, logger: Logger, accessLogger: Logger? = nil
  ) throws {
    try settings.checkPublicFolder()
    self.logger = logger
    listen = settings.listen
    if !listen.isLoopback, settings.service.hosts == nil { logger.warning("\(Self.hostsAdvice)") }
    accessLog = settings.service.accessLog.map { AccessLog($0, logger: accessLogger ?? logger) }
    let refreshes = RefreshCounters()
    let refresher = try Refresher.opening(settings, logger: logger, counters: refreshes)
    registry = FeedRegistry(refresher: refresher, settings: settings.feeds)
    let gate = try settings.callers.map { callers in
      try Gatekeeper(
        callers, settings.access, crossOrigin: settings.service.crossOrigin, logger: logger)
    }
    if gate == nil, !listen.isLoopback { logger.warning("\(Self.callersAdvice)") }
    server = try Self.makeServer(
      settings, registry: registry, refreshes: refreshes, gate: gate, accessLog: accessLog,
      logger: logger)
    sweeper = Self.makeSweeper(of: registry, gate)
  }

  deinit { sweeper.cancel() }

  private static let hostsAdvice = """
    other machines can reach the server, and it answers to any name: a web page whose own name leads \
    here (DNS rebinding) can have its reader's browser read all of it; list the names by which \
    clients call the server, such as hosts: [example.org], in the configuration
    """

  private static let callersAdvice = """
    other machines can reach the server, and whoever does may read everything: say under `callers` in \
    the configuration who may read what, or let only what checks that reach it
    """

  /// Watches the database and listens.
  ///
  /// - Returns: where it listens, with the port that the system chose for port 0.
  package func start() throws -> ListenAddress {
    try registry.refresher.startWatching()
    do {
      let bound = try server.start()
      if listen.socketPath != nil { return listen }
      return try ListenAddress(host: bound.host, port: UInt16(bound.port))
    } catch {
      // Nobody drains what did not start, and a watcher must be stopped before it goes.
      registry.refresher.stop()
      throw error
    }
  }

  /// Ends all streams after a whole event, finishes the requests in flight, and lets go of the
  /// database.
  ///
  /// - Parameters:
  ///   - timeout: what is not finished by then is cut off.
  ///   - completion: is called when the last connection is closed.
  package func drain(timeout: Duration, completion: @escaping @Sendable () -> Void) {
    sweeper.cancel()
    registry.beginEnding()
    // Before the streams and polls end: their answers say that the connection closes.
    server.shutdown(timeout: timeout) { [registry, accessLog] in
      registry.refresher.stop()
      accessLog?.flush(within: 1)
      completion()
    }
    registry.closeAll()
    registry.refresher.endLongWork()
  }

  /// Numbers for operators and tests.
  var statistics: ServerStatistics { server.statistics }

  private static func makeServer(
    _ settings: LaunchSettings, registry: FeedRegistry, refreshes: RefreshCounters,
    gate: Gatekeeper?, accessLog: AccessLog?, logger: Logger
  ) throws -> Server {
    var serverSettings = settings.service.server
    if let accessLog { serverSettings.observer = { accessLog.note($0) } }
    serverSettings.host = settings.listen.host
    serverSettings.port = Int(settings.listen.port)
    serverSettings.unixSocketPath = settings.listen.socketPath
    // Weakly: the server holds its handler, and with it the routes. Written before it listens.
    nonisolated(unsafe) weak var made: Server?
    let service = RecordsService(
      registry: registry, refreshes: refreshes, gate: gate, heartbeat: settings.feeds.heartbeat,
      sharedStreams: settings.feeds.sharedStreams.map { SharedStreams(period: $0) }
    ) { made?.statistics }
    var router = Router()
    service.addRoutes(to: &router)
    if let folder = settings.publicFolder {
      guard let files = StaticFiles(folder: folder) else { throw NoPublicFolder(path: folder) }
      router.otherwise(files.handle)
    }
    let handler = Self.handler(router, settings.service)
    let server = Server(settings: serverSettings, logger: logger, handler: handler)
    made = server
    return server
  }

  /// The routes, behind what refuses requests or adds to their answers.
  private static func handler(_ routes: Router, _ settings: ServiceSettings) -> Server.Handler {
    var handler: Server.Handler = routes.handle
    let crossOrigin = settings.crossOrigin
    if let crossOrigin { handler = { [handler] in crossOrigin.handle($0, $1, next: handler) } }
    handler = { [handler] request, responder in
      if let problem = ForeignOrigin.problem(request, allowing: crossOrigin) {
        return responder.respond(Problem.response(problem))
      }
      handler(request, responder)
    }
    if let hosts = settings.hosts {
      handler = { [handler] in hosts.handle($0, $1, next: handler) }
    }
    return handler
  }

  private static func makeSweeper(
    of registry: FeedRegistry, _ gate: Gatekeeper?
  ) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(500))
    let freed = FreedMemory()
    let queue = registry.refresher.queue
    timer.setEventHandler {
      queue.async {
        registry.sweep()
        registry.refresher.beat()
      }
      gate?.sweep()
      freed.trimSoon()
    }
    // A source that was never activated may not be released.
    timer.activate()
    return timer
  }
}

/// The folder with the page cannot be read.
struct NoPublicFolder: Error, CustomStringConvertible {
  let path: String

  var description: String { "\(path) is no folder that can be read: name another with --public" }
}
