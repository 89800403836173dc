import RecordsAPI
import Testing

@Suite(.endToEnd) struct `What answers say of themselves` {
  private let fixture: ServerFixture
  private let client: HTTPClient

  init() throws {
    fixture = try ServerFixture(
      Teams.schema, queries: Teams.query, service: { $0.crossOrigin = .everyone })
    client = fixture.client()
  }

  @Test(arguments: [
    ("/v1/queries", "no-cache"), ("/v1/queries/players", "no-cache"),
    ("/v1/queries/players/records", "no-cache"), ("/v1/queries/players/sections", "no-cache"),
    ("/metrics", "no-store"), ("/healthz", "no-store"), ("/readyz", "no-store"),
    ("/v1/queries/none", "no-store"), ("/v1/queries/players/records/99", "no-store"),
    ("/v1/queries/players/records?limit=0", "no-store"), ("/nothing", "no-store"),
    ("/v1/queries/none/events?lastEventId=a", "no-store"),
  ])
  func `is how long they may be kept, and that they are what they say`(
    path: String, cacheControl: String
  ) throws {
    for method in ["GET", "HEAD"] {
      let answer = try client.send(method, path)
      #expect(answer.head["Cache-Control"] == cacheControl, "\(method)")
      #expect(answer.head["X-Content-Type-Options"] == "nosniff", "\(method)")
    }
  }

  @Test func `is the same of streams, preflights, and what was fetched`() throws {
    for path in ["/v1/queries/players/events", "/v1/events?query=players", "/v1/selftest"] {
      let head = try fixture.stream(path).head()
      #expect(head["Cache-Control"] == "no-cache, no-transform")
      #expect(head["X-Content-Type-Options"] == "nosniff")
    }
    let preflight = try client.send(
      "OPTIONS", "/v1/queries",
      ["Origin: https://a.example", "Access-Control-Request-Method: GET"])
    #expect(preflight.head["X-Content-Type-Options"] == "nosniff")
    let fetched = try client.post("/v1/queries/players/fetch")
    #expect(fetched.head["Cache-Control"] == "no-cache")
    #expect(fetched.head["X-Content-Type-Options"] == "nosniff")
  }

  @Test func `is who may read why a condition failed`() throws {
    let refused = try client.get(
      "/v1/queries/players/records", ["Origin: https://a.example", "If-Match: \"x\""])
    #expect(refused.status == 412)
    #expect(refused.head["Access-Control-Allow-Origin"] == "*")
    #expect(refused.head["Access-Control-Expose-Headers"]?.contains("ETag") == true)
  }
}
