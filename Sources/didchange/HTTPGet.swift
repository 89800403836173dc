import Foundation

/// One GET over a connection of its own: its response head, then its body as it comes.
///
/// Just enough of HTTP/1.1 for a terminal: no redirects, no content codings, no TLS.
final class HTTPGet {
  let status: Int
  /// The last value of each field, by its name in lower case.
  let fields: [String: String]
  private let socket: StreamSocket
  private var decoder: ChunkedDecoder?
  /// Bytes of the body that came with the head.
  private var waiting: [UInt8]

  /// Sends the request, and waits for the head of its response.
  ///
  /// After so many seconds of silence the server counts as gone.
  init(_ url: URL, fields: [String: String], silence: Int) throws(ClientError) {
    let (host, port) = try Self.address(of: url)
    socket = try StreamSocket(host: host, port: port, silence: silence)
    try socket.send(Array(Self.head(url, host: host, port: port, fields).utf8))
    var bytes: [UInt8] = []
    var end: Range<Int>?
    while end == nil {
      guard bytes.count < 65536, let more = try socket.receive() else {
        throw ClientError("\(host):\(port) does not answer in HTTP")
      }
      bytes += more
      end = bytes.firstRange(of: Array("\r\n\r\n".utf8))
    }
    let head = String(decoding: bytes[..<(end?.lowerBound ?? 0)], as: UTF8.self)
    let lines = head.split(separator: "\r\n")
    guard let first = lines.first, first.hasPrefix("HTTP/1."),
      let status = Int(first.split(separator: " ").dropFirst().first ?? "")
    else { throw ClientError("\(host):\(port) does not answer in HTTP") }
    self.status = status
    self.fields = Self.fields(lines.dropFirst())
    waiting = Array(bytes[(end?.upperBound ?? 0)...])
    if self.fields["transfer-encoding"]?.lowercased() == "chunked" { decoder = ChunkedDecoder() }
  }

  /// The next bytes of the body, maybe none; nil: it is over.
  func receive() throws(ClientError) -> [UInt8]? {
    guard decoder?.isAtEnd != true else { return nil }
    var bytes = waiting
    waiting = []
    if bytes.isEmpty {
      guard let more = try socket.receive() else { return nil }
      bytes = more
    }
    return try decoder?.decode(bytes) ?? bytes
  }

  /// What is left of a short body.
  func text(limit: Int = 65536) throws(ClientError) -> String {
    var bytes: [UInt8] = []
    let length = decoder == nil ? fields["content-length"].flatMap { Int($0) } : nil
    while bytes.count < min(limit, length ?? limit), let more = try receive() { bytes += more }
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

  private static func fields(_ lines: some Sequence<Substring>) -> [String: String] {
    let pairs = lines.compactMap { line -> (String, String)? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      return (line[..<colon].lowercased(), value)
    }
    return Dictionary(pairs) { $1 }
  }
}
