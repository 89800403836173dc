import RecordsAPI
import Testing

@Suite(.endToEnd) struct `A stream that comes back` {
  private let teams: Teams

  /// With so many records that the snapshot is longer than what is told here.
  init() throws { teams = try Teams(others: 100) }

  /// How a client gives the version that it has.
  enum Way: CaseIterable { case field, item }

  private func resume(_ version: String, _ way: Way, model: ClientModel = .init()) -> Follower {
    let path = "/v1/queries/players/events"
    return switch way {
    case .field: Follower(teams.fixture.stream(path, .init(lastEventID: version)), model: model)
    case .item: Follower(teams.fixture.stream("\(path)?lastEventId=\(version)"), model: model)
    }
  }

  @Test(arguments: Way.allCases)
  func `goes on after the version that it has`(way: Way) throws {
    try teams.writer.commit("UPDATE player SET score = -1 WHERE id = 1")
    _ = try teams.follower.changes()
    let known = teams.follower.model
    try teams.writer.commit("UPDATE player SET team = 'Red' WHERE team = 'Blue'")
    let resumed = resume(known.version, way, model: known)
    #expect(try resumed.changes() == teams.follower.changes())
    #expect(resumed.model.version == teams.follower.model.version)
    // And goes on with what comes now.
    try teams.writer.commit("DELETE FROM player WHERE id = 1")
    #expect(try resumed.changes() == teams.follower.changes())
    try teams.fixture.expectTruth(
      resumed, "players", "SELECT * FROM player ORDER BY team, name, id", section: "team")
  }

  @Test(arguments: Way.allCases)
  func `begins with nothing where it has missed nothing`(way: Way) throws {
    let known = teams.follower.model
    let resumed = resume(known.version, way, model: known)
    _ = try resumed.stream.head()
    try teams.writer.commit("DELETE FROM player WHERE id = 1")
    #expect(try resumed.changes() == teams.follower.changes())
  }

  @Test(arguments: Way.allCases, ["x", "x-1", "-1", "0", "%20"])
  func `begins anew with a version that nobody knows`(way: Way, version: String) throws {
    let resumed = resume(version, way)
    try resumed.expectSnapshot()
    #expect(resumed.model.records == teams.follower.model.records)
    try teams.writer.commit("DELETE FROM player WHERE id = 1")
    #expect(try resumed.changes() == teams.follower.changes())
  }

  @Test func `begins anew with a version that is nobody's`() throws {
    let version = teams.follower.model.version
    let other = "x" + version.dropFirst()
    try resume(other, .field).expectSnapshot()
    // Not even where no snapshot was asked for: nothing is skipped silently.
    let quiet = Follower(
      teams.fixture.stream("/v1/queries/players/events?snapshot=false&lastEventId=\(other)"))
    try quiet.expectSnapshot()
  }

  @Test func `prefers the field, which is newer than the URL`() throws {
    let known = teams.follower.model
    try teams.writer.commit("DELETE FROM player WHERE id = 1")
    _ = try teams.follower.changes()
    let middle = teams.follower.model
    try teams.writer.commit("DELETE FROM player WHERE id = 2")
    let last = try teams.follower.changes()
    let resumed = Follower(
      teams.fixture.stream(
        "/v1/queries/players/events?lastEventId=\(known.version)",
        .init(lastEventID: middle.version)), model: middle)
    #expect(try resumed.changes() == last)
  }

