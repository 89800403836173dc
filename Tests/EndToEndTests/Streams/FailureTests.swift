import Testing

@Suite(.endToEnd) struct `A query that fails` {
  private static let queries = """
    byScore:
      sql: SELECT id, team, score FROM player ORDER BY score
      section: team
      alongside: {best: SELECT max(score) FROM player}
    """

  @Test(arguments: JournalMode.kinds)
  func `says why, and goes on from what was sent last`(journal: JournalMode) throws {
    let fixture = try ServerFixture(Teams.schema, journal: journal, queries: Self.queries)
    let writer = try fixture.writer()
    let follower = try fixture.follow("byScore")
    let version = follower.model.version
    // Blue, Green, Red, and then Blue again.
    try writer.commit("UPDATE player SET score = 70 WHERE id = 1")
    let failure = try follower.failure()
    #expect(failure["query"] == "byScore")
    #expect(failure["status"] == 500)
    #expect(failure["title"] == "Internal Server Error")
    #expect(failure["detail"].string?.contains("ORDER BY") == true)
    // Another commit that does not mend it is no news.
    try writer.commit("UPDATE player SET score = 71 WHERE id = 1")
    let page = try fixture.get("/v1/queries/byScore/records")
    #expect(page.status == 500)
    #expect(page.head["Content-Type"] == "application/problem+json")
    // Who comes now is told, and shown what there was.
    let late = Follower(fixture.stream("/v1/queries/byScore/events"))
    var units: [String] = []
    while units.count < 2 {
      switch try late.next() {
      case .snapshot: units.append("snapshot")
      case .failure: units.append("failure")
      case .changes: units.append("changes")
      }
    }
    #expect(units == ["snapshot", "failure"])
    #expect(late.model.version == version)
    try writer.commit("UPDATE player SET score = 11 WHERE id = 1")
    for follower in [follower, late] {
      #expect(
        try follower.changesAfterFailures() == [
          #"change {"type":"update","indexPath":[0,0],"newIndexPath":[0,0],"key":[1],"changes":{"score":10},"record":{"id":1,"team":"Blue","score":11}}"#
        ])
      try fixture.expectTruth(
        follower, "byScore", "SELECT id, team, score FROM player ORDER BY score", section: "team")
    }
    #expect(follower.model.alongside == .object([("best", 60)]))
  }

  @Test func `is refused where it fails from the beginning`() throws {
    let fixture = try ServerFixture(
      Teams.schema + "UPDATE player SET score = 70 WHERE id = 1;", queries: Self.queries)
    for resource in ["records", "sections", "events"] {
      let answer = try fixture.get("/v1/queries/byScore/\(resource)")
      #expect(answer.status == 500, "\(resource)")
      #expect(answer.head["Content-Type"] == "application/problem+json")
      #expect(try answer.json["detail"].string?.contains("ORDER BY") == true)
    }
    // And served as soon as it does not.
    try fixture.writer().commit("UPDATE player SET score = 10 WHERE id = 1")
    #expect(try fixture.follow("byScore").model.records.count == 6)
  }

  /// In rollback mode a writer keeps readers out for a while.
  @Test func `for a lock is tried again`() throws {
    let teams = try Teams(.delete)
    try teams.writer.run("BEGIN EXCLUSIVE; UPDATE player SET score = 0 WHERE id = 1")
    // What is live is served as it was; what is not has to wait, and is told so.
    let client = teams.fixture.client()
    let page = try client.get("/v1/queries/players/records?limit=1")
    #expect(page.status == 200)
    #expect(try page.json["records"][0]["record"]["score"] == 10)
    let fetched = try client.post("/v1/queries/players/fetch")
    #expect(fetched.status == 503)
    #expect(try fetched.json["detail"].string?.contains("lock") == true)
    try teams.writer.run("COMMIT")
    #expect(try teams.follower.changesAfterFailures().count == 1)
    try teams.expectTruth()
  }

  @Test func `alone does not keep the others from being up to date`() throws {
    let fixture = try ServerFixture(
      Teams.schema, queries: Self.queries + "\nplayers: {table: player}")
    let broken = try fixture.follow("byScore")
    let whole = try fixture.follow("players")
    try fixture.writer().commit("UPDATE player SET score = 70 WHERE id = 1")
    #expect(try broken.failure()["query"] == "byScore")
    #expect(try whole.changes().count == 1)
    #expect(try fixture.get("/readyz").status == 200)
    try fixture.expectTruth(whole, "players", "SELECT * FROM player ORDER BY id")
  }
}
