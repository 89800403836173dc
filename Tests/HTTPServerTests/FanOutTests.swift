import HTTPServer
import HTTPTypes
import Locks
import Testing

private func serve(
  _ body: @escaping @Sendable (Request) -> StreamBody
) -> Server.Handler {
  { request, responder in responder.respond(.ok, body: .stream(body(request))) }
}

@Test func `streams of all kinds share a walk, and each gets its own bytes`() throws {
  let broadcast = Broadcast(capacity: 1_000_000)
  try withServer(
    configure: { $0.eventLoops = 1 },
    handler: serve { _ in StreamBody(broadcast: broadcast, position: broadcast.end) }
  ) { server in
    // With frames and without, one beside the other.
    var clients = try (0..<50).map { _ in try RawClient(port: server.port) }
    for (number, client) in clients.enumerated() {
      let isFramed = number % 3 != 0
      _ = try client.begin(
        isFramed ? "GET / HTTP/1.1" : "GET / HTTP/1.0", host: isFramed ? "Host: a\r\n" : "")
    }
    for round in 0..<20 {
      broadcast.append("unit \(round);")
      for (number, client) in clients.enumerated() {
        let expected = "unit \(round);"
        let text =
          number % 3 != 0 ? try client.readText() : try client.read(through: expected)
        #expect(text == expected)
      }
      // The last one takes the place of one that leaves.
      let open = clients.count
      clients[round % 3].close()
      clients.remove(at: round % 3)
      clients.insert(try RawClient(port: server.port), at: round % 3)
      eventually { server.server.statistics.streamsOpen == open - 1 }
      let isFramed = round % 3 % 3 != 0
      _ = try clients[round % 3].begin(
        isFramed ? "GET / HTTP/1.1" : "GET / HTTP/1.0", host: isFramed ? "Host: a\r\n" : "")
    }
    let sent = server.server.statistics.bytesSent
    broadcast.append("12345")
    for client in clients { _ = try client.read(through: "12345") }
    eventually { server.server.statistics.bytesSent >= sent + 50 * 5 }
  }
}

@Test func `the loop does other things between two slices of streams that end`() throws {
  let (many, one) = (Broadcast(capacity: 1000), Broadcast(capacity: 1000))
  let ended = Atomic(0)
  let endedBefore = Mutex<Int?>(nil)
  try withServer(
    configure: { $0.eventLoops = 1 },
    handler: serve { request in
      if request.target == "/one" {
        return StreamBody(
          broadcast: one, position: one.end,
          onEnd: { endedBefore.withLock { $0 = ended.load(ordering: .relaxed) } })
      }
      return StreamBody(
        broadcast: many, position: many.end,
        farewell: {
          one.close()
          return []
        },
        onEnd: { ended.add(1, ordering: .relaxed) })
    }
  ) { server in
    let other = try RawClient(port: server.port)
    _ = try other.begin("GET /one HTTP/1.1")
    let clients = try (0..<300).map { _ in try RawClient(port: server.port) }
    for client in clients { _ = try client.begin() }
    many.close()
    for client in clients { #expect(try client.readText() == nil) }
    #expect(try other.readText() == nil)
    eventually { server.server.statistics.streamsOpen == 0 }
    let before = try #require(endedBefore.withLock { $0 })
    #expect(before < 200, "\(before) of 300 streams ended in one go")
  }
}
