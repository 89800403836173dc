import Foundation
import HTTP1
package import HTTPServer

/// Where the server listens: a host, or an IP address, and a port; or a Unix-domain socket.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
  /// A name, an IPv4 address, or an IPv6 address without its brackets.
  package let host: String
  /// 0 lets the system choose a free one.
  package let port: UInt16
  /// The path of a Unix-domain socket, which stands instead of host and port.
  package private(set) var socketPath: String?

  /// The loopback interface: nobody else can reach a server that was not told to be reached.
  package static let standard = ListenAddress(checkedHost: "127.0.0.1", port: 8080)

  package init(host: String, port: UInt16) throws(Flaw) {
    guard Self.isAddress(host) || Self.isName(host) else {
      throw Flaw(
        "\"\(host)\" is neither a host name nor an IP address",
        mend: "write for example 127.0.0.1, 0.0.0.0 or ::1")
    }
    self.init(checkedHost: host, port: port)
  }

  /// A Unix-domain socket.
  package init(socketPath: String) throws(Flaw) {
    // sockaddr_un has room for 107 on Linux and 103 elsewhere.
    guard !socketPath.isEmpty, socketPath.utf8.count <= 103 else {
      throw Flaw(
        "the path of the socket has \(socketPath.utf8.count) bytes",
        mend: "choose one of at most 103, such as /run/didchange.sock")
    }
    self.init(checkedHost: "127.0.0.1", port: 0)
    self.socketPath = socketPath
  }

  /// Where a socket listens that was handed over.
  package init(_ socket: InheritedSocket) {
    switch socket.place {
    case .host(let host, let port): self.init(checkedHost: host, port: UInt16(clamping: port))
    case .path(let path):
      self.init(checkedHost: "127.0.0.1", port: 0)
      socketPath = path
    }
  }

  /// Reads `HOST:PORT`, where an IPv6 address stands in brackets, as in `[::1]:8080`; or
  /// `unix:PATH`.
  package init(_ text: String) throws(Flaw) {
    if text.hasPrefix("unix:") {
      try self.init(socketPath: String(text.dropFirst(5)))
      return
    }
    let (host, port) = try Self.split(text)
    guard port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = UInt16(port)
    else {
      throw Flaw(
        "\"\(port)\" is not a port", mend: "write a number from 0 to 65535")
    }
    try self.init(host: host, port: number)
  }

  /// The same address with another host or another port, where one is given.
  package func with(host: String?, port: UInt16?) throws(Flaw) -> ListenAddress {
    if host == nil, port == nil { return self }
    return try ListenAddress(host: host ?? self.host, port: port ?? self.port)
  }

  private init(checkedHost host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  package var description: String {
    if let socketPath { return "unix:\(socketPath)" }
    return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// Whether only programs on this machine can reach it: RFC 1122 §3.2.1.3, RFC 4291 §2.5.3,
  /// RFC 6761 §6.3.
  package var isLoopback: Bool {
    if socketPath != nil || host.lowercased() == "localhost" { return true }
    return ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }.contains { $0.contains(host) }
  }

  /// As a client writes it.
  package var url: String { socketPath == nil ? "http://\(self)" : description }

  private static func split(_ text: String) throws(Flaw) -> (host: String, port: String) {
    let example = "write HOST:PORT, for example 127.0.0.1:8080 or [::1]:8080"
    guard let colon = text.lastIndex(of: ":") else {
      throw Flaw("\"\(text)\" has no port", mend: example)
    }
    let host = text[..<colon]
    let port = String(text[text.index(after: colon)...])
    if host.hasPrefix("["), host.hasSuffix("]") {
      return (String(host.dropFirst().dropLast()), port)
    }
    guard !host.contains(":") else {
      throw Flaw(
        "\"\(text)\" does not show where its IPv6 address ends",
        mend: "put the address in brackets, as in [::1]:8080")
    }
    guard !host.isEmpty else {
      throw Flaw("\"\(text)\" has no host", mend: example)
    }
    return (String(host), port)
  }

  private static func isAddress(_ text: String) -> Bool {
    var address = in6_addr()
    return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
  }

  /// RFC 1123 §2.1, and underscores, which container networks have in their names.
  ///
  /// A name of digits and dots alone is an IPv4 address with a slip in it.
  private static func isName(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    return text.utf8.count <= 253 && text.contains(where: \.isLetter)
      && labels.allSatisfy { label in
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
          && label.utf8.allSatisfy { $0.isLetter || $0.isDigit || "-_".utf8.contains($0) }
      }
  }
}
