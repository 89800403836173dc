import HTTP1
import HTTPServer
import HTTPTypes
import Locks
import Testing

/// What an observer was told.
private final class Told: Sendable {
  private let all = Mutex<[FinishedExchange]>([])
  var exchanges: [FinishedExchange] { all.withLock { $0 } }
  func note(_ exchange: FinishedExchange) { all.withLock { $0.append(exchange) } }
}

@Test func `an observer is told of each exchange once, when it is over`() throws {
  let told = Told()
  var router = Router()
  router.on(.get, "/a/{b}") { _, responder in responder.respond(.ok, body: .text("hello")) }
  let routes = router
  try withServer(
    configure: { $0.observer = { told.note($0) } }, handler: { routes.handle($0, $1) }
  ) { server in
    let client = try RawClient(port: server.port)
    _ = try client.get("/a/1?x=y", "User-Agent: test", "Referer: http://b/")
    _ = try client.get("/none")
    try client.send("HEAD /a/2 HTTP/1.0\r\n\r\n")
    _ = try client.readResponse(isHead: true)
    let broken = try RawClient(port: server.port)
    try broken.send("nonsense\r\n\r\n")
    _ = try broken.readResponse()
    eventually { told.exchanges.count == 4 }
    let exchanges = told.exchanges
    #expect(exchanges.map(\.status) == [200, 404, 200, 400])
    #expect(exchanges.map(\.client) == Array(repeating: "127.0.0.1", count: 4))
    #expect(exchanges.allSatisfy { $0.isComplete && $0.duration < .seconds(10) })
    #expect(exchanges.map { $0.request?.target } == ["/a/1?x=y", "/none", "/a/2", nil])
    #expect(exchanges.map { $0.route?.name } == ["/a/{b}", nil, "/a/{b}", nil])
    #expect(exchanges.map(\.bytes)[0] == 5)
    #expect(exchanges.map(\.bytes)[2] == 0)
    #expect(exchanges[0].request?.userAgent == "test")
    #expect(exchanges[0].request?.referer == "http://b/")
    #expect(exchanges[2].request?.version == .http10)
    let answers = server.server.statistics.answers
    #expect(answers.values.reduce(0) { $0 + $1.count } == 4)
    #expect(answers.contains { $0.key.route?.name == "/a/{b}" && $0.value.count == 2 })
  }
}

@Test func `a stream and an answer that a client does not wait for are told of too`() throws {
  let told = Told()
  let broadcast = Broadcast(capacity: 1000)
  let kept = Mutex<[Responder]>([])
  try withServer(
    configure: { $0.observer = { told.note($0) } },
    handler: { request, responder in
      if request.target == "/never" { return kept.withLock { $0.append(responder) } }
      responder.respond(
        .ok, body: .stream(StreamBody(broadcast: broadcast, position: broadcast.end)))
    }
  ) { server in
    let stream = try RawClient(port: server.port)
    _ = try stream.begin()
    broadcast.append("12345")
    _ = try stream.readText()
    #expect(told.exchanges.map(\.phase) == [.begin])
    stream.close()
    eventually { told.exchanges.count == 2 }
    #expect(told.exchanges.map(\.phase) == [.begin, .end])
    #expect(told.exchanges.map(\.isComplete) == [false, false])
    // With the frame of its chunk.
    #expect(told.exchanges.map(\.bytes) == [0, 10])
    let never = try RawClient(port: server.port)
    try never.send("GET /never HTTP/1.1\r\nHost: a\r\n\r\n")
    eventually { kept.withLock { $0.count } == 1 }
    never.close()
    kept.withLock { $0.removeAll() }
    eventually { told.exchanges.count == 3 }
    #expect(told.exchanges.last?.phase == .whole)
    #expect([499, 500].contains(told.exchanges.last?.status))
  }
}

@Test func `a histogram counts what takes at most as long`() {
  var histogram = Histogram()
  histogram.record(.microseconds(50))
  histogram.record(.microseconds(51))
  histogram.record(.milliseconds(30))
  histogram.record(.seconds(100))
  let cumulative = histogram.cumulative
  #expect(cumulative.first?.bound == 0.00005)
  #expect(
    cumulative.map(\.count) == [1] + Array(repeating: 2, count: 8) + Array(repeating: 3, count: 7))
  #expect(histogram.count == 4)
  #expect(abs(histogram.sum - 100.030101) < 1e-9)
  let twice = histogram + histogram
  #expect(twice.count == 8)
  #expect(twice.cumulative.last?.count == 6)
}

@Test func `an address has only so many connections`() throws {
  try withServer(
    configure: { $0.maximumConnectionsPerAddress = 2 },
    handler: { _, responder in responder.respond(.ok) }
  ) { server in
    let first = try RawClient(port: server.port)
    #expect(try first.get("/").status == 200)
    let second = try RawClient(port: server.port)
    #expect(try second.get("/").status == 200)
    let third = try RawClient(port: server.port)
    let refused = try third.readResponse()
    #expect(refused.status == 503)
    #expect(refused["connection"] == "close")
    #expect(refused.text.contains("detail"))
    #expect(try third.readToEnd() == "")
    #expect(server.server.statistics.connectionsRefused == 1)
    #expect(server.log.contains { $0.contains("127.0.0.1 has too many connections") })
    second.close()
    eventually { server.server.statistics.connectionsOpen == 1 }
    #expect(try RawClient(port: server.port).get("/").status == 200)
    #expect(try first.get("/").status == 200)
  }
}

@Test func `proxies have as many connections as there are`() throws {
  try withServer(
    configure: {
      $0.maximumConnectionsPerAddress = 1
      $0.trustedProxies = ["127.0.0.0/8"].compactMap { AddressRange($0) }
    },
    handler: { _, responder in responder.respond(.ok) }
  ) { server in
    let clients = try (0..<5).map { _ in try RawClient(port: server.port) }
    for client in clients { #expect(try client.get("/").status == 200) }
  }
}

@Test func `each stream of a closed broadcast has a farewell of its own`() throws {
  let broadcast = Broadcast(capacity: 1000)
  let number = Mutex(0)
  let farewell: @Sendable () -> [UInt8] = {
    number.withLock { number in
      number += 1
      return Array("bye \(number)".utf8)
    }
  }
  try withServer(handler: { _, responder in
    responder.respond(
      .ok,
      body: .stream(
        StreamBody(broadcast: broadcast, position: broadcast.end, farewell: farewell)))
  }) { server in
    let clients = try (0..<3).map { _ in try RawClient(port: server.port) }
    for client in clients { _ = try client.begin() }
    broadcast.append("last")
    broadcast.close()
    var farewells: Set<String> = []
    for client in clients {
      #expect(try client.readText() == "last")
      farewells.insert(try client.readText() ?? "")
      #expect(try client.readText() == nil)
    }
    #expect(farewells == ["bye 1", "bye 2", "bye 3"])
  }
}
