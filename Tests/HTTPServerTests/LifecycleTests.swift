import HTTP1
import HTTPServer
import HTTPTypes
import Locks
import Testing

private let hello: Server.Handler = { request, responder in
  responder.respond(.ok, body: .text("hello"))
}

@Test func `a stop closes idle connections and answers what is in flight`() throws {
  let held = Mutex<Responder?>(nil)
  let came = Signal()
  let server = try TestServer(configure: { _ in }) { request, responder in
    if request.target == "/now" { return responder.respond(.ok) }
    held.withLock { $0 = responder }
    came.fire()
  }
  let idle = try RawClient(port: server.port)
  #expect(try idle.get("/now").status == 200)
  let silent = try RawClient(port: server.port)
  let busy = try RawClient(port: server.port)
  try busy.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
  #expect(came.wait())
  let isOver = Signal()
  server.server.shutdown(timeout: .seconds(30)) { isOver.fire() }
  #expect(try idle.readToEnd() == "")
  #expect(try silent.readToEnd() == "")
  // Nobody is let in any more.
  eventually { (try? RawClient(port: server.port)) == nil }
  #expect(isOver.count == 0)
  let responder = held.withLock { held in held.take() }
  responder?.respond(.ok, body: .text("late"))
  let response = try busy.readResponse()
  #expect(response.text == "late")
  #expect(response["connection"] == "close")
  #expect(isOver.wait())
}

@Test func `streams end after a whole unit when their owner ends them`() throws {
  let broadcast = Broadcast(capacity: 1000)
  let server = try TestServer(configure: { $0.eventLoops = 2 }) { _, responder in
    responder.respond(
      .ok, body: .stream(StreamBody(broadcast: broadcast, position: broadcast.end)))
  }
  let clients = try (0..<20).map { _ in try RawClient(port: server.port) }
  for client in clients { _ = try client.begin() }
  broadcast.append("a;")
  let isOver = Signal()
  server.server.shutdown(timeout: .seconds(30)) { isOver.fire() }
  broadcast.append("b;")
  broadcast.append("retry;")
  broadcast.close()
  for client in clients {
    #expect(try client.readToEnd().hasSuffix("\r\n2\r\nb;\r\n6\r\nretry;\r\n0\r\n\r\n"))
  }
  #expect(isOver.wait())
}

@Test func `what does not end is closed at the deadline`() throws {
  let ended = Signal()
  let broadcast = Broadcast(capacity: 1000)
  let server = try TestServer(configure: { _ in }) { request, responder in
    responder.respond(
      .ok,
      body: .stream(
        StreamBody(broadcast: broadcast, position: broadcast.end, onEnd: { ended.fire() })))
  }
  let client = try RawClient(port: server.port)
  _ = try client.begin()
  #expect(!server.stop(timeout: .milliseconds(100)))
  #expect(ended.wait())
  #expect(client.isAtEnd || (try? client.readToEnd()) != nil)
}

@Test func `a server that has stopped can be stopped again`() throws {
  let server = try TestServer(configure: { _ in }, handler: hello)
  #expect(server.stop(timeout: .seconds(10)))
  #expect(server.stop(timeout: .seconds(10)))
}

@Test func `a server is started once, and not on a port that is taken`() throws {
  try withServer(handler: hello) { server in
    #expect(throws: ServerError.alreadyStarted) { try server.server.start() }
    #expect(throws: ServerError.self) {
      try TestServer(configure: { $0.port = server.port }, handler: hello)
    }
    #expect(throws: ServerError.self) {
      try TestServer(configure: { $0.host = "no.such.host.invalid" }, handler: hello)
    }
  }
}

@Test func `a name with several addresses is listened on under one port`() throws {
  try withServer(configure: { $0.host = "localhost" }, handler: hello) { server in
    #expect(Curl().fetch(server.url("/")).text == "hello")
    let response = try RawClient(port: server.port).get("/")
    #expect(response.text == "hello")
  }
}

@Test func `a client is told that its head was slow`() throws {
  try withServer(configure: { $0.timeouts.head = .milliseconds(150) }, handler: hello) { server in
    let client = try RawClient(port: server.port)
    try client.send("GET / HTTP/1.1\r\n")
    #expect(try client.readResponse().status == 408)
    #expect(try client.readToEnd() == "")
    let silent = try RawClient(port: server.port)
    #expect(try silent.readToEnd() == "")
  }
}

@Test func `a client is told that its body was slow`() throws {
  try withServer(configure: { $0.timeouts.body = .milliseconds(150) }, handler: hello) { server in
    let client = try RawClient(port: server.port)
    try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
    #expect(try client.readResponse().status == 408)
    #expect(try client.readToEnd() == "")
  }
}

@Test func `an idle client finds its connection closed`() throws {
  try withServer(configure: { $0.timeouts.idle = .milliseconds(150) }, handler: hello) { server in
    let client = try RawClient(port: server.port)
    #expect(try client.get("/").status == 200)
    #expect(try client.readToEnd() == "")
  }
}

@Test func `an idle time longer than the timers' wheel passes too`() throws {
  try withServer(
    configure: {
      // The wheel is round after 1023 of these: 20 ms.
      $0.timeouts.lateness = .microseconds(20)
      $0.timeouts.idle = .milliseconds(150)
    }, handler: hello
  ) { server in
    let client = try RawClient(port: server.port)
    #expect(try client.get("/").status == 200)
    #expect(try client.readToEnd() == "")
  }
}

@Test func `a client that does not close after an error is not waited for`() throws {
  try withServer(configure: { $0.timeouts.linger = .milliseconds(100) }, handler: hello) { server in
    let client = try RawClient(port: server.port)
    try client.send("nonsense\r\n")
    #expect(try client.readResponse().status == 400)
    #expect(try client.readToEnd() == "")
    eventually { server.server.statistics.connectionsOpen == 0 }
  }
}

@Test func `accepting pauses while there are too many connections`() throws {
  try withServer(configure: { $0.maximumConnections = 2 }, handler: hello) { server in
    let first = try RawClient(port: server.port)
    #expect(try first.get("/").status == 200)
    let second = try RawClient(port: server.port)
    #expect(try second.get("/").status == 200)
    let third = try RawClient(port: server.port)
    try third.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    eventually { server.server.statistics.acceptPauses > 0 }
    // Those that are open live on.
    #expect(try first.get("/").status == 200)
    #expect(try !third.readMore(milliseconds: 0))
    second.close()
    #expect(try third.readResponse().status == 200)
  }
}

@Test func `the counters add up`() throws {
  try withServer(
    configure: { $0.eventLoops = 2 },
    handler: { request, responder in
      responder.respond(request.target == "/" ? .ok : .notFound)
    }
  ) { server in
    let clients = try (0..<4).map { _ in try RawClient(port: server.port) }
    // They close with their last reference, which a release build drops after the loop.
    defer { withExtendedLifetime(clients) {} }
    for client in clients {
      #expect(try client.get("/").status == 200)
      #expect(try client.get("/a").status == 404)
    }
    let counters = server.server.statistics
    #expect(counters.connectionsAccepted == 4)
    #expect(counters.connectionsOpen == 4)
    let responses = counters.answers.reduce(into: [:]) {
      $0[$1.key.status, default: 0] += $1.value.count
    }
    #expect(responses == [200: 4, 404: 4])
    #expect(counters.bytesReceived == 4 * (27 + 28))
  }
}
