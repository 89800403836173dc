package import HTTP1
package import HTTPTypes

/// A request, without its body, which no handler is given.
///
/// Handed on from handler to handler, and so no more than a reference and what the router adds.
package struct Request: Sendable {
  private final class Content: Sendable {
    let head: RequestHead
    let remoteAddress: SocketAddress
    let forwarding: Forwarding?

    init(_ head: RequestHead, _ remoteAddress: SocketAddress, _ forwarding: Forwarding?) {
      self.head = head
      self.remoteAddress = remoteAddress
      self.forwarding = forwarding
    }
  }

  private let content: Content

  /// What the router found for the `{names}` of the route's pattern.
  package var parameters = PathParameters()

  /// A request.
  ///
  /// - Parameters:
  ///   - head: Line and fields.
  ///   - remoteAddress: The other end of the connection.
  ///   - forwarding: What is believed of what proxies say.
  package init(
    head: RequestHead, remoteAddress: SocketAddress = SocketAddress(),
    forwarding: Forwarding? = nil
  ) {
    content = Content(head, remoteAddress, forwarding)
  }

  /// Line and fields.
  package var head: RequestHead { content.head }

  /// Who asks: the other end of the connection, which may be a proxy.
  package var remoteAddress: SocketAddress { content.remoteAddress }

  /// What the proxies before this server say of the client; nil where there are none that are
  /// believed.
  package var forwarding: Forwarding? { content.forwarding }
}

extension Request {
  package var method: HTTPRequest.Method { content.head.method }

  /// The target as it was sent.
  package var target: String { content.head.target.text }

  /// `OPTIONS *`: the server as a whole (RFC 9110 §9.3.7).
  package var isAboutServer: Bool { content.head.target.isAsterisk }

  /// The segments of the path, decoded.
  package var path: [String] { content.head.target.path }

  /// The segments of the path as they were sent.
  package var encodedPath: [String] { content.head.target.encodedPath }

  /// The items of the query, decoded, in order, repeated names too.
  package var query: [QueryItem] { content.head.target.query }

  /// The header fields in order.
  package var fields: HTTPFields { content.head.fields }

  /// The version of the client.
  package var version: HTTPVersion { content.head.version }

  /// The client's address, which is not that of a proxy.
  package var client: String { forwarding?.client ?? remoteAddress.host }

  /// `http` or `https`, as the client sees it.
  package var scheme: String { forwarding?.scheme ?? "http" }

  /// Host and port that the client asked for; nil where it named none.
  package var authority: String? { forwarding?.host ?? content.head.authority }

  /// What a proxy has taken from the front of the path.
  package var prefix: String { forwarding?.prefix ?? "" }

  /// Whether only the head of the response will be sent.
  package var isHead: Bool { method == .head }
}
