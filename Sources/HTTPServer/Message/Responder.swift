package import HTTPTypes
import Locks
import Logging

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
    /// Change the answer, the last first.
    var amendments: [Amendment] = []
  }

  package typealias Amendment = @Sendable (inout Response) -> Void

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
    guard state.withLock({ $0.receiver != nil }) else { return }
    let problem = Problem.response(Problem(.internalServerError, Self.noAnswer))
    let (receiver, response) = takeReceiver(for: problem)
    switch receiver {
    case nil: break
    case .closure(let receive): receive(response)
    case .exchange(let loop, let token, let id):
      // Never at once: whoever lets go may be in the middle of anything.
      loop.perform { loop in
        loop.logger.error("\(Self.noAnswer)")
        loop.deliver(response, token: token, exchange: id)
      }
    }
  }

  private static let noAnswer = "The request was given up without an answer."

  /// Answers.
  ///
  /// A second answer is dropped, and logged as the mistake that it is.
  package func respond(_ response: Response) {
    let (receiver, response) = takeReceiver(for: response)
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

  /// Has `body` change the answer before it is sent, after all who ask for this later.
  package func amend(_ body: @escaping Amendment) { state.withLock { $0.amendments.append(body) } }

  /// Who is to be answered, and with what; nobody where there was an answer already.
  private func takeReceiver(for response: Response) -> (Receiver?, Response) {
    let taken = state.withLock { state in
      defer { (state.receiver, state.amendments) = (nil, []) }
      return state
    }
    guard taken.receiver != nil else { return (nil, response) }
    var response = response
    if let route = taken.route { response.route = route }
    for amend in taken.amendments.reversed() { amend(&response) }
    return (taken.receiver, response)
  }

  package func respond(
    _ status: HTTPResponse.Status, _ fields: HTTPFields = [:], body: Response.Body = .none
  ) {
    respond(Response(status, fields, body: body))
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
