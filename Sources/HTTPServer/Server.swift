import Dispatch
import Locks
package import Logging

/// An HTTP/1.1 server on event loops, each a serial queue.
///
/// It lives from `start` to the end of `shutdown`, whoever holds it.
package final class Server: Sendable {
  /// Takes a request, on the loop of its connection: it must not wait for anything.
  package typealias Handler = @Sendable (Request, Responder) -> Void

  /// Where a server listens.
  package struct BoundAddress: Sendable, Equatable {
    /// The host as configured.
    package var host: String
    /// The port, chosen by the system where 0 was configured.
    package var port: Int
  }

  private struct State {
    var loops: [EventLoop] = []
    var hasStarted = false
  }

  private let settings: ServerSettings
  private let logger: Logger
  private let handler: Handler
  private let counts: ConnectionCounts
  private let state = Mutex(State())

  /// A server that does nothing yet.
  ///
  /// - Parameters:
  ///   - settings: Where to listen, and the limits.
  ///   - logger: Is told what an operator should know.
  ///   - handler: Answers the others.
  package init(
    settings: ServerSettings, logger: Logger, handler: @escaping Handler
  ) {
    self.settings = settings
    self.logger = logger
    self.handler = handler
    counts = ConnectionCounts(
      limit: settings.maximumConnectionsPerAddress, exempt: settings.trustedProxies)
  }

  /// Listens; when this returns, connections are accepted.
  package func start() throws(ServerError) -> BoundAddress {
    let isFirst = state.withLock { state in
      defer { state.hasStarted = true }
      return !state.hasStarted
    }
    guard isFirst else { throw .alreadyStarted }
    let loops = try makeLoops()
    let sockets = try listen(closing: loops)
    state.withLock { $0.loops = loops }
    let dealer = ConnectionDealer(loops: loops, limit: settings.maximumConnections)
    for socket in sockets {
      loops[0].perform { Listener.listen(socket, dealer: dealer, on: $0) }
    }
    return BoundAddress(host: settings.host, port: sockets[0].port)
  }

  /// Answers requests that come from now on by another handler, and treats clients by other settings;
  /// where it listens, its loops, and how many connections there may be in all stay as they are.
  ///
  /// A connection that is open keeps its message limits and its observer.
  package func use(_ settings: ServerSettings, handler: @escaping Handler) {
    counts.use(
      limit: settings.maximumConnectionsPerAddress, exempt: settings.trustedProxies)
    let shared = ConnectionSettings(settings, counts)
    for loop in state.withLock(\.loops) {
      loop.perform { ($0.settings, $0.handler) = (shared, handler) }
    }
  }

  private func makeLoops() throws(ServerError) -> [EventLoop] {
    let shared = ConnectionSettings(settings, counts)
    var loops: [EventLoop] = []
    do throws(ServerError) {
      for index in 0..<max(1, settings.eventLoops) {
        let loop = try EventLoop(
          index: index, settings: shared, handler: handler, logger: logger)
        loop.start()
        loops.append(loop)
      }
    } catch {
      for loop in loops { loop.stop() }
      throw error
    }
    return loops
  }

  private func listen(
    closing loops: [EventLoop]
  ) throws(ServerError) -> [ListeningSocket] {
    if !settings.inheritedSockets.isEmpty {
      return settings.inheritedSockets.map { ListeningSocket(descriptor: $0.descriptor) }
    }
    do throws(ServerError) {
      if let path = settings.unixSocketPath {
        return [try ListeningSockets.open(path: path)]
      }
      return try ListeningSockets.open(
        host: settings.host, port: settings.port, logger: logger)
    } catch {
      for loop in loops { loop.stop() }
      throw error
    }
  }

  /// Stops: nothing is accepted any more, idle connections close, requests in flight are answered,
  /// streams go on until their owners end them; what is left after `timeout` is closed.
  ///
  /// - Parameters:
  ///   - timeout: How long to wait for the peers.
  ///   - completion: Called once, on any queue, when no connection is left.
  package func shutdown(timeout: Duration, completion: @escaping @Sendable () -> Void) {
    let loops = state.withLock { state in
      defer { state.loops = [] }
      return state.loops
    }
    let (draining, emptying) = (DispatchGroup(), DispatchGroup())
    for loop in loops {
      draining.enter()
      emptying.enter()
      loop.perform { loop in
        loop.drain()
        draining.leave()
      }
      loop.queue.asyncAfter(
        deadline: .now() + .nanoseconds(Int(timeout.wholeNanoseconds))
      ) { loop.abortAll() }
    }
    // Nothing is accepted any more, and what was is with the loop that it was dealt to.
    draining.notify(queue: .global()) {
      for loop in loops { loop.perform { $0.whenEmpty { emptying.leave() } } }
    }
    emptying.notify(queue: .global()) {
      for loop in loops { loop.stop() }
      completion()
    }
  }

  /// What the server has done since its start; zeros after its end.
  package var statistics: ServerStatistics {
    state.withLock { state in
      state.loops.reduce(into: ServerStatistics()) { $0.add($1.counters.current) }
    }
  }
}
