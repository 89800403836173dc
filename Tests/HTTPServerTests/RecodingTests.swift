import HTTP1
import HTTPServer
import HTTPTypes
import Locks
import Testing

/// Writes in capitals, and says nothing for digits.
private let capitals: StreamBody.Recoding = { bytes in
  Array(String(decoding: bytes, as: UTF8.self).filter { !$0.isNumber }.uppercased().utf8)
}

extension [UInt8] {
  fileprivate var asText: String { String(decoding: self, as: UTF8.self) }
}

/// All that is sent of a stream is in its own format: the prefix, the log, the heartbeat, the farewell.
@Test(arguments: ["HTTP/1.1", "HTTP/1.0"])
func `a stream of another format is that from its first byte to its last`(version: String) throws {
  let broadcast = Broadcast(capacity: 1000)
  let heartbeat = Heartbeat(bytes: Array("h".utf8), interval: .milliseconds(150))
  let served: Server.Handler = { request, responder in
    let isPlain = request.path == ["plain"]
    let body = StreamBody(
      prefix: pieces(["a;", "1", "b;"]), broadcast: broadcast, position: broadcast.end,
      heartbeat: heartbeat, farewell: { Array("bye;".utf8) }, recoding: isPlain ? nil : capitals)
    responder.respond(.ok, body: .stream(body))
  }
  try withServer(configure: { $0.timeouts.lateness = .milliseconds(10) }, handler: served) {
    server in
    let client = try RawClient(port: server.port)
    let plain = try RawClient(port: server.port)
    _ = try client.begin("GET / \(version)")
    _ = try plain.begin("GET /plain \(version)")
    let read = { (client: RawClient, end: String) throws -> String in
      var text = ""
      while !text.hasSuffix(end) {
        let part = version == "HTTP/1.1" ? try client.readText() : try client.read(count: 1).asText
        text += try #require(part)
      }
      return text
    }
    #expect(try read(client, "H") == "A;B;H")
    #expect(try read(plain, "h") == "a;1b;h")
    for unit in ["c;", "2", "d;"] { broadcast.append(unit) }
    broadcast.append("e;")
    #expect(try read(client, "E;").filter { $0 != "H" } == "C;D;E;")
    #expect(try read(plain, "e;").filter { $0 != "h" } == "c;2d;e;")
    broadcast.close()
    #expect(try read(client, "BYE;").filter { $0 != "H" } == "BYE;")
    #expect(try read(plain, "bye;").filter { $0 != "h" } == "bye;")
  }
}
