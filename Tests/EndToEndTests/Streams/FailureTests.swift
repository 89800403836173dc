import FetchedRecords
import TestSupport
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
      case .recovery: units.append("recovery")
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

  @Test func `says that it can be read again, where nothing has changed`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Self.queries)
    let writer = try fixture.writer()
    let whole = try fixture.follow("byScore")
    let window = try fixture.follow("byScore", "?offset=1&limit=2")
    let several = fixture.stream("/v1/events?query=byScore&query=byScore%3Flimit%3D1")
    for _ in 0..<2 { #expect(try several.next()?.type == "snapshot") }
    for round in 1...2 {
      try writer.commit("UPDATE player SET score = 70 WHERE id = 1")
      for follower in [whole, window] { _ = try follower.failure() }
      for _ in 0..<2 { #expect(try several.next()?.type == "fetchError") }
      try writer.commit("UPDATE player SET score = 10 WHERE id = 1")
      for follower in [whole, window] {
        guard case .recovery(let told) = try follower.next() else {
          throw ContractViolation("no recovered")
        }
        #expect(told["query"] == "byScore" && told["version"] == .string(follower.model.version))
        if follower === whole { #expect(told["commit"].int == 1 + 2 * round) }
      }
      for _ in 0..<2 { #expect(try several.next()?.type == "recovered") }
    }
    // Whoever resumes has nothing to hear of it.
    let again = Follower(
      fixture.stream("/v1/queries/byScore/events", .init(lastEventID: whole.model.version)),
      model: whole.model)
    let first = whole.model.version
    try writer.commit("UPDATE player SET score = 11 WHERE id = 1")
    #expect(try again.changes().count == 1)
    try fixture.expectTruth(
      again, "byScore", "SELECT id, team, score FROM player ORDER BY score", section: "team")
    // Nor of what failed before the change that is missed, and behind it; only of what fails now.
    try writer.commit("UPDATE player SET score = 70 WHERE id = 1")
    _ = try again.failure()
    try writer.commit("UPDATE player SET score = 11 WHERE id = 1")
    guard case .recovery = try again.next() else { throw ContractViolation("no recovered") }
    let late = Follower(
      fixture.stream("/v1/queries/byScore/events", .init(lastEventID: first)), model: whole.model)
    #expect(try late.changes().count == 1)
    #expect(late.model.version == again.model.version)
    try writer.commit("UPDATE player SET score = 70 WHERE id = 1")
    #expect(try late.failure()["status"] == 500)
    let failing = Follower(
      fixture.stream("/v1/queries/byScore/events", .init(lastEventID: first)), model: whole.model)
    #expect(try failing.changes().count == 1)
    #expect(try failing.failure()["status"] == 500)
    try writer.commit("UPDATE player SET score = 12 WHERE id = 1")
    for follower in [late, failing] { #expect(try follower.changes().count == 1) }
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

/// Of several queries that one stream shows together, at one commit.
@Suite(.endToEnd) struct `One of several queries that fails` {
  private static let path = "/v1/events?query=players&query=broken"

  /// Serves a query that fails as long as a player is called Error, and what it costs then.
  private func serve(
    _ cost: String, limits: (inout RefresherLimits) -> Void = { _ in }
  ) throws -> ServerFixture {
    let queries = """
      players: {table: player}
      broken:
        sql: |
          SELECT id, CASE WHEN name = 'Error' THEN \(cost) ELSE score END AS score FROM player
        key: [id]
      """
    return try ServerFixture(Teams.schema, queries: queries, limits: limits)
  }

  private func open(_ fixture: ServerFixture) throws -> SeveralFollower {
    var client = SeveralFollower(stream: fixture.stream(Self.path))
    for _ in 1...2 { #expect(try client.receive().type == "snapshot") }
    return client
  }

  private static let overflow = "abs(-9223372036854775808)"
  private static func count(to end: String) -> String {
    "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n\(end)) SELECT count(*) FROM n)"
  }

  /// What is short is tried on the queue that follows commits, and what is long beside it.
  @Test(arguments: [overflow, count(to: " WHERE i < 50000") + " + \(overflow)"])
  func `is told of once, and the others go on`(cost: String) throws {
    let fixture = try serve(cost)
    let writer = try fixture.writer()
    var client = try open(fixture)
    try writer.commit("INSERT INTO player VALUES (11, 'Error', 'Red', 1)")
    while client.models["players"]?.records.count != 7 { _ = try client.receive() }
    for id in 12...15 {
      try writer.commit("INSERT INTO player VALUES (\(id), 'Player', 'Red', 1)")
      while client.models["players"]?.records.count != id - 4 {
        _ = try client.receive(upTo: "commit")
      }
    }
    // Who comes now is shown the same.
    let late = fixture.stream(Self.path)
    #expect(
      try (1...3).map { _ in try late.next()?.type } == ["snapshot", "snapshot", "fetchError"])
    #expect(client.models["broken"]?.records.count == 6)
    try writer.commit("DELETE FROM player WHERE id = 11")
    _ = try client.receive(upTo: "commit")
    #expect(client.models["players"]?.records.count == 10)
    #expect(client.models["broken"]?.records.count == 10)
    #expect(client.stream.text.ranges(of: "event: fetchError").count == 1)
  }

  @Test func `is no news to who resumes when that is over`() throws {
    let broken = """
      players: {table: player}
      broken:
        sql: |
          SELECT id, CASE WHEN EXISTS (SELECT 1 FROM flag) THEN abs(-9223372036854775807 - 1) END AS n
          FROM player WHERE id < 4
        key: [id]
      """
    let fixture = try ServerFixture(Teams.schema + "CREATE TABLE flag (id);", queries: broken)
    let writer = try fixture.writer()
    var client = try open(fixture)
    try writer.commit("UPDATE player SET score = 1 WHERE id = 5")
    let version = try #require(client.receive(upTo: "commit").last?.lastEventID)
    // What changes one and breaks the other is one commit; that it is mended, changes nothing.
    try writer.commit("UPDATE player SET score = 2 WHERE id = 5; INSERT INTO flag VALUES (1)")
    _ = try client.receive(upTo: "fetchError")
    try writer.commit("DELETE FROM flag")
    _ = try client.receive(upTo: "recovered")
    let late = fixture.stream(Self.path, .init(lastEventID: version))
    while let event = try late.next(), event.type != "commit" {}
    try writer.commit("UPDATE player SET score = 3 WHERE id = 5")
    while let event = try late.next(), event.type != "commit" {}
    #expect(late.text.ranges(of: "event: commit").count == 2)
    #expect(!late.text.contains("fetchError") && !late.text.contains("recovered"))
  }

  /// It is tried again after a while only, and again for as long.
  @Test(.slow) func `for its time is not waited for`() throws {
    let grant = Duration.seconds(3)
    let fixture = try serve(Self.count(to: "")) { $0.statement = grant }
    let writer = try fixture.writer()
    var client = try open(fixture)
    try writer.commit("INSERT INTO player VALUES (11, 'Error', 'Red', 1)")
    _ = try client.receive(upTo: "fetchError")
    let start = ContinuousClock.now
    for id in 12...15 {
      try writer.commit("INSERT INTO player VALUES (\(id), 'Player', 'Red', 1)")
      while client.models["players"]?.records.count != id - 4 { _ = try client.receive() }
    }
    #expect(ContinuousClock.now - start < grant)
    try writer.commit("DELETE FROM player WHERE id = 11")
    while client.models["broken"]?.records.count != 10 { _ = try client.receive() }
    #expect(client.models["players"]?.records.count == 10)
    #expect(client.stream.text.ranges(of: "event: fetchError").count == 1)
  }
}
