import TestSupport
import Testing

/// `order=` chooses one of the `orders` that a query declares.
@Suite(.endToEnd) struct `A query with several orders` {
  private let fixture: ServerFixture
  private static let orders = [
    "name": "name COLLATE NOCASE, id", "best": "score DESC, name, id",
    "short": "length(name), id", "groups": "team, score % 7, id",
  ]

  init() throws {
    fixture = try ServerFixture(
      """
      CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER);
      INSERT INTO player
        SELECT value, char(97 + value * 7 % 26, 65 + value * 11 % 26) || value,
          iif(value % 3, 'Red', 'Blue'), value * 13 % 50
        FROM generate_series(1, 60);
      """,
      queries: """
        players:
          table: player
          parameters: {least: {type: integer, default: 0}}
          where: score >= :least
          orders:
            name: [name COLLATE NOCASE]
            best: [score DESC, name]
            short: [length(name)]
            groups: [team, score % 7]
        teams: {table: player, section: team, orders: {name: [name], best: [score DESC]}}
        plain: {table: player, order: [name]}
        """)
  }

  private func goOn(_ model: ClientModel, _ path: String) -> Follower {
    Follower(
      fixture.stream("/v1/queries/\(path)", .init(lastEventID: model.version)), model: model)
  }

  @Test func `shows each, the first where none is named`() throws {
    let client = fixture.client()
    for (name, terms) in Self.orders {
      let sql = "SELECT * FROM player WHERE score >= 0 ORDER BY \(terms)"
      let live = try fixture.follow("players", "?order=\(name)")
      try fixture.expectTruth(live, "players?order=\(name)", sql)
      try fixture.writer().commit("UPDATE player SET score = score + 5 WHERE id % 9 = 0")
      try fixture.expectTruth(live, "players?order=\(name)", sql)
    }
    let first = try client.get("/v1/queries/players/records?order=name&limit=60")
    let unnamed = try client.get("/v1/queries/players/records?limit=60")
    #expect(try unnamed.json == first.json)
    let described = try client.get("/v1/queries/players").json
    #expect(described["orders"] == ["name", "best", "short", "groups"])
    let best = try client.get("/v1/queries/players?order=best").json
    #expect(best["sql"].string?.contains(" DESC") == true)
    #expect(try client.get("/v1/queries").json["queries"].elements[2]["orders"] == .null)
  }

  @Test func `is told the difference where another is asked for`() throws {
    var follower = try fixture.follow("players", "?order=name&limit=20")
    for (order, limit) in [("best", 20), ("short", 15), ("groups", 20), ("name", 20), ("best", 5)] {
      follower = goOn(follower.model, "players/events?order=\(order)&limit=\(limit)")
      _ = try follower.next()
      let plain = try fixture.database.select(
        "SELECT * FROM player ORDER BY \(Self.orders[order] ?? "") LIMIT \(limit)")
      #expect(follower.model.records.map(\.values) == plain, "\(order)")
    }
    // Whose order differs in little gets little, whatever is hidden in the records of the two.
    try fixture.writer().commit(
      "UPDATE player SET name = format('%03d', id), score = -id; UPDATE player SET score = 7 WHERE id = 9"
    )
    let teams = try fixture.follow("teams", "?order=best")
    try fixture.expectTruth(
      teams, "teams?order=best", "SELECT * FROM player ORDER BY team, score DESC, id DESC")
    let other = goOn(teams.model, "teams/events?order=name")
    #expect(try other.changes().count == 1)
    try fixture.expectTruth(
      other, "teams?order=name", "SELECT * FROM player ORDER BY team, name, id", section: "team")
  }

  @Test func `is told a few moves where two orders are nearly one`() throws {
    try fixture.writer().commit(
      "UPDATE player SET name = format('%03d', id), score = -id; UPDATE player SET score = 7 WHERE id = 9"
    )
    let best = try fixture.follow("players", "?order=best&least=-100")
    let name = goOn(best.model, "players/events?order=name&least=-100")
    #expect(try name.changes().count == 1)
    let short = goOn(name.model, "players/events?order=short&least=-100")
    try fixture.writer().commit("UPDATE player SET team = 'x' WHERE id = 30")
    #expect(try short.changes().count == 1)
    try fixture.expectTruth(
      short, "players?order=short&least=-100", "SELECT * FROM player ORDER BY length(name), id")
  }

  @Test func `goes on with each on a stream of several`() throws {
    let version = try fixture.follow("players", "?order=name&limit=3").model.version
    let stream = fixture.stream(
      "/v1/events?query=players%3Forder%3Dbest%26limit%3D3%26lastEventId%3D\(version)"
        + "&query=players%3Flimit%3D3")
    var orders: [String] = []
    while orders.count < 2 {
      let event = try #require(try stream.next())
      if event.type == "snapshot" || event.type == "didChange" {
        orders.append(try event.json["parameters"]["order"].string ?? "")
      }
    }
    #expect(orders.sorted() == ["best", "name"])
  }

  @Test func `refuses one that is not declared`() throws {
    let client = fixture.client()
    for path in ["records", "sections", "events", "changes"] {
      let answer = try client.get("/v1/queries/players/\(path)?order=bset")
      #expect(answer.status == 400)
      #expect(
        try answer.json["detail"].string
          == "there is no order bset: did you mean best? the query declares name, best, short, groups"
      )
    }
    #expect(
      try client.get("/v1/queries/plain/records?order=name").json["detail"].string
        == "there is no order to choose: the query declares no `orders`")
    #expect(try client.get("/v1/events?query=players%3Forder%3Dx").status == 400)
    #expect(try client.get("/v1/queries/players/records?order=best&order=best").status == 400)
  }
}
