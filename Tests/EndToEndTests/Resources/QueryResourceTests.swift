import Testing

@Suite(.endToEnd) struct `The resources of queries` {
  private static let schema = Teams.schema
  private static let queries = """
    players:
      title: Players by team
      table: player
      fields: [id, name, team]
      where: score >= :least AND name <> :but
      order: [name]
      section: team
      parameters:
        least: {type: integer, default: 0}
        but: {type: text}
      alongside:
        total: SELECT count(*) FROM player
    names:
      sql: SELECT DISTINCT name FROM player
    """

  @Test func `list every query`() throws {
    let fixture = try ServerFixture(Self.schema, queries: Self.queries)
    let answer = try fixture.get("/v1/queries")
    #expect(answer.status == 200)
    #expect(answer.head["Content-Type"] == "application/json")
    let expected = #"""
      {"queries":[{"name":"players","title":"Players by team","parameters":[
      {"name":"least","type":"integer","default":0},{"name":"but","type":"text"}],"section":"team",
      "columns":["id","name","team"],"columnTypes":{},"key":["id"]},
      {"name":"names","title":null,"parameters":[],"section":null,"columns":["name"],
      "columnTypes":{},"key":["name"]}]}
      """#
    #expect(try answer.json == JSONValue(parsing: expected))
  }

  @Test func `say by which columns orders sort`() throws {
    let fixture = try ServerFixture(
      Self.schema,
      queries: """
        players: {table: player, orders: {name: [name], best: [score DESC, name], worst: [score]}}
        """)
    let expected = #"""
      {"name":{"ascending":"name"},"score":{"ascending":"worst","descending":"best"}}
      """#
    for query in [
      try fixture.get("/v1/queries").json["queries"][0],
      try fixture.get("/v1/queries/players").json,
    ] {
      #expect(query["orderedBy"] == (try JSONValue(parsing: expected)))
    }
  }

  @Test func `describe one with its SQL, its tracking and its live controllers`() throws {
    let fixture = try ServerFixture(Self.schema, queries: Self.queries)
    let path = "/v1/queries/players"
    let idle = try fixture.get(path).json
    #expect(idle["name"] == "players")
    #expect(idle["sql"].string?.hasPrefix("SELECT id, name, team\nFROM \"player\"") == true)
    #expect(["incremental", "refetch"].contains(idle["tracking"].string))
    #expect(idle["trackingReason"].string?.isEmpty == false)
    #expect(idle["controllers"] == [])
    let follower = try fixture.follow("players", "?but=Ada")
    let controllers = try fixture.get(path).json["controllers"]
    #expect(controllers.elements.count == 1)
    #expect(try controllers[0]["parameters"] == JSONValue(parsing: #"{"but":"Ada","least":0}"#))
    #expect(controllers[0]["subscribers"] == 1)
    #expect(controllers[0]["version"].string == follower.model.version)
    #expect(controllers[0]["numberOfRecords"] == 5)
  }

  @Test func `count how a query was brought up to date, and why not row by row`() throws {
    let fixture = try ServerFixture(Self.schema, queries: Self.queries)
    let path = "/v1/queries/players"
    let none = #"{"incremental":0,"refetch":0,"fallbacks":{}}"#
    #expect(try fixture.get(path).json["refreshes"] == JSONValue(parsing: none))
    let follower = try fixture.follow("players", "?but=Ada")
    let writer = try fixture.writer()
    try writer.commit("UPDATE player SET name = name || '!' WHERE id = 1")
    _ = try follower.changes()
    try writer.commit(
      "ALTER TABLE player ADD COLUMN more; UPDATE player SET name = name || '!'")
    _ = try follower.changes()
    let counts = try fixture.get(path).json["refreshes"]
    #expect(counts["fallbacks"]["schema"] == 1)
    #expect(counts["refetch"] != 0)
  }

  @Test func `name what is near to an unknown query`() throws {
    let fixture = try ServerFixture(Self.schema, queries: Self.queries)
    for rest in ["", "/records", "/sections", "/sections/0", "/events", "/records/1"] {
      let answer = try fixture.get("/v1/queries/player\(rest)")
      #expect(answer.status == 404)
      #expect(answer.head["Content-Type"] == "application/problem+json")
      let problem = try answer.json
      #expect(problem["type"].string != nil)
      #expect(problem["title"] == "Not Found")
      #expect(problem["status"] == 404)
      #expect(problem["detail"].string?.contains("players") == true)
    }
    #expect(try fixture.client().post("/v1/queries/player/fetch").status == 404)
    #expect(try fixture.get("/v1/events?query=player").status == 404)
  }

  @Test func `know nothing beside the contract`() throws {
    let fixture = try ServerFixture(Self.schema, queries: Self.queries)
    for path in ["/v1", "/v1/", "/v2/queries", "/v1/queries/", "/v1/queries/players/record"] {
      let answer = try fixture.get(path)
      #expect(answer.status == 404, "\(path)")
      #expect(answer.head["Content-Type"] == "application/problem+json", "\(path)")
    }
  }

  @Test func `say that the server lives and is ready`() throws {
    let fixture = try ServerFixture(Self.schema, queries: Self.queries)
    for path in ["/healthz", "/readyz"] {
      let answer = try fixture.get(path)
      #expect(answer.status == 200)
      #expect(answer.text == "ok\n")
    }
  }

  @Test func `list tables and views where no configuration names queries`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY);
      CREATE TABLE "odd name/%" (x TEXT);
      CREATE VIEW b AS SELECT id, id * 2 AS twice FROM a;
      INSERT INTO a VALUES (1);
      """)
    let names = try fixture.get("/v1/queries").json["queries"].elements.map { $0["name"] }
    #expect(names == ["a", "b", "odd name/%"])
    #expect(try fixture.get("/v1/queries/b/records").json["records"][0]["record"]["twice"] == 2)
    #expect(try fixture.get("/v1/queries/odd%20name%2F%25/records").status == 200)
    // A table made later is a query too.
    try fixture.writer().commit("CREATE TABLE c (id INTEGER PRIMARY KEY)")
    try eventually("the new table is a query") {
      try fixture.get("/v1/queries/c/records").status == 200
    }
  }

  @Test func `run a query again now`() throws {
    let fixture = try ServerFixture(
      Self.schema, queries: "rolls:\n  sql: SELECT random() AS value, 1 AS id\n  key: [id]\n")
    let follower = try fixture.follow("rolls")
    let answer = try fixture.client().post("/v1/queries/rolls/fetch")
    #expect(answer.status == 200)
    #expect(try answer.json.names == ["version", "commit"])
    let changes = try follower.changes()
    #expect(changes.count == 1)
    #expect(try answer.json["version"].string == follower.model.version)
  }
}
