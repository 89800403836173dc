import HTTP1
import HTTPServer
import HTTPTypes
import Locks
import Testing

/// Serves one broadcast under every path.
private func stream(_ body: @escaping @Sendable () -> StreamBody) -> Server.Handler {
  { _, responder in
    responder.respond(.ok, [.contentType: "text/event-stream"], body: .stream(body()))
  }
}

/// A source of these pieces.
func pieces(_ texts: [String]) -> StreamBody.Producer {
  let left = Mutex(texts[...])
  return { left.withLock { $0.popFirst() }.map { Array($0.utf8) } }
}

extension Broadcast {
  @discardableResult
  func append(_ text: String) -> Position { append(Array(text.utf8)) }
}

extension RawClient {
  /// Begins a stream.
  func begin(_ line: String = "GET / HTTP/1.1", host: String = "Host: a\r\n") throws -> RawResponse
  {
    try send("\(line)\r\n\(host)\r\n")
    return try readHead()
  }

  func readText() throws -> String? {
    try readChunk().map { String(decoding: $0, as: UTF8.self) }
  }
}

@Test func `a stream is its prefix and then what is appended`() throws {
  let broadcast = Broadcast(capacity: 1000)
  broadcast.append("before;")
  let position = broadcast.append("at;")
  broadcast.append("since;")
  try withServer(
    handler: stream {
      StreamBody(prefix: pieces(["a;", "", "b;"]), broadcast: broadcast, position: position)
    }
  ) { server in
    let client = try RawClient(port: server.port)
    let head = try client.begin()
    #expect(head["transfer-encoding"] == "chunked")
    #expect(head["content-length"] == nil)
    #expect(try client.readText() == "a;")
    #expect(try client.readText() == "b;")
    #expect(try client.readText() == "since;")
    for index in 0..<100 {
      broadcast.append("\(index);")
      #expect(try client.readText() == "\(index);")
    }
    broadcast.append("bye;")
    broadcast.close()
    #expect(try client.readText() == "bye;")
    #expect(try client.readText() == nil)
    // The body is over, the connection is not.
    #expect(try client.begin().status == 200)
  }
}

/// Tells when nobody holds it any more.
private final class Held: Sendable {
  let gone: Signal

  init(_ gone: Signal) { self.gone = gone }

  deinit { gone.fire() }
}

@Test func `a stream lets go of what its prefix was made from`() throws {
  let broadcast = Broadcast(capacity: 1000)
  let gone = Signal()
  try withServer(
    handler: stream {
      let (held, rest) = (Held(gone), pieces(["p;"]))
      return StreamBody(
        prefix: { withExtendedLifetime(held) { rest() } }, broadcast: broadcast,
        position: broadcast.end)
    }
  ) { server in
    let client = try RawClient(port: server.port)
    _ = try client.begin()
    #expect(try client.readText() == "p;")
    #expect(gone.wait())
    broadcast.append("a;")
    #expect(try client.readText() == "a;")
  }
}

@Test func `a client of HTTP 1_0 gets the same bytes without frames`() throws {
  let broadcast = Broadcast(capacity: 1_000_000)
  let start = broadcast.end
  broadcast.append("a;")
  try withServer(
    handler: stream {
      StreamBody(prefix: pieces(["p;"]), broadcast: broadcast, position: start)
    }
  ) { server in
    let client = try RawClient(port: server.port)
    let head = try client.begin("GET / HTTP/1.0", host: "")
    #expect(head["connection"] == "close")
    #expect(try client.read(through: "p;a;") == "p;a;")
    var expected = ""
    for index in 0..<50 {
      let unit = "\(index)" + String(repeating: "c", count: 5000) + ";"
      broadcast.append(unit)
      expected += unit
    }
    // All of it comes without another push.
    #expect(try client.read(through: "49" + String(repeating: "c", count: 5000) + ";") == expected)
    broadcast.append("d;")
    broadcast.close()
    #expect(try client.readToEnd() == "d;")
  }
}

