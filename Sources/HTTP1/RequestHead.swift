package import HTTPTypes

/// A request line and a header section.
package struct RequestHead: Sendable {
  /// The method, which may be one that nobody knows.
  package var method: HTTPRequest.Method

  /// What is asked for.
  package var target: RequestTarget

  /// The version of the client.
  package var version: HTTPVersion

  /// All fields in order.
  package var fields: HTTPFields

  /// How the body is delimited.
  package var framing: BodyFraming

  /// Whether the client wants another request on this connection (RFC 9112 §9.3).
  package var keepsAlive: Bool

  /// Whether the client may wait for a word before it sends the body (RFC 9110 §10.1.1).
  package var expectsContinue: Bool

  /// Whether there is a condition on what is asked for (RFC 9110 §13.1), but for `If-Range`.
  ///
  /// Few requests have one, and the others are not looked through for it.
  package var isConditional: Bool

  /// What is wrong with the request although it is sound as a message: answer with its status.
  package var problem: RequestError?
}

extension RequestHead {
  /// Host and port that the client wants, from the target or else from the Host field.
  package var authority: String? {
    target.authority ?? KnownNames.host.flatMap { fields.value(of: $0) }
  }
}
