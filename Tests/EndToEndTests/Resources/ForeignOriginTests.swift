import HTTPServer
import RecordsAPI
import Testing

@Suite(.endToEnd) struct `A request that a foreign page makes` {
  private let path = "/v1/queries/players/fetch"

  private func serve(_ set: (inout ServiceSettings) -> Void = { _ in }) throws -> ServerFixture {
    try ServerFixture(Teams.schema, queries: Teams.query, service: set)
  }

  @Test func `is no POST`() throws {
    let fixture = try serve()
    let client = fixture.client()
    let own = "Origin: \(fixture.base)"
    for fields in [
      ["Origin: https://evil.example"], ["Origin: null"], [own + "0"], [own, "Host: evil.example"],
      [own.replacing("http:", with: "https:")], ["Sec-Fetch-Site: cross-site"],
      [own, "Sec-Fetch-Site: same-site"],
    ] {
      let refused = try client.send("POST", path, fields)
      #expect(refused.status == 403, "\(fields)")
      #expect(refused.head["Content-Type"] == "application/problem+json")
      #expect(try refused.json["detail"].string?.contains("cors") == true)
      // Whether it may read the answer, its browser decides.
      #expect(try client.get("/v1/queries/players/records", fields).status == 200)
    }
    for fields in [
      [], [own], ["Origin: http://example.org:81", "Host: Example.org:81"],
      ["Origin: http://example.org", "Host: example.org:80"],
      ["Origin: https://example.org", "Sec-Fetch-Site: same-origin"], ["Sec-Fetch-Site: none"],
    ] {
      #expect(try client.send("POST", path, fields).status == 200, "\(fields)")
    }
  }

  @Test func `is a POST where the configuration names the page`() throws {
    let fixture = try serve { $0.crossOrigin = .origins(["https://a.example"]) }
    let client = fixture.client()
    let cross = "Sec-Fetch-Site: cross-site"
    #expect(try client.send("POST", path, ["Origin: https://a.example", cross]).status == 200)
    #expect(try client.send("POST", path, ["Origin: https://b.example", cross]).status == 403)
    let open = try serve { $0.crossOrigin = .everyone }
    #expect(try open.client().send("POST", path, ["Origin: https://b.example"]).status == 200)
  }

  @Test func `is not what comes through a proxy that is believed`() throws {
    let fields = ["Origin: https://example.org", "Host: example.org", "X-Forwarded-Proto: https"]
    let hidden = [
      "Origin: https://example.org:8443", "X-Forwarded-Proto: https",
      "X-Forwarded-Host: example.org:8443",
    ]
    let address = try #require(AddressRange("127.0.0.1"))
    for (proxies, status) in [([address], 200), ([], 403)] {
      let fixture = try serve { $0.server.trustedProxies = proxies }
      for fields in [fields, hidden] {
        #expect(try fixture.client().send("POST", path, fields).status == status)
      }
    }
  }
}
