import FetchedRecords
import Testing

/// Windows of a result that nobody holds, of which it is known where each record is.
@Suite(.endToEnd) struct `A window by itself` {
  private static let schema = """
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER);
    CREATE INDEX playerByTeam ON player(team, name);
    CREATE INDEX playerByScore ON player(score);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    INSERT INTO player SELECT i, printf('P%03d', i * 7 % 500), 'T' || (i % 5), i * 3 % 1000 FROM n;
    """

  private static let queries = """
    players: {table: player, order: [name], section: team}
    best: {table: player, order: [score DESC]}
    """

  private func serve() throws -> ServerFixture {
    try ServerFixture(Self.schema, queries: Self.queries, limits: { $0.recordsOfWhole = 100 })
  }

  private func held(_ fixture: ServerFixture, _ query: String) throws -> [Int] {
    try fixture.get("/v1/queries/\(query)").json["controllers"].elements
      .compactMap { $0["numberOfRecords"].int }.sorted()
  }

  @Test func `holds what it shows`() throws {
    let fixture = try serve()
    let followers = try ["offset=100&limit=10", "offset=490&limit=20"].map {
      try fixture.follow("players", "?\($0)")
    }
    #expect(try held(fixture, "players") == [10, 10])
    #expect(followers.map(\.model.total) == [500, 500])
    let plain = try fixture.database.select(
      "SELECT * FROM player ORDER BY team, name, id LIMIT 10 OFFSET 490")
    #expect(followers[1].model.records.map(\.values) == plain)
  }

  @Test(arguments: ["players", "best"])
  func `tells what a part of the whole result tells`(query: String) throws {
    let (itself, writer) = try { ($0, try $0.writer()) }(serve())
    let whole = try ServerFixture(beside: itself)
    let windows = try ["limit=3", "offset=95&limit=12", "offset=250&limit=100"].map {
      (try itself.follow(query, "?\($0)"), try whole.follow(query, "?\($0)"))
    }
    #expect(try held(itself, query) == [3, 12, 100])
    #expect(try held(whole, query).max() == 500)
    for step in 1...30 {
      // Each window has something to tell of each commit.
      try writer.commit(
        """
        UPDATE player SET score = score + 1;
        REPLACE INTO player VALUES (\(step * 37 % 600), 'N' || \(step), 'T' || \(step % 7), \(step));
        DELETE FROM player WHERE id = \(step * 53 % 500);
        UPDATE player SET name = 'Q' || id WHERE id % 90 = \(step)
        """)
      for (itself, whole) in windows {
        #expect(try itself.changes() == whole.changes())
        #expect(itself.model.version.stateOfVersion == whole.model.version.stateOfVersion)
        #expect(itself.model.total == whole.model.total)
      }
    }
  }

  @Test func `is resumed by its own versions, and left for another one`() throws {
    let fixture = try serve()
    let writer = try fixture.writer()
    let follower = try fixture.follow("best", "?offset=100&limit=40")
    let known = follower.model
    try writer.commit("UPDATE player SET score = 2000 WHERE id = 1")
    let changes = try follower.changes()
    let path = "/v1/queries/best/events?offset=100&limit=40"
    let resumed = Follower(
      fixture.stream(path, .init(lastEventID: known.version)), model: known)
    #expect(try resumed.changes() == changes)
    let other = Follower(
      fixture.stream(
        "/v1/queries/best/events?offset=105&limit=40",
        .init(lastEventID: follower.model.version)),
      model: follower.model)
    #expect(try other.changes().count == 10)
    let plain = try fixture.database.select(
      "SELECT * FROM player ORDER BY score DESC, id DESC LIMIT 40 OFFSET 105")
    #expect(other.model.records.map(\.values) == plain)
  }

  @Test func `goes on where its index is dropped`() throws {
    let fixture = try serve()
    let writer = try fixture.writer()
    let follower = try fixture.follow("best", "?offset=100&limit=10")
    try writer.commit("DROP INDEX playerByScore")
    try writer.commit("UPDATE player SET score = score + 5000")
    let plain = try fixture.database.select(
      "SELECT * FROM player ORDER BY score DESC, id DESC LIMIT 10 OFFSET 100")
    while follower.model.records.map(\.values) != plain { _ = try follower.changes() }
    #expect(follower.model.total == 500)
  }
}
