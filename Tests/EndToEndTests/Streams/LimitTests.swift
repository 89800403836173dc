import RecordsAPI
import Testing

@Suite(.endToEnd) struct `More live queries than there may be` {
  @Test func `are refused until others go`() throws {
    let fixture = try ServerFixture(
      Teams.schema,
      queries: """
        team: {table: player, where: "team = :team", parameters: {team: {type: text}}}
        """
    ) {
      $0.maximumOfControllers = 2
      $0.linger = .zero
    }
    let blue = try fixture.follow("team", "?team=Blue")
    let red = try fixture.follow("team", "?team=Red")
    for resource in ["records", "events"] {
      let refused = try fixture.get("/v1/queries/team/\(resource)?team=Green")
      #expect(refused.status == 503)
      #expect(refused.head["Content-Type"] == "application/problem+json")
      #expect(try refused.json["detail"].string?.contains("2") == true)
    }
    // Those that are live go on, for whoever asks.
    #expect(try fixture.get("/v1/queries/team/records?team=Blue").status == 200)
    try fixture.writer().commit("DELETE FROM player WHERE id IN (1, 5)")
    #expect(try blue.changes().count == 1)
    #expect(try red.changes().count == 1)
    red.stream.close()
    try eventually("there is room for another") {
      try fixture.get("/v1/queries/team/records?team=Green").status == 200
    }
  }
  @Test func `take the places of those that nobody watches`() throws {
    let fixture = try ServerFixture(
      Teams.schema,
      queries: """
        upTo: {table: player, where: "id <= :id", parameters: {id: {type: integer}}}
        """
    ) { $0.maximumOfControllers = 3 }
    let watched = try fixture.follow("upTo", "?id=9")
    let client = fixture.client()
    for id in 0...5 {
      #expect(try client.get("/v1/queries/upTo/records?limit=1&id=\(id)").status == 200)
    }
    // Nobody watches the window any more, which still has its query.
    for id in 6...8 {
      let window = fixture.stream("/v1/queries/upTo/events?limit=1&id=\(id)")
      #expect(try window.next()?.type == "snapshot")
      window.close()
    }
    try eventually("there is room for another window") {
      try client.get("/v1/queries/upTo/records?id=10").status == 200
        && client.get("/v1/queries/upTo/records?id=11").status == 200
    }
    try fixture.writer().commit("DELETE FROM player WHERE id = 1")
    #expect(try watched.changes().count == 1)
  }
}
