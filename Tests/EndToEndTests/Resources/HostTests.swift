import HTTPServer
import RecordsAPI
import Testing

@Suite(.endToEnd) struct `A server with names` {
  private let path = "/v1/queries/players/records"

  private func fixture(_ hosts: [String]?) throws -> ServerFixture {
    try ServerFixture(
      Teams.schema, queries: Teams.query,
      service: {
        $0.hosts = hosts.map(HostNames.init)
        $0.crossOrigin = .everyone
        $0.server.trustedProxies = [AddressRange("127.0.0.1")].compactMap { $0 }
      })
  }

  @Test func `answers to any where none are listed`() throws {
    let fixture = try fixture(nil)
    #expect(try fixture.client().get(path, ["Host: evil.example"]).status == 200)
  }

  @Test func `answers to these`() throws {
    let fixture = try fixture(["Example.org", "a.example:8080", "b.example:80", "[::1]"])
    let client = fixture.client()
    for host in [
      "example.org", "EXAMPLE.ORG:123", "a.example:8080", "b.example", "b.example:80", "[::1]:9",
    ] {
      #expect(try client.get(path, ["Host: \(host)"]).status == 200, "\(host)")
    }
  }

  @Test func `refuses others`() throws {
    let fixture = try fixture(["localhost", "a.example:8080", "b.example:80"])
    let client = fixture.client()
    for host in [
      "evil.example", "a.example", "a.example:80", "localhost.evil.example", "localhost.",
      "127.0.0.1",
      "b.example:443", "[::1]",
    ] {
      for path in [path, "/", "/metrics", "/v1/events?query=players", "/nothing"] {
        let answer = try client.get(path, ["Host: \(host)"])
        #expect(answer.status == 421, "\(host) \(path)")
        #expect(answer.head["Content-Type"] == "application/problem+json")
        // Not even the page that asks may read why.
        #expect(answer.head["Access-Control-Allow-Origin"] == nil)
        #expect(try answer.json["detail"].string?.contains("\"\(host)\"") == true)
      }
    }
    // The port of https, and a name that a proxy only tells.
    let proxied = ["Host: b.example", "X-Forwarded-Proto: https"]
    #expect(try client.get(path, proxied).status == 421)
    #expect(
      try client.get(path, ["Host: evil.example", "X-Forwarded-Host: localhost"]).status == 421)
    #expect(
      try client.send(
        "OPTIONS", path,
        [
          "Host: evil.example", "Origin: http://evil.example",
          "Access-Control-Request-Method: POST",
        ]
      ).status == 421)
  }

  @Test func `tells anybody whether it is well`() throws {
    let fixture = try fixture(["localhost"])
    let client = fixture.client()
    for path in ["/healthz", "/readyz"] {
      #expect(try client.get(path, ["Host: 10.0.0.7:8080"]).status == 200)
    }
  }
}
