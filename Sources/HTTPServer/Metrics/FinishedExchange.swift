package import HTTP1
package import HTTPTypes

/// A request and what became of it, for an access log; a stream is told twice, at its beginning and
/// when it is over.
package struct FinishedExchange: Sendable {
  /// What of an exchange is told.
  package enum Phase: String, Sendable {
    /// All of it: it was no stream.
    case whole
    case begin
    case end
  }

  package var phase = Phase.whole

  /// The request; nil where what came was none.
  package var request: RequestSummary?

  /// The other end of the connection, or the client that a proxy names.
  package var client: String

  /// The status sent; 499, as nginx has it, where the client went away before there was one.
  package var status: Int

  /// Bytes of the body that were handed to the connection.
  package var bytes: Int

  /// From the end of the request's head to the end of the response.
  package var duration: Duration

  /// Whether the response is whole; a stream that a client leaves is not.
  package var isComplete: Bool

  /// What answered.
  package var route: Route?

  /// Who asked, where the one who answered says it.
  package var caller: String?
}

/// What an access log says of a request: some 200 bytes while it is answered.
package struct RequestSummary: Sendable {
  package var method: HTTPRequest.Method
  /// The target as it was sent.
  package var target: String
  package var version: HTTPVersion
  /// The client's address.
  package var client: String
  /// `http` or `https`, as the client sees it.
  package var scheme: String
  /// The page that led here.
  package var referer: String?
  /// The program that asks.
  package var userAgent: String?
}

extension RequestSummary {
  init(_ request: Request) {
    self.init(
      method: request.method, target: request.target, version: request.version,
      client: request.client, scheme: request.scheme, referer: request.fields[.referer],
      userAgent: request.fields[.userAgent])
  }
}

/// Called when a response has been written or its connection has ended, and when a stream begins, on
/// the connection's loop: it must not wait for anything.
package typealias ExchangeObserver = @Sendable (FinishedExchange) -> Void
