import Testing

@Suite(.endToEnd) struct `A stream of several queries` {
  private let fixture: ServerFixture
  private let writer: ForeignWriter

  init() throws {
    fixture = try ServerFixture(
      Teams.schema + Teams.others(100),
      queries: Teams.query + """

        team:
          table: player
          fields: [id, score]
          where: team = :team
          parameters: {team: {type: text, default: Red}}
        """)
    writer = try fixture.writer()
  }

  private let path = "/v1/events?query=players&query=team%3Fteam%3DBlue&query=team"

  private func open(_ options: EventStream.Options = .init()) throws -> SeveralFollower {
    var client = SeveralFollower(stream: fixture.stream(path, options))
    if options.lastEventID == nil {
      for last in [false, false, true] {
        let event = try client.receive()
        #expect(event.type == "snapshot")
        // Only the last of the opening snapshots carries an id.
        #expect(event.carriesID == last)
      }
    }
    return client
  }

  @Test func `tells all of one commit together`() throws {
    var client = try open()
    #expect(
      client.models.keys.sorted() == [
        "players", #"team{"team":"Blue"}"#, #"team{"team":"Red"}"#,
      ])
    try writer.commit("UPDATE player SET team = 'Red' WHERE id = 1")
    let events = try client.receive(upTo: "commit")
    #expect(events.map(\.type).filter { $0 == "willChange" }.count == 3)
    #expect(events.map(\.carriesID) == events.map { $0.type == "commit" })
    #expect(try events.last?.json.names == ["commit"])
    #expect(Set(client.models.values.map(\.commit)) == Set(client.commits))
    // A commit of one query's records is of that one only.
    try writer.commit("UPDATE player SET name = 'Danny' WHERE id = 4")
    let second = try client.receive(upTo: "commit")
    #expect(second.map(\.type) == ["willChange", "change", "didChange", "commit"])
    #expect(try second[1].json["query"] == "players")
    let ids = client.models.mapValues { $0.records.map(\.key) }
    #expect(ids[#"team{"team":"Blue"}"#] == [[2], [3]])
    #expect(ids[#"team{"team":"Red"}"#] == [[1], [5], [6]])
  }

  @Test func `is resumed by commits`() throws {
    var client = try open()
    let first = client
    let firstID = client.stream.lastEventID
    try writer.commit("UPDATE player SET team = 'Red' WHERE id = 1")
    _ = try client.receive(upTo: "commit")
    let second = client
    let id = client.stream.lastEventID
    try writer.commit("UPDATE player SET score = 0 WHERE id = 1")
    let last = try client.receive(upTo: "commit")
    var resumed = try open(.init(lastEventID: id))
    resumed.models = second.models
    #expect(try resumed.receive(upTo: "commit").map(\.text) == last.map(\.text))
    #expect(resumed.models.mapValues(\.records) == client.models.mapValues(\.records))
    // Of two commits the second says it all, and leads on.
    var joined = try open(.init(lastEventID: firstID))
    joined.models = first.models
    let events = try joined.receive(upTo: "commit")
    #expect(events.last?.text == last.last?.text)
    #expect(joined.models.mapValues(\.records) == client.models.mapValues(\.records))
    // An id that nobody knows begins anew.
    var anew = try open(.init(lastEventID: "x-1"))
    for _ in 1...3 { #expect(try anew.receive().type == "snapshot") }
    #expect(anew.models.mapValues(\.records) == client.models.mapValues(\.records))
  }

  @Test func `tells which one failed`() throws {
    var client = try open()
    try writer.commit("ALTER TABLE player RENAME TO person")
    var failed: Set<String> = []
    while failed.count < 2 {
      let event = try client.receive()
      #expect(event.type == "fetchError")
      failed.insert(try event.json["query"].string ?? "")
    }
    #expect(failed == ["players", "team"])
    try writer.commit("ALTER TABLE person RENAME TO player; DELETE FROM player WHERE id = 1")
    var types: [String] = []
    repeat { types.append(try client.receive().type) } while types.last != "commit"
    #expect(types.count { $0 == "didChange" } == 2)
  }

  @Test(arguments: [
    "", "?query=players&query=players", "?query=players&x=1", "?query=team%3Fx%3D1",
    "?query=players%3Flimit%3D0", "?query=players&limit=1", "?query=team&query=team%3Fteam%3DRed",
    // Their events could not be told apart.
    "?query=players%3Flimit%3D1&query=players%3Foffset%3D0%26limit%3D1",
  ])
  func `is refused where it cannot be`(items: String) throws {
    let answer = try fixture.get("/v1/events\(items)")
    #expect(answer.status == 400)
    #expect(answer.head["Content-Type"] == "application/problem+json")
  }

  @Test func `is refused as not found where a query has no name`() throws {
    let answer = try fixture.get("/v1/events?query=")
    #expect(answer.status == 404)
    #expect(answer.head["Content-Type"] == "application/problem+json")
  }

  @Test func `has a bound`() throws {
    func items(_ count: Int) -> String {
      "/v1/events?" + (1...count).map { "query=players%3Flimit%3D\($0)" }.joined(separator: "&")
    }
    let stream = fixture.stream(items(64))
    for number in 1...64 {
      #expect(try stream.next()?.json["numberOfRecords"].int == number)
    }
    let refused = try fixture.get(items(65))
    #expect(refused.status == 400)
    #expect(try refused.json["detail"].string?.contains("64") == true)
    try writer.commit("DELETE FROM player WHERE id = 1")
    var ends = 0
    while let event = try stream.next(), event.type != "commit" {
      if event.type == "didChange" { ends += 1 }
    }
    #expect(ends == 64)
  }

  @Test func `may show windows`() throws {
    var client = SeveralFollower(
      stream: fixture.stream("/v1/events?query=players%3Flimit%3D2&query=team"))
    _ = try client.receive()
    _ = try client.receive()
    #expect(client.models["players"]?.records.map(\.key) == [[1], [2]])
    #expect(client.models["players"]?.total == 106)
    try writer.commit("DELETE FROM player WHERE id = 1")
    _ = try client.receive(upTo: "commit")
    #expect(client.models["players"]?.records.map(\.key) == [[2], [3]])
    #expect(client.models["players"]?.total == 105)
  }

  @Test func `may show several windows of one query`() throws {
    let stream = fixture.stream(
      "/v1/events?query=players&query=players%3Flimit%3D1&query=players%3Foffset%3D1%26limit%3D2")
    let windows: [[Int?]] = [[nil, nil], [0, 1], [1, 2]]
    func window(_ json: JSONValue) -> [Int?] {
      [json["window"]["offset"].int, json["window"]["limit"].int]
    }
    for (expected, count) in zip(windows, [106, 1, 2]) {
      let snapshot = try #require(try stream.next()).json
      #expect(window(snapshot) == expected)
      #expect(snapshot["numberOfRecords"].int == count)
    }
    // Leaves the whole and the first window, and shifts the second.
    try writer.commit("DELETE FROM player WHERE id = 1")
    var ends: [[Int?]] = []
    while let event = try stream.next(), event.type != "commit" {
      if event.type == "didChange" { ends.append(window(try event.json)) }
    }
    #expect(ends == windows)
  }

  @Test func `sends no snapshot of what the client has already`() throws {
    let first = fixture.stream("/v1/events?query=players&query=team")
    let versions = try (1...2).map { _ in try #require(try first.next()?.json["version"].string) }
    func types(known: String) throws -> [String] {
      let stream = fixture.stream(
        "/v1/events?query=players%3FlastEventId%3D\(known)&query=team%3Flimit%3D1")
      return try (1...2).map { _ in
        let event = try #require(try stream.next())
        if event.type == "snapshot" { try writer.commit("UPDATE player SET score = score + 1") }
        return try "\(event.type) \(event.json["query"].string ?? "")"
      }
    }
    #expect(try types(known: versions[0]) == ["snapshot team", "willChange players"])
    // It has changed since: the client has an old version.
    #expect(try types(known: versions[0]) == ["snapshot players", "snapshot team"])
  }

  /// The queries change one after the other, the first one last, within one interval.
  @Test func `tells of joined commits by the last of them`() throws {
    var client = SeveralFollower(
      stream: fixture.stream("/v1/events?query=players&query=team&minInterval=5000"))
    for _ in 1...2 { _ = try client.receive() }
    let players = try fixture.follow("players")
    try writer.commit("UPDATE player SET score = 51 WHERE id = 5")
    _ = try players.changes()
    try writer.commit("UPDATE player SET score = 11 WHERE id = 1")
    _ = try players.changes()
    _ = try client.receive(upTo: "commit")
    #expect(client.commits == [players.model.commit])
  }

  @Test func `takes a table's name as it is`() throws {
    let fixture = try ServerFixture(#"CREATE TABLE "who?when" (a); CREATE TABLE who (a)"#)
    let stream = fixture.stream("/v1/events?query=who%3Fwhen&query=who%3Flimit%3D2")
    #expect(try stream.next()?.json["query"] == "who?when")
    #expect(try stream.next()?.json["query"] == "who")
    let window = fixture.stream("/v1/events?query=who%3Fwhen%3Flimit%3D2&query=who%3F")
    #expect(try window.next()?.json["window"]["limit"] == 2)
    #expect(try window.next()?.json["query"] == "who")
    let missing = try fixture.get("/v1/events?query=why%3Fwhen%3Flimit%3D2")
    #expect(missing.status == 404)
    #expect(try missing.json["detail"].string?.hasPrefix("there is no query why:") == true)
  }

  /// A client that shows the one that fails must not take the snapshot of another for its own.
  @Test func `begins with its snapshots, also where one of them fails`() throws {
    let fixture = try ServerFixture(
      "CREATE TABLE a (x); CREATE TABLE b (x)", queries: "a: {table: a}\nb: {table: b}")
    let path = "/v1/events?query=a&query=b"
    let first = fixture.stream(path)
    for _ in 1...2 { #expect(try first.next()?.type == "snapshot") }
    try fixture.writer().commit("DROP TABLE b")
    #expect(try first.next()?.type == "fetchError")
    // Also with an id that nobody knows.
    for options in [EventStream.Options(), .init(lastEventID: "x-1")] {
      let stream = fixture.stream(path, options)
      let events = try (1...3).map { _ in
        let event = try #require(try stream.next())
        return try "\(event.type) \(event.json["query"].string ?? "")"
      }
      #expect(events == ["snapshot a", "snapshot b", "fetchError b"])
    }
  }
}
