import Testing

/// A server whose configuration says nothing of callers is as it was before it could.
@Suite(.endToEnd) struct `A server without callers` {
  private let teams: Teams

  init() throws { teams = try Teams() }

  @Test func `shows everybody everything, whatever they say of themselves`() throws {
    let client = teams.fixture.client()
    for fields in [
      [], Shop.bearer("ann"), Shop.cookie("ann"), ["Authorization: Basic YTpi"],
      ["Authorization: Bearer"], ["X-Forwarded-User: ann"],
    ] {
      for path in [
        "/v1/queries", "/v1/queries/players", "/v1/queries/players/records",
        "/v1/queries/players/sections/0", "/metrics",
      ] { #expect(try client.get(path, fields).status == 200, "\(path) \(fields)") }
      let stream = teams.fixture.stream("/v1/queries/players/events", .init(fields: fields))
      #expect(try stream.next()?.json["numberOfRecords"] == 6)
    }
    #expect(try client.get("/v1/queries/players/records?access_token=x").status == 200)
  }

  @Test func `says nothing of callers`() throws {
    let client = teams.fixture.client()
    for path in ["/v1/queries", "/v1/queries/players/records", "/v1/queries/players/sections"] {
      let head = try client.get(path).head
      #expect(head["Cache-Control"] == "no-cache", "\(path)")
      #expect(head.members("Vary").isDisjoint(with: ["authorization", "cookie"]), "\(path)")
      #expect(head["WWW-Authenticate"] == nil)
    }
    let described = try client.get("/v1/queries/players").json
    for member in ["sql", "plan", "tracking", "controllers"] {
      #expect(described.member(member) != nil)
    }
    #expect(try client.get("/v1/queries").json["queries"].elements.count == 1)
    let stream = try teams.fixture.stream("/v1/queries/players/events").head()
    #expect(stream["Cache-Control"] == "no-cache, no-transform")
    #expect(stream.members("Vary").isDisjoint(with: ["authorization", "cookie"]))
  }

  @Test func `lets a stream go on from any version of its query`() throws {
    let known = teams.follower.model
    try teams.writer.commit("UPDATE player SET score = 0 WHERE id = 1")
    _ = try teams.follower.changes()
    let resumed = Follower(
      teams.fixture.stream(
        "/v1/queries/players/events",
        .init(lastEventID: known.version, fields: Shop.bearer("ann"))), model: known)
    #expect(try resumed.changes().count == 1)
    #expect(resumed.model.records == teams.follower.model.records)
  }
}
