import Testing

@Suite(.endToEnd) struct `A long poll` {
  private let teams: Teams
  private let client: HTTPClient
  private let path = "/v1/queries/players/changes"

  init() throws {
    teams = try Teams(others: 200)
    client = teams.fixture.client()
  }

  private func expectTruth(
    _ poller: Poller, _ sql: String = "SELECT * FROM player ORDER BY team, name, id",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let plain = try teams.fixture.database.select(sql)
    #expect(poller.model.records.map(\.values) == plain, sourceLocation: sourceLocation)
  }

  private func current() throws -> Poller {
    let poller = Poller("players")
    try poller.poll(client)
    return poller
  }

  @Test func `without a version is one snapshot, whatever it would wait`() throws {
    for items in ["", "?wait=0", "?wait=60", "?wait=60&snapshot=true", "?after="] {
      let start = ContinuousClock.now
      let answer = try client.get(path + items)
      #expect(ContinuousClock.now - start < .seconds(30))
      let json = try answer.json
      #expect(json["from"] == .null)
      #expect(json["events"].elements.map { $0["event"] } == ["snapshot"])
      #expect(json["events"][0].names == ["event", "data"])
      let poller = Poller("players")
      try poller.take(answer)
      #expect(poller.model.version == teams.follower.model.version)
      try expectTruth(poller)
    }
  }

  @Test func `that wants no snapshot is told the version`() throws {
    let answer = try client.get("\(path)?snapshot=false&wait=60").json
    #expect(answer["version"].string == teams.follower.model.version)
    #expect(answer["from"] == .null && answer["events"] == [])
  }

  @Test func `is answered at once where there is something`() throws {
    let poller = try current()
    try teams.writer.commit("UPDATE player SET score = 11 WHERE id = 1")
    _ = try teams.follower.changes()
    try teams.writer.commit("DELETE FROM player WHERE id = 2")
    _ = try teams.follower.changes()
    let answer = try poller.poll(client, wait: 60)
    #expect(answer["events"].elements.filter { $0["event"] == "change" }.count == 2)
    #expect(answer["version"].string == teams.follower.model.version)
    try expectTruth(poller)
  }

  @Test func `waits, and is answered at a commit`() throws {
    let poller = try current()
    let waiting = try teams.fixture.waitingPoll(poller.url(wait: 60))
    try teams.writer.commit("UPDATE player SET team = 'Red', score = 11 WHERE id = 1")
    try poller.take(try waiting.answer())
    try expectTruth(poller)
    #expect(try teams.fixture.waitingPolls() == 0)
  }

  @Test func `tells what a stream tells`() throws {
    let poller = try current()
    let waiting = try teams.fixture.waitingPoll(poller.url(wait: 60))
    try teams.writer.commit("UPDATE player SET team = 'Green', score = 11 WHERE id IN (1, 6)")
    _ = try teams.follower.changes()
    let told = teams.follower.stream.allEvents.filter { $0.type != "snapshot" }
    let events = try waiting.answer().json["events"].elements
    #expect(events.map { "\($0["event"].string ?? "") \($0["data"])" } == told.map(\.description))
  }

  @Test func `ends empty after its time, and asks for another URL next`() throws {
    let poller = try current()
    var urls: Set<String> = []
    for wait in [1, 0, 0, 0, 1] {
      #expect(urls.insert(poller.url(wait: 0)).inserted)
      let start = ContinuousClock.now
      let answer = try poller.poll(client, wait: wait)
      let duration = ContinuousClock.now - start
      #expect(answer["events"] == [] && answer["version"] == answer["from"])
      #expect(duration >= .milliseconds(wait * 950))
    }
  }

  /// So that a cache between them and the server asks it once.
  @Test func `ends with the same cursor for all that it tells of a commit`() throws {
    let version = try current().model.version
    let items = ["", "&cursor=1", "&cursor=77", "&cursor=nonsense"]
    let waiting = try items.enumerated().map { index, item in
      try teams.fixture.waitingPoll("\(path)?wait=60&after=\(version)\(item)", beside: index)
    }
    try teams.writer.commit("UPDATE player SET score = 11 WHERE id = 1")
    let answers = try waiting.map { try $0.answer().json }
    // The clock may go on between two of them.
    let cursors = Set(answers.compactMap { $0["cursor"].string.flatMap { Int($0) } })
    #expect(cursors.count <= 2 && (cursors.max() ?? 0) - (cursors.min() ?? 0) <= 1)
    #expect(Set(answers.map { $0["events"].description }).count == 1)
  }

