import HTTPServer
import RecordsAPI
import Testing

@Suite(.endToEnd) struct `What may be asked for` {
  @Test func `is what the client accepts`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    let client = fixture.client()
    let types = [
      "/v1/queries": "application/json", "/v1/queries/players": "application/json",
      "/v1/queries/players/records": "application/json", "/metrics": "text/plain",
      "/readyz": "text/plain", "/v1/queries/players/events": "text/event-stream",
      "/v1/events?query=players": "text/event-stream",
    ]
    for (path, type) in types {
      let refused = try client.get(path, ["Accept: image/png, text/html;q=0.5"])
      #expect(refused.status == 406, "\(path)")
      #expect(refused.head["Content-Type"] == "application/problem+json")
      #expect(try refused.json["detail"].string?.contains(type) == true)
      if type != "text/event-stream" {
        #expect(try client.get(path, ["Accept: \(type)"]).status == 200, "\(path)")
        #expect(try client.get(path, ["Accept: text/html, */*;q=0.1"]).status == 200, "\(path)")
      }
    }
    let stream = fixture.stream(
      "/v1/queries/players/events", .init(fields: ["Accept: text/event-stream"]))
    #expect(try stream.next()?.type == "snapshot")
  }

  @Test(arguments: [
    "/v1/queries/players/records?limit=1&limit=2", "/v1/queries/players?limit=1",
    "/v1/queries/players?a=1&a=2", "/v1/queries?a=1", "/v1/events?query=players&query=players",
    "/v1/events?query=players&snapshot=1&snapshot=1",
  ])
  func `is said once, and understood`(path: String) throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    let answer = try fixture.get(path)
    #expect(answer.status == 400)
    #expect(answer.head["Content-Type"] == "application/problem+json")
  }
}

@Suite(.endToEnd) struct `A page of another origin` {
  private func fixture(_ policy: CrossOrigin?) throws -> ServerFixture {
    try ServerFixture(
      Teams.schema, queries: Teams.query, service: { $0.crossOrigin = policy })
  }

  private let origin = "Origin: https://a.example"
  private let path = "/v1/queries/players/records"

  @Test func `reads nothing unless it is configured`() throws {
    let fixture = try fixture(nil)
    let client = fixture.client()
    #expect(try client.get(path, [origin]).head["Access-Control-Allow-Origin"] == nil)
    let options = try client.send(
      "OPTIONS", path, [origin, "Access-Control-Request-Method: GET"])
    #expect(options.status == 204)
    #expect(options.head["Access-Control-Allow-Methods"] == nil)
  }

  @Test func `reads what it may`() throws {
    let fixture = try fixture(.origins(["https://a.example"]))
    let client = fixture.client()
    let answer = try client.get(path, [origin])
    #expect(answer.status == 200)
    #expect(answer.head["Access-Control-Allow-Origin"] == "https://a.example")
    #expect(answer.head.members("Vary") == ["accept", "origin"])
    #expect(answer.head["Access-Control-Expose-Headers"]?.contains("ETag") == true)
    let other = try client.get(path, ["Origin: https://b.example"])
    #expect(other.status == 200)
    #expect(other.head["Access-Control-Allow-Origin"] == nil)
    #expect(other.head.members("Vary") == ["accept", "origin"])
    // What is asked for without an origin must not be taken from a cache by a page.
    for path in [path, "/v1/queries/none", "/healthz"] {
      let plain = try client.get(path)
      #expect(plain.head.members("Vary").contains("origin"))
      #expect(plain.head["Access-Control-Allow-Origin"] == nil)
    }
    let options = try client.send("OPTIONS", path, ["Access-Control-Request-Method: GET"])
    #expect(options.head["Allow"] == "GET, HEAD, OPTIONS")
    // Errors too: else the page could not show them.
    let missing = try client.get("/v1/queries/none", [origin])
    #expect(missing.status == 404)
    #expect(missing.head["Access-Control-Allow-Origin"] == "https://a.example")
    let stream = fixture.stream("/v1/queries/players/events", .init(fields: [origin]))
    #expect(try stream.head()["Access-Control-Allow-Origin"] == "https://a.example")
    #expect(try stream.next()?.type == "snapshot")
  }

  @Test func `is told before it asks`() throws {
    let fixture = try fixture(.everyone)
    let client = fixture.client()
    let preflight = try client.send(
      "OPTIONS", path,
      [
        origin, "Access-Control-Request-Method: GET",
        "Access-Control-Request-Headers: last-event-id",
      ])
    #expect(preflight.status == 204)
    #expect(preflight.head["Access-Control-Allow-Origin"] == "*")
    #expect(preflight.head["Access-Control-Allow-Methods"] == "GET, HEAD, POST")
    #expect(preflight.head["Access-Control-Allow-Headers"]?.contains("Last-Event-ID") == true)
    #expect(preflight.head["Access-Control-Allow-Credentials"] == nil)
    // Where everyone may, nothing depends on who asks.
    #expect(try client.get(path).head["Vary"] == "Accept")
    // Without the question it is an OPTIONS like any other.
    #expect(try client.send("OPTIONS", path, [origin]).head["Allow"] == "GET, HEAD, OPTIONS")
  }
}
