package import HTTP1
package import HTTPTypes

/// A whole request.
package struct Request: Sendable {
  /// Line and fields.
  package var head: RequestHead

  /// The body, decoded; empty where there is none.
  package var body: [UInt8]

  /// Who asks: the other end of the connection, which may be a proxy.
  package var remoteAddress: SocketAddress

  /// What the proxies before this server say of the client; nil where there are none that are
  /// believed.
  package var forwarding: Forwarding?

  /// What the router found for the `{names}` of the route's pattern.
  package var parameters = PathParameters()

  /// A request.
  package init(
    head: RequestHead, body: [UInt8] = [], remoteAddress: SocketAddress = SocketAddress()
  ) {
    self.head = head
    self.body = body
    self.remoteAddress = remoteAddress
  }
}

extension Request {
  /// The method.
  package var method: HTTPRequest.Method { head.method }

  /// The target as it was sent.
  package var target: String { head.target.text }

  /// The segments of the path, decoded.
  package var path: [String] { head.target.path }

  /// The segments of the path as they were sent.
  package var encodedPath: [String] { head.target.encodedPath }

  /// The items of the query, decoded, in order, repeated names too.
  package var query: [QueryItem] { head.target.query }

  /// The header fields in order.
  package var fields: HTTPFields { head.fields }

  /// The version of the client.
  package var version: HTTPVersion { head.version }

  /// The client's address, which is not that of a proxy.
  package var client: String { forwarding?.client ?? remoteAddress.host }

  /// `http` or `https`, as the client sees it.
  package var scheme: String { forwarding?.scheme ?? "http" }

  /// Host and port that the client asked for; nil where it named none.
  package var authority: String? { forwarding?.host ?? head.authority }

  /// What a proxy has taken from the front of the path.
  package var prefix: String { forwarding?.prefix ?? "" }

  /// Whether only the head of the response will be sent.
  package var isHead: Bool { head.method == .head }
}