  /// The state alone counts.
  @Test func `gets nothing where another server has numbered what it has`() throws {
    let version = teams.follower.model.version
    for after in [String(version.dropLast()), version + "0"] {
      let answer = try client.get("\(path)?after=\(after)").json
      #expect(answer["events"] == [] && answer["from"] == .string(after))
      #expect(answer["version"] == .string(version))
    }
  }

  @Test func `gets the snapshot where its version is not known`() throws {
    let version = teams.follower.model.version
    let other = try teams.fixture.client().get("/v1/queries/players/changes?limit=2").json
    let versions = [
      "nonsense", String(version.dropFirst()), "0" + version, version.uppercased(), "%00", "-",
      ".1",
      "%22%7D%5D", String(repeating: "7", count: 7000), try #require(other["version"].string),
    ]
    for after in versions where after != version {
      let answer = try client.get("\(path)?wait=60&after=\(after)")
      let poller = Poller("players")
      try poller.take(answer)
      #expect(try answer.json["from"] == .null)
      #expect(poller.model.version == version, "\(after)")
    }
    #expect(
      try client.get("\(path)?after=" + String(repeating: "7", count: 1_000_000)).status == 414)
    let field = String(repeating: "7", count: 100_000)
    #expect(try HTTPClient(teams.fixture.base).get(path, ["Last-Event-ID: \(field)"]).status == 431)
  }

  @Test func `takes a version from a field, as streams do`() throws {
    let version = teams.follower.model.version
    let same = try client.get(path, ["Last-Event-ID: \(version)"])
    #expect(try same.json["from"].string == version && same.json["events"] == [])
    #expect(same.head.members("Vary").contains("last-event-id"))
    let both = try client.get("\(path)?after=\(version)", ["Last-Event-ID: \(version)"])
    #expect(both.status == 200)
  }

  @Test func `says what is wrong`() throws {
    let bad = [
      ("wait=61", "at most 60"), ("wait=-1", "at least 0"), ("wait=1.5", "integer"),
      ("wait=", "integer"), ("wait=soon", "integer"), ("wait=99999999999999999999", "at most 60"),
      ("limit=0", "at least 1"), ("snapshot=maybe", "true or false"), ("query=players", "query"),
      ("lastEventId=1", "lastEventId"), ("before=1", "before"), ("wait=1&wait=2", "twice"),
      ("team=Red", "no parameter team"), ("minInterval=-1", "at least 0"),
    ]
    for (items, words) in bad {
      let answer = try client.get("\(path)?\(items)")
      answer.expectProblem(400, "\(items)")
      #expect(try answer.json["detail"].string?.contains(words) == true, "\(answer.text)")
    }
    let two = try client.get("\(path)?after=a.1", ["Last-Event-ID: b.2"])
    two.expectProblem(400)
    #expect(try two.json["detail"].string?.contains("a.1") == true)
    try client.get("/v1/queries/player/changes").expectProblem(404)
    try client.get("\(path)", ["Accept: text/event-stream"]).expectProblem(406)
    #expect(try client.send("OPTIONS", path).head["Allow"] == "GET, HEAD, OPTIONS")
    try client.post(path).expectProblem(405)
  }

  @Test func `waits for nothing where only its head is asked for`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    let start = ContinuousClock.now
    let answer = try fixture.client().send("HEAD", "\(path)?wait=60&after=nonsense")
    #expect(ContinuousClock.now - start < .seconds(30))
    #expect(answer.status == 200 && answer.body.isEmpty)
    #expect(answer.head["Content-Type"] == "application/json")
    #expect(try fixture.get("/v1/queries/players").json["controllers"] == [])
    #expect(try fixture.client().send("HEAD", "\(path)?wait=61").status == 400)
  }
}
