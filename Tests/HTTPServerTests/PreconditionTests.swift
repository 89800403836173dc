import HTTP1
import HTTPServer
import HTTPTypes
import Testing

/// Resources with both validators, with one, and with none.
private let resources: Server.Handler = { request, responder in
  let fields: HTTPFields
  switch request.path.first {
  case "both": fields = [.eTag: "\"b\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"]
  case "tag": fields = [.eTag: "\"t\""]
  case "none": fields = [:]
  case "vary": fields = [.eTag: "\"v\"", .vary: "Origin", .cacheControl: "public, max-age=60"]
  default: return responder.respond(Problem.response(Problem(.notFound, "nothing")))
  }
  responder.respond(.ok, fields.merging([.contentType: "a/b"]), body: .text("hello"))
}

extension HTTPFields {
  fileprivate func merging(_ others: HTTPFields) -> HTTPFields {
    var result = self
    for field in others { result.append(field) }
    return result
  }
}

private let (before, same, after) = (
  "Sun, 06 Nov 1994 08:49:36 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT"
)

@Test(
  arguments: [
    // RFC 9110 §13.1.1
    ("/both", ["If-Match: \"b\""], 200),
    ("/both", ["If-Match: *"], 200),
    ("/both", ["If-Match: \"x\",\t\"b\" "], 200),
    ("/both", ["If-Match: \"x\"", "If-Match: \"b\""], 200),
    ("/both", ["If-Match: \"x\""], 412),
    ("/both", ["If-Match: W/\"b\""], 412),
    ("/both", ["If-Match: b"], 412),
    ("/both", ["If-Match:"], 412),
    ("/none", ["If-Match: *"], 200),
    ("/none", ["If-Match: \"x\""], 412),
    // §13.1.4
    ("/both", ["If-Unmodified-Since: \(before)"], 412),
    ("/both", ["If-Unmodified-Since: \(same)"], 200),
    ("/both", ["If-Unmodified-Since: \(after)"], 200),
    ("/both", ["If-Unmodified-Since: Sunday, 06-Nov-94 08:49:36 GMT"], 412),
    ("/both", ["If-Unmodified-Since: yesterday"], 200),
    ("/both", ["If-Unmodified-Since: \(before)", "If-Unmodified-Since: \(before)"], 200),
    ("/tag", ["If-Unmodified-Since: \(before)"], 200),
    ("/none", ["If-Unmodified-Since: \(before)"], 200),
    // §13.1.2
    ("/both", ["If-None-Match: \"b\""], 304),
    ("/both", ["If-None-Match: W/\"b\""], 304),
    ("/both", ["If-None-Match: \"x\""], 200),
    ("/both", ["If-None-Match: *"], 304),
    ("/none", ["If-None-Match: *"], 304),
    ("/none", ["If-None-Match: \"x\""], 200),
    // §13.1.3
    ("/both", ["If-Modified-Since: \(before)"], 200),
    ("/both", ["If-Modified-Since: \(same)"], 304),
    ("/both", ["If-Modified-Since: \(after)"], 304),
    ("/tag", ["If-Modified-Since: \(after)"], 200),
    // §13.2.2
    ("/both", ["If-Match: \"b\"", "If-Unmodified-Since: \(before)"], 200),
    ("/both", ["If-Match: \"x\"", "If-Unmodified-Since: \(after)"], 412),
    ("/both", ["If-Match: \"x\"", "If-None-Match: \"b\""], 412),
    ("/both", ["If-Match: \"b\"", "If-None-Match: \"b\""], 304),
    ("/both", ["If-Unmodified-Since: \(before)", "If-None-Match: \"b\""], 412),
    ("/both", ["If-None-Match: \"x\"", "If-Modified-Since: \(after)"], 200),
    // §13.2.1
    ("/nothing", ["If-Match: \"x\""], 404),
    ("/nothing", ["If-None-Match: *"], 404),
  ] as [(String, [String], Int)]) func `conditions are held against what would be answered`(
    path: String, conditions: [String], status: Int
  ) throws
{
  try withServer(handler: resources) { server in
    let client = try RawClient(port: server.port)
    for method in ["GET", "HEAD"] {
      let lines = ["\(method) \(path) HTTP/1.1", "Host: a"] + conditions
      try client.send(lines.map { $0 + "\r\n" }.joined() + "\r\n")
      let response = try client.readResponse(isHead: method == "HEAD")
      #expect(response.status == status, "\(method)")
      if status == 304 {
        #expect(response["content-type"] == nil)
        #expect(response["content-length"] == nil)
      }
    }
    // What does not select anything has no conditions (§13.2.1).
    for method in ["POST", "OPTIONS"] {
      let lines = ["\(method) \(path) HTTP/1.1", "Host: a"] + conditions
      try client.send(lines.map { $0 + "\r\n" }.joined() + "\r\n")
      #expect(try client.readResponse().status == (path == "/nothing" ? 404 : 200))
    }
  }
}

@Test func `a failed condition says what there is, and what may read it`() throws {
  try withServer(handler: resources) { server in
    let client = try RawClient(port: server.port)
    let refused = try client.get("/vary", "If-Match: \"x\"")
    #expect(refused.status == 412)
    #expect(refused["content-type"] == "application/problem+json")
    #expect(refused["etag"] == "\"v\"")
    #expect(refused["vary"] == "Origin")
    // What may be kept is the answer, not this.
    #expect(refused["cache-control"] == "no-store")
    #expect(refused.text.contains("If-Match"))
    let unchanged = try client.get("/vary", "If-None-Match: \"v\"")
    #expect(unchanged["vary"] == "Origin")
    #expect(unchanged["cache-control"] == "public, max-age=60")
  }
}

@Test func `a stream that a condition keeps from beginning is over`() throws {
  let ended = Signal()
  let broadcast = Broadcast(capacity: 1000)
  try withServer(handler: { _, responder in
    responder.respond(
      .ok,
      body: .stream(
        StreamBody(broadcast: broadcast, position: broadcast.end, onEnd: { ended.fire() })))
  }) { server in
    let client = try RawClient(port: server.port)
    for (condition, status) in [("If-None-Match: *", 304), ("If-Match: \"x\"", 412)] {
      #expect(try client.get("/", condition).status == status)
      #expect(ended.wait())
    }
    #expect(ended.count == 2)
  }
}