@Test func `a silent stream has a heartbeat`() throws {
  let broadcast = Broadcast(capacity: 1000)
  try withServer(
    handler: stream {
      StreamBody(
        broadcast: broadcast, position: broadcast.end,
        heartbeat: Heartbeat(bytes: Array(":\n".utf8), interval: .milliseconds(60)))
    }
  ) { server in
    let client = try RawClient(port: server.port)
    _ = try client.begin()
    for _ in 0..<3 { #expect(try client.readText() == ":\n") }
    broadcast.append("a;")
    #expect(try client.read(through: "a;").contains("a;"))
    _ = try client.read(count: 2)
    #expect(try client.readText() == ":\n")
  }
}

@Test func `the end of a stream is told once, whatever ends it`() throws {
  let broadcast = Broadcast(capacity: 1000)
  let ended = Signal()
  try withServer(
    configure: { $0.eventLoops = 2 },
    handler: stream {
      StreamBody(broadcast: broadcast, position: broadcast.end, onEnd: { ended.fire() })
    }
  ) { server in
    // The client goes away.
    let leaving = try RawClient(port: server.port)
    _ = try leaving.begin()
    leaving.close()
    #expect(ended.wait())
    // It never begins.
    #expect(Curl(isHead: true).fetch(server.url("/")).status == 200)
    #expect(ended.wait())
    // The broadcast ends.
    let other = try RawClient(port: server.port)
    _ = try other.begin()
    broadcast.append("a;")
    #expect(try other.readText() == "a;")
    broadcast.close()
    #expect(try other.readText() == nil)
    #expect(ended.wait())
    #expect(ended.count == 3)
    eventually { server.server.statistics.streamsOpen == 0 }
    #expect(server.server.statistics.streamsBegun == 2)
  }
}

@Test func `a position that is not held any more asks what to send instead`() throws {
  let broadcast = Broadcast(capacity: 100)
  let start = broadcast.start
  for index in 0..<100 { broadcast.append("unit \(index);") }
  #expect(broadcast.start > start)
  try withServer(
    handler: { request, responder in
      responder.respond(
        .ok,
        body: .stream(
          StreamBody(
            broadcast: broadcast, position: start,
            onLag: { position in
              #expect(position == start)
              if request.target == "/none" { return nil }
              return StreamBody.Resumption(prefix: pieces(["all;"]), position: broadcast.end)
            })))
    }
  ) { server in
    let client = try RawClient(port: server.port)
    _ = try client.begin()
    #expect(try client.readText() == "all;")
    broadcast.append("next;")
    #expect(try client.readText() == "next;")
    let none = try RawClient(port: server.port)
    _ = try none.begin("GET /none HTTP/1.1")
    #expect(try none.readText() == nil)
    #expect(server.server.statistics.slowReadersSkipped == 2)
  }
}

@Test func `a prefix is made as the client reads`() throws {
  let broadcast = Broadcast(capacity: 1000)
  let made = Atomic(0)
  let piece = [UInt8](repeating: 120, count: 10_000)
  try withServer(
    handler: stream {
      StreamBody(
        prefix: {
          made.wrappingAdd(1, ordering: .relaxed).newValue <= 2000 ? piece : nil
        }, broadcast: broadcast, position: broadcast.end)
    }
  ) { server in
    let client = try RawClient(port: server.port, receiveBuffer: 4096)
    _ = try client.begin()
    // 20 MB; the kernel takes a few of them, and the server holds none.
    let deadline = ContinuousClock.now + .milliseconds(300)
    while ContinuousClock.now < deadline { pause() }
    #expect(made.load(ordering: .relaxed) < 1500)
    for _ in 0..<2000 { #expect(try client.readChunk()?.count == 10_000) }
    broadcast.close()
    #expect(try client.readText() == nil)
  }
}

@Test func `an owner that never says anything new does not hold the loop`() throws {
  let broadcast = Broadcast(capacity: 100)
  let start = broadcast.start
  for index in 0..<100 { broadcast.append("unit \(index);") }
  try withServer(
    configure: { $0.eventLoops = 1 },
    handler: { request, responder in
      if request.target == "/plain" { return responder.respond(.ok) }
      var body = StreamBody(broadcast: broadcast, position: start)
      body.onLag = { _ in StreamBody.Resumption(prefix: nil, position: start) }
      if request.target == "/empty" { body.prefix = { [] } }
      responder.respond(.ok, body: .stream(body))
    }
  ) { server in
    let lagging = try RawClient(port: server.port)
    _ = try lagging.begin()
    let empty = try RawClient(port: server.port)
    _ = try empty.begin("GET /empty HTTP/1.1")
    let other = try RawClient(port: server.port)
    for _ in 0..<10 { #expect(try other.get("/plain").status == 200) }
  }
}

@Test func `wake-ups that were delayed lose nothing, for few streams or many`() throws {
  let broadcasts = (0..<6).map { _ in Broadcast(capacity: 100_000) }
  let next = Mutex(0)
  try withServer(
    configure: { $0.eventLoops = 2 },
    handler: stream {
      let number = next.withLock { next in
        defer { next += 1 }
        return next
      }
      // The first broadcast has more streams than are served at once; the others have one each.
      let broadcast = broadcasts[number < 40 ? 0 : number - 39]
      return StreamBody(broadcast: broadcast, position: broadcast.end)
    }
  ) { server in
    let clients = try (0..<45).map { _ in try RawClient(port: server.port) }
    for client in clients { _ = try client.begin("GET / HTTP/1.0", host: "") }
    for (text, count) in [("one;", 1), ("two;", 3), ("all;", 6), ("two;", 2), ("one;", 1)] {
      var sleeping: [SleepingStreams] = []
      _ = broadcasts[0].append(Array("first ".utf8), leaving: &sleeping)
      for broadcast in broadcasts[..<count] {
        _ = broadcast.append(Array(text.utf8), leaving: &sleeping)
      }
      for streams in sleeping { streams.serveHere() }
      for (number, client) in clients.enumerated() {
        let index = number < 40 ? 0 : number - 39
        let expected = (index == 0 ? "first " : "") + (index < count ? text : "")
        if !expected.isEmpty { #expect(try client.read(through: expected) == expected) }
      }
    }
  }
}
