import HTTP1
import HTTPServer
import HTTPTypes
import Locks
import Testing

private let hello: Server.Handler = { request, responder in
  responder.respond(.ok, [.contentType: "text/plain"], body: .text("hello \(request.target)"))
}

@Test func `curl gets what the handler answers`() throws {
  try withServer(handler: hello) { server in
    let answer = Curl().fetch(server.url("/a?b=c"))
    #expect(answer.code == 0)
    #expect(answer.status == 200)
    #expect(answer.text == "hello /a?b=c")
    #expect(answer.head.contains("\r\nContent-Length: 12\r\n"))
    #expect(answer.head.contains("\r\nDate: "))
  }
}

@Test func `HEAD gets the head of GET and no body`() throws {
  try withServer(handler: hello) { server in
    let client = try RawClient(port: server.port)
    try client.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n")
    let response = try client.readResponse(isHead: true)
    #expect(response["content-length"] == "8")
    // The connection is still in step.
    #expect(try client.get("/b").text == "hello /b")
  }
}

@Test func `pipelined requests are answered in order, whatever the handlers' order`() throws {
  let held = Mutex<[(String, Responder)]>([])
  let allCame = Signal()
  try withServer(handler: { request, responder in
    let count = held.withLock { held in
      held.append((request.target, responder))
      return held.count
    }
    if count == 3 { allCame.fire() }
  }) { server in
    let client = try RawClient(port: server.port)
    try client.send(
      ["/1", "/2", "/3"].map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
    #expect(allCame.wait())
    for (target, responder) in held.withLock({ $0.reversed() }) {
      responder.respond(.ok, body: .text(target))
    }
    #expect(try client.readResponse().text == "/1")
    #expect(try client.readResponse().text == "/2")
    #expect(try client.readResponse().text == "/3")
  }
}

@Test func `a hundred pipelined requests are answered`() throws {
  try withServer(handler: hello) { server in
    let client = try RawClient(port: server.port)
    for round in 0..<3 {
      try client.send(
        (0..<100).map { "GET /\(round)/\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
      for index in 0..<100 {
        #expect(try client.readResponse().text == "hello /\(round)/\(index)")
      }
    }
  }
}

@Test func `a body is read over, of a length or in chunks`() throws {
  try withServer(handler: hello) { server in
    let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
    let form = ["Transfer-Encoding: chunked", "Expect:"]
    #expect(Curl(body: body).fetch(server.url("/a")).text == "hello /a")
    #expect(Curl(headers: form, body: body).fetch(server.url("/b")).text == "hello /b")
    // What follows it is the next request.
    let client = try RawClient(port: server.port)
    let zeros = String(repeating: "0", count: 200_000)
    try client.send("POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n\(zeros)")
    try client.send("POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    try client.send("30D40;a=\"b\"\r\n\(zeros)\r\n0\r\nA: b\r\n\r\n")
    #expect(try client.readResponse().text == "hello /1")
    #expect(try client.readResponse().text == "hello /2")
    #expect(try client.get("/3").text == "hello /3")
  }
}

@Test func `a client that expects 100-continue gets the answer instead`() throws {
  try withServer(handler: { request, responder in
    responder.respond(request.target == "/405" ? .methodNotAllowed : .ok, body: .text("said"))
  }) { server in
    for (path, status) in [("/405", 405), ("/", 200)] {
      let client = try RawClient(port: server.port)
      try client.send(
        "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
      let response = try client.readResponse()
      #expect(response.status == status)
      #expect(response["connection"] == "close")
      #expect(response.text == "said")
      // Whether the body is sent or not: no byte after the answer is another answer.
      try client.send("hello")
      #expect(try client.readToEnd() == "")
      // libcurl waits for a second for the 100, unless it is told something.
      let curl = Curl(headers: ["Expect: 100-continue"], body: [UInt8](repeating: 1, count: 100))
      let answer = curl.fetch(server.url(path))
      #expect(answer.code == 0)
      #expect(answer.status == status)
      #expect(answer.text == "said")
      #expect(!answer.head.contains(" 100 "))
    }
  }
}

@Test func `a refusal of HEAD has no body`() throws {
  try withServer(handler: { request, responder in
    responder.respond(Problem.response(Problem(.notFound, "nothing")))
  }) { server in
    for (text, status) in [
      ("HEAD / HTTP/1.1\r\nHost: a b\r\n\r\n", 400), ("HEAD / HTTP/3.0\r\nHost: a\r\n\r\n", 505),
      ("HEAD / HTTP/1.1\r\nHost: a\r\nExpect: cake\r\nConnection: close\r\n\r\n", 417),
      ("HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n", 413),
      ("HEAD /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 400),
      ("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404),
    ] {
      let client = try RawClient(port: server.port)
      try client.send(text)
      let response = try client.readResponse(isHead: true)
      #expect(response.status == status)
      #expect(response["content-type"] == "application/problem+json")
      #expect(try client.readToEnd() == "", "\(text)")
    }
  }
}

@Test func `a request that is refused for its expectation is told so before it sends its body`()
  throws
{
  try withServer(handler: hello) { server in
    let client = try RawClient(port: server.port)
    try client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: cake\r\nContent-Length: 5\r\n\r\n")
    let response = try client.readResponse()
    #expect(response.status == 417)
    #expect(response["connection"] == "close")
  }
}

@Test func `no answer is taken for another type than it says`() throws {
  try withServer(
    configure: { $0.maximumConnectionsPerAddress = 2 },
    handler: { request, responder in
      let broadcast = Broadcast(capacity: 1000)
      switch request.target {
      case "/stream":
        responder.respond(
          .ok, body: .stream(StreamBody(broadcast: broadcast, position: broadcast.end)))
      case "/none": responder.respond(.noContent)
      case "/problem": responder.respond(Problem.response(Problem(.notFound, "nothing")))
      default: responder.respond(.ok, [.eTag: "\"a\"", .date: "then"], body: .text("hello"))
      }
    }
  ) { server in
    let client = try RawClient(port: server.port)
    for path in ["/", "/none", "/problem", "/%zz"] {
      #expect(try client.get(path)["x-content-type-options"] == "nosniff", "\(path)")
    }
    let unchanged = try client.get("/", "If-None-Match: \"a\"")
    #expect(unchanged.status == 304)
    #expect(unchanged["x-content-type-options"] == "nosniff")
    try client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try client.readHead()["x-content-type-options"] == "nosniff")
    let malformed = try RawClient(port: server.port)
    try malformed.send("nonsense\r\n")
    #expect(try malformed.readResponse()["x-content-type-options"] == "nosniff")
    let oneTooMany = try RawClient(port: server.port)
    let refused = try oneTooMany.readResponse()
    #expect(refused.status == 503)
    #expect(refused["x-content-type-options"] == "nosniff")
    #expect(refused["cache-control"] == "no-store")
  }
}

@Test func `a body that is too large is refused before it is sent`() throws {
  try withServer(handler: hello) { server in
    let client = try RawClient(port: server.port)
    try client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n")
    let response = try client.readResponse()
    #expect(response.status == 413)
    #expect(response["connection"] == "close")
    #expect(response["content-type"] == "application/problem+json")
    #expect(try client.readToEnd() == "")
  }
}

@Test func `the client can read why it was refused although it goes on sending`() throws {
  try withServer(handler: hello) { server in
    let client = try RawClient(port: server.port)
    try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n")
    // Without a lingering close the kernel would answer these with a reset.
    for _ in 0..<20 { try client.send([UInt8](repeating: 97, count: 50_000)) }
    #expect(try client.readResponse().status == 413)
  }
}

@Test func `HTTP 1_0 closes, or keeps the connection when asked`() throws {
  try withServer(handler: hello) { server in
    let closing = try RawClient(port: server.port)
    try closing.send("GET /a HTTP/1.0\r\n\r\n")
    #expect(try closing.readResponse()["connection"] == "close")
    #expect(try closing.readToEnd() == "")
    let keeping = try RawClient(port: server.port)
    for _ in 0..<2 {
      try keeping.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      #expect(try keeping.readResponse()["connection"] == "keep-alive")
    }
    try keeping.send("GET /a HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n")
    #expect(try keeping.readResponse()["connection"] == "close")
    #expect(try keeping.readToEnd() == "")
    #expect(Curl(isHTTP10: true).fetch(server.url("/a")).text == "hello /a")
  }
}

@Test func `nothing after a request with close is a request`() throws {
  try withServer(handler: hello) { server in
    let client = try RawClient(port: server.port)
    try client.send(
      "GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try client.readResponse().text == "hello /1")
    #expect(try client.readToEnd() == "")
  }
}

@Test func `a client that has shut down its side still gets its answers`() throws {
  try withServer(handler: hello) { server in
    let client = try RawClient(port: server.port)
    try client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
    client.shutdownWrite()
    #expect(try client.readResponse().text == "hello /1")
    #expect(try client.readResponse().text == "hello /2")
    #expect(try client.readToEnd() == "")
  }
}

@Test func `a malformed request is answered and the connection closed`() throws {
  try withServer(handler: hello) { server in
    let client = try RawClient(port: server.port)
    try client.send("GET /ok HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/3.0\r\nHost: a\r\n\r\n")
    #expect(try client.readResponse().status == 200)
    #expect(try client.readResponse().status == 505)
    #expect(try client.readToEnd() == "")
  }
}

@Test func `a malformed target does not cost the connection`() throws {
  try withServer(handler: hello) { server in
    let client = try RawClient(port: server.port)
    #expect(try client.get("/%zz").status == 400)
    #expect(try client.get("/a").status == 200)
  }
}

@Test func `a responder that is dropped answers 500`() throws {
  try withServer(handler: { _, _ in }) { server in
    #expect(Curl().fetch(server.url("/")).status == 500)
    #expect(server.log.count == 1)
  }
}

@Test func `a second answer is dropped`() throws {
  try withServer(handler: { _, responder in
    responder.respond(.ok, body: .text("first"))
    responder.respond(.ok, body: .text("second"))
  }) { server in
    let client = try RawClient(port: server.port)
    #expect(try client.get("/").text == "first")
    #expect(try client.get("/").text == "first")
  }
}

@Test func `a large body is written as the client reads`() throws {
  let body = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
  try withServer(handler: { _, responder in responder.respond(.ok, body: .bytes(body)) }) {
    server in
    #expect(Curl().fetch(server.url("/")).body == body)
  }
}

@Test func `IPv6 is served`() throws {
  try withServer(
    configure: { $0.host = "::1" }, handler: hello
  ) { server in
    let client = try RawClient(port: server.port, isIPv6: true)
    #expect(try client.get("/a").text == "hello /a")
    #expect(Curl().fetch(server.url("/b")).text == "hello /b")
  }
}

@Test func `the handler sees who asks`() throws {
  try withServer(handler: { request, responder in
    responder.respond(.ok, body: .text(request.remoteAddress.host))
  }) { server in
    #expect(Curl().fetch(server.url("/")).text == "127.0.0.1")
  }
}