  /// A stream broke after `willChange` and two of three changes: the client has thrown them away.
  @Test func `gets a change set again in the middle of which it broke`() throws {
    let stream = teams.fixture.stream("/v1/queries/players/events")
    var model = ClientModel()
    _ = try model.receive(try #require(try stream.next()))
    let known = model
    try teams.writer.commit("DELETE FROM player WHERE team = 'Blue'")
    for type in ["willChange", "sectionChange", "change"] {
      let event = try #require(try stream.next())
      #expect(event.type == type)
      #expect(!event.carriesID)
      #expect(event.lastEventID == known.version)
      _ = try model.receive(event)
    }
    stream.close()
    let resumed = resume(known.version, .field, model: known)
    #expect(try resumed.changes() == teams.follower.changes())
    #expect(resumed.model.records == teams.follower.model.records)
  }

  @Test func `begins anew when it was away for too long`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query) {
      $0.logCapacity = 2000
      $0.rememberedStates = 0
    }
    let follower = try fixture.follow("players")
    let known = follower.model
    let writer = try fixture.writer()
    var recent = known
    for score in 1...50 {
      try writer.commit("UPDATE player SET score = \(score + 100) WHERE id = 1")
      if score == 50 { recent = follower.model }
      _ = try follower.changes()
    }
    let path = "/v1/queries/players/events"
    let anew = Follower(fixture.stream(path, .init(lastEventID: known.version)), model: known)
    try anew.expectSnapshot()
    #expect(anew.model.records == follower.model.records)
    // Who missed only the last one still gets it alone.
    let resumed = Follower(fixture.stream(path, .init(lastEventID: recent.version)), model: recent)
    #expect(try resumed.changes().count == 1)
    #expect(resumed.model.records == follower.model.records)
  }

  @Test(arguments: ["", "?minInterval=1", "?limit=40"])
  func `is told the difference when its version is remembered`(items: String) throws {
    let fixture = try ServerFixture(Teams.schema + Teams.others(100), queries: Teams.query) {
      $0.logCapacity = 1000
    }
    let follower = try fixture.follow("players", items)
    let known = follower.model
    let writer = try fixture.writer()
    for score in 1...20 {
      try writer.commit("UPDATE player SET score = \(score + 100) WHERE id <= 2")
      _ = try follower.changes()
    }
    let resumed = Follower(
      fixture.stream("/v1/queries/players/events\(items)", .init(lastEventID: known.version)),
      model: known)
    #expect(try resumed.changes().count == 2)
    #expect(resumed.model.records == follower.model.records)
    #expect(resumed.model.version == follower.model.version)
    try writer.commit("DELETE FROM player WHERE id = 1")
    #expect(try resumed.changes() == follower.changes())
  }

  /// The log has all twenty change sets, but they say less than one.
  @Test func `is told the difference where that is shorter`() throws {
    let known = teams.follower.model
    for score in 1...20 {
      try teams.writer.commit("UPDATE player SET score = -\(score) WHERE id = 1")
      _ = try teams.follower.changes()
    }
    let resumed = resume(known.version, .field, model: known)
    #expect(try resumed.changes().count == 1)
    #expect(resumed.model.version == teams.follower.model.version)
    #expect(resumed.model.records == teams.follower.model.records)
    try teams.fixture.expectTruth(
      resumed, "players", "SELECT * FROM player ORDER BY team, name, id", section: "team")
  }

  @Test func `goes on without a word where what changed has changed back`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query) { $0.logCapacity = 500 }
    let follower = try fixture.follow("players")
    let known = follower.model
    let writer = try fixture.writer()
    for score in [1, 2, 10] {
      try writer.commit("UPDATE player SET score = \(score) WHERE id = 1")
      _ = try follower.changes()
    }
    #expect(follower.model.records == known.records)
    let path = "/v1/queries/players/events"
    let resumed = Follower(
      fixture.stream(path, .init(lastEventID: known.version)), model: known)
    #expect(try resumed.stream.head().status == 200)
    #expect(resumed.stream.waiting.isEmpty)
    try writer.commit("DELETE FROM player WHERE id = 1")
    #expect(try resumed.changes() == follower.changes())
  }

  @Test func `may come back again and again, and misses nothing`() throws {
    var model = teams.follower.model
    for step in 1...30 {
      try teams.writer.commit("UPDATE player SET team = 'T' || ((id + \(step)) % 4) WHERE id < 10")
      let resumed = resume(model.version, step % 2 == 0 ? .field : .item, model: model)
      _ = try resumed.changes()
      model = resumed.model
    }
    try teams.fixture.expectTruth(
      resume(model.version, .field, model: model), "players",
      "SELECT * FROM player ORDER BY team, name, id", section: "team")
  }

  @Test func `is told to stop where its query does not exist`() throws {
    for path in ["/v1/queries/gone/events", "/v1/events?query=players&query=gone"] {
      #expect(try teams.fixture.get(path).status == 404)
      let answer = try teams.fixture.get(path, ["Last-Event-ID: x-1"])
      #expect(answer.status == 204)
      #expect(answer.body.isEmpty)
    }
  }
}
