import Foundation
import HTTP1
import HTTPTypes

/// One GET over a connection of its own: its response head, then its body as it comes.
///
/// Just enough of HTTP/1.1 for a terminal: no redirects, no content codings, no TLS.
final class HTTPGet {
  let status: Int
  let fields: HTTPFields
  private let socket: StreamSocket
  /// nil: the body ends with the connection.
  private var decoder: BodyDecoder?
  /// Bytes that came with the head, or are a part of a line.
  private var waiting: [UInt8]
  private var hasBegun = false

  /// Sends the request, and waits for the head of its response.
  ///
  /// After so many seconds of silence the server counts as gone.
  init(_ url: URL, fields: [String: String], silence: Int) throws(ClientError) {
    let (host, port) = try Self.address(of: url)
    socket = try StreamSocket(host: host, port: port, silence: silence)
    try socket.send(Array(Self.head(url, host: host, port: port, fields).utf8))
    var limits = MessageLimits()
    // An event stream has no end.
    limits.bodySize = .max
    waiting = []
    var head: ResponseHead?
    var offset = 0
    do {
      while head == nil, let more = try socket.receive() {
        waiting += more
        head = try ResponseHead(waiting.span, from: &offset, limits: limits)
      }
    } catch let error as ClientError {
      throw error
    } catch {
      head = nil
    }
    guard let head else { throw ClientError("\(host):\(port) does not answer in HTTP") }
    status = head.status
    self.fields = head.fields
    decoder = head.framing.map { BodyDecoder(framing: $0, limits: limits) }
    waiting.removeFirst(offset)
  }

  /// The next bytes of the body, maybe none; nil: it is over.
  func receive() throws(ClientError) -> [UInt8]? {
    guard decoder?.isDone != true else { return nil }
    if hasBegun {
      guard let more = try socket.receive() else { return nil }
      waiting += more
    }
    hasBegun = true
    let bytes = waiting
    var offset = 0
    var content: [UInt8] = []
    do throws(RequestError) {
      if try decoder?.decode(bytes.span, from: &offset, content: { content += bytes[$0] }) == nil {
        (content, offset) = (bytes, bytes.count)
      }
    } catch {
      throw ClientError("the server's answer breaks off: \(error.detail)")
    }
    waiting.removeFirst(offset)
    return content
  }

  /// What is left of a short body.
  func text(limit: Int = 65536) throws(ClientError) -> String {
    var bytes: [UInt8] = []
    while bytes.count < limit, let more = try receive() { bytes += more }
    return String(decoding: bytes.prefix(limit), as: UTF8.self)
  }

  private static func address(of url: URL) throws(ClientError) -> (host: String, port: Int) {
    switch url.scheme?.lowercased() {
    case "http": break
    case "https":
      throw ClientError(
        "https is not spoken here; use curl -N, or the server's own address with http")
    default: throw ClientError("\(url.absoluteString) is no URL that begins with http://")
    }
    guard let host = url.host(percentEncoded: false), !host.isEmpty else {
      throw ClientError("\(url.absoluteString) names no host")
    }
    return (host.trimmingCharacters(in: ["[", "]"]), url.port ?? 80)
  }

  private static func head(
    _ url: URL, host: String, port: Int, _ fields: [String: String]
  ) -> String {
    let path = url.path(percentEncoded: true)
    let target =
      (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    let name = host.contains(":") ? "[\(host)]" : host
    let lines = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }
    return "GET \(target) HTTP/1.1\r\nHost: \(name):\(port)\r\nConnection: close\r\n"
      + lines.joined() + "\r\n"
  }
}
