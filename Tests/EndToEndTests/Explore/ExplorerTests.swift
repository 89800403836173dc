import HTTPServer
import RecordsAPI
import TestSupport
import Testing

/// Who may have any SELECT be a query.
@Suite(.endToEnd) struct `Who explores` {
  private static let sql = "SELECT name FROM player"

  private func serve(
    _ set: (inout ServiceSettings) -> Void = { _ in }
  ) throws -> ServerFixture {
    try ServerFixture(Teams.schema, queries: Teams.query, explores: true, service: set)
  }

  @Test func `is no page of another origin, whoever it is, nor one whose name leads here`() throws {
    // What `cors` lets read is what is declared.
    let fixture = try serve { $0.crossOrigin = .everyone }
    let client = fixture.client()
    let name = try fixture.exploration(Self.sql)
    let own = "Origin: \(fixture.base)"
    let paths = [
      "/v1/queries/\(name)", "/v1/queries/\(name.replacing(":", with: "%3a"))/records",
      "/v1/queries/\(name)/changes",
      "/v1/events?query=players&query=explore%3A\(name.dropFirst(8))",
    ]
    for fields in [
      ["Origin: https://evil.example"], ["Origin: null"], ["Sec-Fetch-Site: cross-site"],
      ["Sec-Fetch-Site: same-site"], ["Host: evil.example"],
      ["Host: evil.example", "Origin: http://evil.example"], ["Host: 127.0.0.1.evil.example"],
      ["Host: localhost.evil.example:80"], ["Host: unix"],
      [own, "Host: evil.example", "Sec-Fetch-Site: same-origin"],
    ] {
      try fixture.explore(Self.sql, fields).expectProblem(403, "\(fields)")
      for path in paths { try client.get(path, fields).expectProblem(403, "\(fields) \(path)") }
      let list = try client.get("/v1/queries", fields)
      #expect(try list.json.member("explore") == nil, "\(fields)")
      #expect(list.status == 200)
    }
    for fields in [
      [], [own], ["Host: localhost:99"], ["Host: LOCALHOST"], ["Host: [::1]:8080"],
      ["Host: 192.168.1.7"], ["Sec-Fetch-Site: none"],
    ] {
      #expect(try fixture.explore(Self.sql, fields).status == 200, "\(fields)")
      #expect(try client.get(paths[0], fields).status == 200, "\(fields)")
      #expect(try client.get("/v1/queries", fields).json["explore"] == .bool(true))
    }
  }

  @Test func `calls the server by a name that it has`() throws {
    let fixture = try serve { $0.hosts = HostNames(["example.org"]) }
    #expect(try fixture.explore(Self.sql, ["Host: example.org"]).status == 200)
    try fixture.explore(Self.sql, ["Host: localhost"]).expectProblem(421)
  }

  @Test func `does not come through a proxy`() throws {
    let fixture = try serve()
    for field in ["X-Forwarded-For: 10.0.0.1", "Forwarded: for=10.0.0.1", "Via: 1.1 a"] {
      try fixture.explore(Self.sql, [field]).expectProblem(403, "\(field)")
    }
  }

  @Test func `is an operator, where callers are told from each other`() throws {
    let shop = try Shop(explores: true)
    let path = Exploration.path("SELECT item FROM purchase ORDER BY id")
    try shop.post(path).expectUnauthorized(withToken: false)
    for name in ["ann", "guest"] { try shop.post(path, as: name).expectProblem(403) }
    let answer = try shop.post(path, as: "root")
    #expect(answer.status == 200)
    let query = "/v1/queries/\(try #require(try answer.json["name"].string))"
    for path in [query, query + "/records", query + "/events"] {
      try shop.get(path).expectUnauthorized(withToken: false)
      try shop.get(path, as: "ann").expectProblem(403)
    }
    let records = try shop.get(query + "/records", as: "root").json["records"]
    #expect(records[0]["record"]["item"] == "Anvil")
    for (name, explores) in [("root", true), ("ann", false)] {
      let list = try shop.get("/v1/queries", as: name).json
      #expect((list["explore"] == .bool(true)) == explores)
    }
    // A stream ends with its caller's role.
    let stream = shop.stream(query + "/events", as: "root")
    #expect(try stream.next()?.type == "snapshot")
    try shop.writer.commit(Shop.change("root", "role = 'customer'"))
    try stream.expectEnd(with: 403)
  }

  @Test(arguments: [
    (["--host", "0.0.0.0"], "", "other machines reach 0.0.0.0:0; listen on 127.0.0.1"),
    (
      [], "callers: {headers: {sub: X-User}}\nproxies: [127.0.0.1]\n", "names none; add `operators`"
    ),
    (
      ["--host", "0.0.0.0"],
      "callers: {headers: {sub: X-User}, operators: anyone}\nproxies: [127.0.0.1]\n",
      "other machines reach"
    ),
  ])
  func `is nobody from elsewhere: the server does not start`(
    arguments: [String], words: String, reason: String
  ) throws {
    let folder = try TemporaryFolder()
    let database = try Database.make(folder.file("music.sqlite"), Teams.schema, journal: .wal)
    let file = try folder.write("queries: {players: {table: player}}\n" + words, to: "a.yaml")
    let result = try Command.run(
      ["serve", "--port", "0", "--explore", "--config", file, database.path] + arguments)
    #expect(result.exitCode == 1)
    #expect(result.errors.contains(reason), "\(result.errors)")
  }

  @Test func `goes on with what was explored when the configuration is read again`() throws {
    let queries = "queries:\n  players: {table: player}\n"
    let server = try ReloadedServer(queries, ["--explore"])
    let client = HTTPClient(server.command.base)
    let name = try #require(try client.post(Exploration.path(Self.sql)).json["name"].string)
    let follower = try server.follow("/v1/queries/\(name)/events")
    try server.reload(queries + "  others: {table: player}\n")
    #expect(try server.get("/v1/queries").json["explore"] == .bool(true))
    let writer = try ForeignWriter(server.database.path)
    try writer.commit("DELETE FROM player WHERE id = 1")
    #expect(try follower.changes().count == 1)
    // The types of columns are others: it is another query.
    try server.reload("columns: raw\n" + queries)
    #expect(try client.post(Exploration.path(Self.sql)).json["name"].string != name)
    // Without operators nobody could explore.
    let callers = "proxies: [127.0.0.1]\ncallers:\n  headers: {sub: X-User}\n"
    try server.reload(callers + queries, until: "the configuration stays as it was: ")
    try server.reload(callers + "  operators: {sub: [root]}\n" + queries)
    let path = "/v1/queries/\(name)/records"
    #expect(try server.get(path, ["X-User: ada"]).status == 403)
    #expect(try server.get(path, ["X-User: root"]).status == 200)
  }
}
