import Foundation
import TestSupport
import Testing

@Suite(.endToEnd) struct `Bodies that do not end` {
  private static let connections = 200
  private static let size = 1 << 20

  /// No resource wants a body, so that nothing of one is held, and nothing is left of it.
  ///
  /// A sanitizer keeps what was freed, to see that nobody uses it.
  @Test(
    .slow,
    .enabled(if: !isSanitized),
    arguments: [
      "Content-Length: \(size)\r\n\r\n",
      "Transfer-Encoding: chunked\r\n\r\n\(String(size, radix: 16))\r\n",
    ])
  func `cost no memory`(framing: String) throws {
    let folder = try TemporaryFolder()
    _ = try Database.make(folder.file("music.sqlite"), Teams.schema, journal: .wal)
    // On a busy machine it takes a while to send them all.
    let file = try folder.write(
      "database: music.sqlite\ntimeouts: {body: 10m}\n", to: "didchange.yaml")
    let command = try Command.serve(["--config", file])
    let client = HTTPClient(command.base)
    #expect(try client.get("/metrics").status == 200)
    let port = try #require(UInt16(command.port))
    let before = try command.bytes("VmRSS")
    var senders: [Sender] = []
    for _ in 0..<Self.connections {
      let sender = try Sender(port: port)
      try sender.send("POST /v1/queries/player/fetch HTTP/1.1\r\nHost: a\r\n" + framing)
      try sender.send(String(repeating: "x", count: Self.size - 1))
      senders.append(sender)
    }
    try eventually("all has been read") {
      try client.get("/metrics").text.matches(of: /\ndidchange_received_bytes_total ([0-9]+)\n/)
        .contains { Int($0.1).map { $0 >= Self.connections * (Self.size - 1) } ?? false }
    }
    // A twentieth of what was sent.
    #expect(try command.bytes("VmRSS") - before < Self.connections * Self.size / 20)
    // The last byte makes requests of them.
    try senders[0].send("x" + (framing.contains("chunked") ? "\r\n0\r\n\r\n" : ""))
    #expect(try senders[0].receive().hasPrefix("HTTP/1.1 200 "))
    senders = []
    try eventually("all are closed") {
      try client.get("/metrics").text.contains("\ndidchange_connections 1\n")
    }
    #expect(try command.bytes("VmRSS") - before < Self.connections * Self.size / 20)
  }
}

/// A connection that sends what it is told.
private final class Sender {
  private let descriptor: Int32

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard descriptor >= 0, connected == 0 else { throw TimedOut("a connection") }
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw TimedOut("a body: \(rest.count) bytes were not taken") }
      rest = rest.dropFirst(count)
    }
  }

  func receive() throws -> String {
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&poller, 1, Int32(patience * 1000)) > 0 else { throw TimedOut("an answer") }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
}
