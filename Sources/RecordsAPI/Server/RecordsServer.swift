import Dispatch
import FetchedRecords
import HTTPServer
import HTTPTypes
import HeldMemory
import Locks
package import Logging

/// The whole server: a database, its live queries, and HTTP in front of them.
package final class RecordsServer: Sendable {
  let registry: FeedRegistry
  let server: Server
  // Unchecked: Dispatch objects may be used by any thread, but the protocol does not say so.
  private nonisolated(unsafe) let sweeper: any DispatchSourceTimer
  let logger: Logger
  let accessLogger: Logger
  private let listen: ListenAddress
  private let isActivated: Bool
  let present: PresentService

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
    try settings.checkExploring()
    _ = ProcessStatistics.start
    self.logger = logger
    self.accessLogger = accessLogger ?? logger
    listen = settings.listen
    isActivated = !settings.inheritedSockets.isEmpty
    if !listen.isLoopback, settings.service.hosts == nil { logger.warning("\(Self.hostsAdvice)") }
    let accessLog = settings.service.accessLog.map {
      AccessLog($0, logger: accessLogger ?? logger)
    }
    let refreshes = RefreshCounters()
    let refresher = try Refresher.opening(settings, logger: logger, counters: refreshes)
    let gate = try settings.makeGate(logger: logger)
    registry = FeedRegistry(refresher: refresher, settings: settings.feeds) { failure, query in
      gate?.told(failure, of: query) ?? failure
    }
    if gate == nil, !listen.isLoopback { logger.warning("\(Self.callersAdvice)") }
    // Weakly: the server holds its handler, and with it the routes. Written before it listens.
    nonisolated(unsafe) weak var made: Server?
    var service = RecordsService(
      registry: registry, refreshes: refreshes, gate: gate, settings: settings.feeds
    ) { made?.statistics }
    if settings.explores {
      let explorations = Explorations(registry: registry, refreshes: refreshes)
      service.exploring = Exploring(explorations, settings)
    }
    present = PresentService(settings, service, accessLog)
    server = Server(
      settings: settings.serverSettings(accessLog), logger: logger,
      handler: try Self.handler(service, settings))
    made = server
    sweeper = Self.makeSweeper(of: registry, present)
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
      if listen.socketPath != nil || isActivated { return listen }
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
    server.shutdown(timeout: timeout) { [registry, present] in
      registry.refresher.stop()
      present.accessLog?.flush(within: 1)
      completion()
    }
    registry.closeAll()
    registry.refresher.endLongWork()
  }

  /// Numbers for operators and tests.
  var statistics: ServerStatistics { server.statistics }

  /// The routes, behind what refuses requests or adds to their answers.
  static func handler(_ service: RecordsService, _ settings: LaunchSettings) throws
    -> Server.Handler
  {
    var router = Router()
    service.addRoutes(to: &router)
    if let folder = settings.publicFolder {
      guard let files = StaticFiles(folder: folder) else { throw NoPublicFolder(path: folder) }
      router.otherwise(files.handle)
    }
    var handler: Server.Handler = router.handle
    if let exploring = service.exploring {
      handler = { [handler] request, responder in
        if Exploring.isMeant(by: request), let problem = exploring.problem(request) {
          return responder.respond(Problem.response(problem))
        }
        handler(request, responder)
      }
    }
    let crossOrigin = settings.service.crossOrigin
    if let crossOrigin { handler = { [handler] in crossOrigin.handle($0, $1, next: handler) } }
    handler = { [handler] request, responder in
      if let problem = ForeignOrigin.problem(request, allowing: crossOrigin) {
        return responder.respond(Problem.response(problem))
      }
      handler(request, responder)
    }
    if let hosts = settings.service.hosts {
      handler = { [handler] in hosts.handle($0, $1, next: handler) }
    }
    return handler
  }

  private static func makeSweeper(
    of registry: FeedRegistry, _ present: PresentService
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
      present.gate?.sweep()
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
