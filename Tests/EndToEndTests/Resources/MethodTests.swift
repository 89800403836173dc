import RecordsAPI
import Testing

@Suite(.endToEnd) struct `Methods and versions` {
  private let fixture: ServerFixture
  private let client: HTTPClient

  private static let resources = [
    "/v1/queries/players/sections", "/v1/queries/players/sections/0",
    "/v1/queries/players/sections/0/records", "/v1/queries/players/sections/0/records/0",
    "/v1/queries/players/records", "/v1/queries/players/records/1",
    "/v1/queries/players/sectionIndexTitles", "/v1/queries/players/sectionIndexTitles/B",
  ]

  init() throws {
    fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    client = fixture.client()
  }

  @Test(arguments: resources)
  func `a resource has a version, and is not sent again to who has it`(path: String) throws {
    let first = try client.get(path)
    let tag = first.head["ETag"] ?? ""
    #expect(first.status == 200)
    #expect(first.head["Content-Type"] == "application/json")
    #expect(first.head["Content-Length"] == "\(first.body.count)")
    #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
    if let version = try first.json["version"].string {
      #expect(tag == "\"\(version.stateOfVersion)\"")
    }
    for condition in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
      let again = try client.get(path, ["If-None-Match: \(condition)"])
      #expect(again.status == 304, "\(condition)")
      #expect(again.head["ETag"] == tag)
      #expect(again.body.isEmpty)
    }
    for condition in ["\"x\"", "\(tag)x"] {
      #expect(try client.get(path, ["If-None-Match: \(condition)"]).status == 200, "\(condition)")
    }
    let follower = try fixture.follow("players")
    try fixture.writer().commit("UPDATE player SET score = 11 WHERE id = 1")
    _ = try follower.changes()
    let changed = try client.get(path, ["If-None-Match: \(tag)"])
    #expect(changed.status == 200)
    #expect(changed.head["ETag"] == "\"\(follower.model.version.stateOfVersion)\"")
  }

  /// RFC 9110 §13.1.1, §13.1.4.
  @Test(arguments: resources)
  func `a resource is not sent to who asks for another version of it`(path: String) throws {
    let tag = try client.get(path).head["ETag"] ?? ""
    for condition in [tag, "\"x\", \(tag)", "*"] {
      #expect(try client.get(path, ["If-Match: \(condition)"]).status == 200, "\(condition)")
    }
    for condition in ["\"x\"", "W/\(tag)"] {
      for method in ["GET", "HEAD"] {
        let refused = try client.send(method, path, ["If-Match: \(condition)"])
        #expect(refused.status == 412, "\(condition)")
        #expect(refused.head["Content-Type"] == "application/problem+json")
        #expect(refused.head["Cache-Control"] == "no-store")
        #expect(refused.head["ETag"] == tag)
      }
    }
    // A result has no date of modification, so that a condition on that is ignored.
    let date = "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT"
    #expect(try client.get(path, [date]).status == 200)
    #expect(try client.get(path, ["If-Match: \"x\"", "If-None-Match: \(tag)"]).status == 412)
  }

  @Test(arguments: ["/v1/queries", "/v1/queries/players", "/healthz", "/readyz", "/metrics"])
  func `a resource without a version has conditions too`(path: String) throws {
    #expect(try client.get(path, ["If-None-Match: *"]).status == 304)
    #expect(try client.get(path, ["If-None-Match: \"x\""]).status == 200)
    #expect(try client.get(path, ["If-Match: *"]).status == 200)
    #expect(try client.get(path, ["If-Match: \"x\""]).status == 412)
  }

  @Test(
    arguments: resources + ["/v1/queries", "/v1/queries/players", "/healthz", "/readyz"])
  func `HEAD is GET without a body`(path: String) throws {
    let get = try client.get(path)
    let head = try client.send("HEAD", path)
    #expect(head.status == 200)
    #expect(head.body.isEmpty)
    for name in ["Content-Type", "Content-Length", "ETag", "Cache-Control"] {
      #expect(head.head[name] == get.head[name], "\(name)")
    }
    let options = try client.send("OPTIONS", path)
    #expect(options.status == 204)
    #expect(options.head["Allow"] == "GET, HEAD, OPTIONS")
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
      let refused = try client.send(method, path)
      #expect(refused.status == 405, "\(method)")
      #expect(refused.head["Allow"] == "GET, HEAD, OPTIONS")
      #expect(refused.head["Content-Type"] == "application/problem+json")
    }
  }

  @Test(arguments: [
    ("/records?limit=0", 400), ("/records/99999", 404), ("/sections/77", 404),
    ("/sections/0/records/77", 404),
  ])
  func `a condition changes nothing about what is refused`(path: String, status: Int) throws {
    let tag = try #require(try client.get("/v1/queries/players/records").head["ETag"])
    let answer = try client.get("/v1/queries/players" + path, ["If-None-Match: \(tag)"])
    #expect(answer.status == status)
  }

  @Test func `fetch is POST`() throws {
    let path = "/v1/queries/players/fetch"
    #expect(try client.post(path).status == 200)
    let refused = try client.get(path)
    #expect(refused.status == 405)
    #expect(refused.head["Allow"] == "POST, OPTIONS")
    #expect(try client.send("OPTIONS", path).head["Allow"] == "POST, OPTIONS")
  }

  @Test func `HEAD of a stream is its head`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query) { $0.linger = .zero }
    let client = fixture.client()
    for path in ["/v1/queries/players/events", "/v1/events?query=players"] {
      let answer = try client.send("HEAD", path)
      #expect(answer.status == 200)
      #expect(answer.head["Content-Type"] == "text/event-stream")
      #expect(answer.head["Content-Length"] == nil)
      #expect(answer.body.isEmpty)
    }
    // It holds on to nothing.
    try eventually("no controllers") {
      try client.get("/v1/queries/players").json["controllers"] == []
    }
  }

  @Test func `OPTIONS of a stream lists what it allows`() throws {
    let answer = try client.send("OPTIONS", "/v1/events")
    #expect(answer.head["Allow"] == "GET, HEAD, OPTIONS")
    #expect(try client.post("/v1/queries/players/events").status == 405)
  }
}
