package import HTTPTypes
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

  /// Nil once there is an answer, so that a responder that is kept does not keep the server.
  private let receiver: Mutex<Receiver?>
  private let log: LogHandler

  init(loop: EventLoop, token: UInt64, exchange: UInt32) {
    receiver = Mutex(.exchange(loop, token: token, id: exchange))
    log = loop.log
  }

  /// A responder without a connection, to try a handler with.
  package init(_ receive: @escaping @Sendable (Response) -> Void) {
    receiver = Mutex(.closure(receive))
    log = { _, _ in }
  }

  deinit {
    switch takeReceiver() {
    case nil: break
    case .closure(let receive):
      receive(Problem.response(Problem(.internalServerError, Self.noAnswer)))
    case .exchange(let loop, let token, let id):
      // Never at once: whoever lets go may be in the middle of anything.
      loop.perform { loop in
        loop.log(.error, Self.noAnswer)
        let response = loop.problemResponse(Problem(.internalServerError, Self.noAnswer))
        loop.deliver(response, token: token, exchange: id)
      }
    }
  }

  private static let noAnswer = "The request was given up without an answer."

  /// Answers.
  ///
  /// A second answer is dropped, and logged as the mistake that it is.
  package func respond(_ response: Response) {
    switch takeReceiver() {
    case nil:
      log(.error, "A request was answered twice.")
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

  private func takeReceiver() -> Receiver? {
    receiver.withLock { receiver in
      defer { receiver = nil }
      return receiver
    }
  }

  /// Answers.
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
