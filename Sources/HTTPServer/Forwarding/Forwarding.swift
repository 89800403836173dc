import HTTP1
import HTTPTypes

/// Where a request came from, as the proxies before this server say.
///
/// Only those are believed that are configured: whoever connects can write these fields.
package struct Forwarding: Sendable, Equatable {
  /// The client's address; `unknown` or a name with an underscore where a proxy hides it
  /// (RFC 7239 §6).
  package var client: String

  /// `http` or `https`.
  package var scheme = "http"

  /// Host and port that the client asked for; nil where no proxy says it, and the Host field holds.
  package var host: String?

  /// What the first proxy has taken from the front of the path, without a slash at its end.
  package var prefix = ""

  /// Nil where the peer is none of the proxies.
  ///
  /// Addresses are read from the last, which the nearest proxy has appended, towards the first; the
  /// first that is no proxy's own is the client, and what stands before it was written by anybody.
  init?(_ fields: HTTPFields, peer: SocketAddress, trusting proxies: [AddressRange]) {
    guard proxies.contains(where: { $0.contains(peer) }) else { return nil }
    client = peer.host
    prefix = Self.prefix(fields[.xForwardedPrefix] ?? "")
    if let elements = ForwardedElement.list(fields[values: .forwarded]) {
      for element in elements.reversed() {
        if let node = element.client { client = node }
        if let scheme = element.scheme { self.scheme = scheme }
        if let host = element.host { self.host = host }
        if !Self.isProxy(client, proxies) { break }
      }
      return
    }
    if let scheme = Self.list(fields[values: .xForwardedProto]).last.flatMap(Self.scheme) {
      self.scheme = scheme
    }
    host = Self.list(fields[values: .xForwardedHost]).last.map(String.init)
    for node in Self.list(fields[values: .xForwardedFor]).reversed() {
      guard let node = ForwardedElement.node(node) else { break }
      client = node
      if !Self.isProxy(node, proxies) { break }
    }
  }

  private static func isProxy(_ client: String, _ proxies: [AddressRange]) -> Bool {
    guard let address = IPAddress(client) else { return false }
    return proxies.contains { $0.contains(address) }
  }

  private static func list(_ lines: [String]) -> [Substring] {
    lines.flatMap(\.listItems)
  }

  static func scheme(_ text: Substring) -> String? {
    let scheme = text.lowercased()
    return ["http", "https"].contains(scheme) ? scheme : nil
  }

  /// A path that can stand in front of another: what could be taken for another site (`//host`) or
  /// could break a header is as good as nothing.
  private static func prefix(_ text: String) -> String {
    let path = text.hasSuffix("/") ? text.dropLast() : text[...]
    let isPath =
      path.hasPrefix("/") && !path.contains("//") && path.utf8.count <= 256
      && path.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "/") || "-._~".utf8.contains(byte) || byte.isDigit || byte.isLetter
      }
    return isPath ? String(path) : ""
  }
}

extension HTTPField.Name {
  fileprivate static let forwarded = HTTPField.Name("Forwarded")!
  fileprivate static let xForwardedFor = HTTPField.Name("X-Forwarded-For")!
  fileprivate static let xForwardedProto = HTTPField.Name("X-Forwarded-Proto")!
  fileprivate static let xForwardedHost = HTTPField.Name("X-Forwarded-Host")!
  fileprivate static let xForwardedPrefix = HTTPField.Name("X-Forwarded-Prefix")!
}
