package import HTTPTypes
import Logging
import Synchronization

/// Answers one request: exactly once, from any thread.
///
/// An answer that is given before the handler returns costs no hop between threads. A responder
/// that goes away without an answer answers 500.
package final class Responder: Sendable {
  private enum Receiver: Sendable {
    case exchange(EventLoop, token: UInt64, id: UInt32)
    case closure(@Sendable (Response) -> Void)
  }

  private struct State {
    /// Nil once there is an answer, so that a responder that is kept does not keep the server.
    var receiver: Receiver?
    var route: Route?
  }

  private let state: Mutex<State>
  private let logger: Logger?

  init(loop: EventLoop, token: UInt64, exchange: UInt32) {
    state = Mutex(State(receiver: .exchange(loop, token: token, id: exchange)))
    logger = loop.logger
  }

  /// A responder without a connection, to try a handler with.
  package init(_ receive: @escaping @Sendable (Response) -> Void) {
    state = Mutex(State(receiver: .closure(receive)))
    logger = nil
  }

  deinit {
    let (receiver, route) = takeReceiver()
    switch receiver {
    case nil: break
    case .closure(let receive):
      receive(Problem.response(Problem(.internalServerError, Self.noAnswer)))
    case .exchange(let loop, let token, let id):
      // Never at once: whoever lets go may be in the middle of anything.
      loop.perform { loop in
        loop.logger.error("\(Self.noAnswer)")
        var response = Problem.response(Problem(.internalServerError, Self.noAnswer))
        response.route = route
        loop.deliver(response, token: token, exchange: id)
      }
    }
  }

  private static let noAnswer = "The request was given up without an answer."

  /// Answers.
  ///
  /// A second answer is dropped, and logged as the mistake that it is.
  package func respond(_ response: Response) {
    let (receiver, route) = takeReceiver()
    let response = response.routed(by: route)
    switch receiver {
    case nil:
      logger?.error("A request was answered twice.")
      response.discard()
    case .closure(let receive): receive(response)
    case .exchange(let loop, let token, let id):
      if loop.isCurrent, loop.isServing(token) {
        loop.deliver(response, token: token, exchange: id)
      } else {
        loop.perform { $0.deliver(response, token: token, exchange: id) }
      }
    }
  }

  /// Has `body` called once if the client goes away before there is an answer; from any thread.
  ///
  /// For work that takes long: whoever has begun it may then end it. An answer that comes
  /// nevertheless is dropped.
  package func whenAbandoned(_ body: @escaping @Sendable () -> Void) {
    guard case .exchange(let loop, let token, let id) = state.withLock(\.receiver) else { return }
    loop.perform { loop in
      guard let connection = loop.connection(token) else { return body() }
      connection.whenAbandoned(id, body)
    }
  }

  /// Says what will answer, by which the answer is counted.
  func belongs(to route: Route) { state.withLock { $0.route = route } }

  private func takeReceiver() -> (Receiver?, Route?) {
    state.withLock { state in
      defer { state.receiver = nil }
      return (state.receiver, state.route)
    }
  }

  package func respond(
    _ status: HTTPResponse.Status, _ fields: HTTPFields = [:], body: Response.Body = .none
  ) {
    respond(Response(status, fields, body: body))
  }
}

extension Response {
  fileprivate func routed(by route: Route?) -> Response {
    guard let route else { return self }
    var response = self
    response.route = route
    return response
  }
}

extension EventLoop {
  /// Whether it is this connection's turn, so that an answer can be taken at once.
  ///
  /// Another's turn must be waited for: it shares the memory in which output is collected.
  fileprivate func isServing(_ token: UInt64) -> Bool { connection(token)?.isInTurn ?? false }

  fileprivate func deliver(_ response: Response, token: UInt64, exchange: UInt32) {
    guard let connection = connection(token) else { return response.discard() }
    connection.answered(exchange, response)
  }
}
