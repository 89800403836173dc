import CCurl
import RecordsAPI
import Testing

/// A heartbeat that programs see: `protocol.md` §4.
@Suite(.endToEnd) struct `A heartbeat that is an event` {
  private static let paths = [
    "/v1/queries/players/events?heartbeat=event",
    "/v1/queries/players/events?heartbeat=event&offset=0&limit=2",
    "/v1/events?query=players&heartbeat=event",
  ]

  private func fixture(
    _ words: String = "", every interval: Duration = .milliseconds(100)
  ) throws -> ServerFixture {
    try ServerFixture(Teams.schema, queries: Teams.query, words: words) { $0.heartbeat = interval }
  }

  @Test(arguments: paths)
  func `comes when there is nothing to say, without an id`(path: String) throws {
    let fixture = try fixture()
    let stream = fixture.stream(path)
    let version = try #require(try stream.next()).lastEventID
    for _ in 1...3 {
      let event = try #require(try stream.next())
      #expect(event.type == "heartbeat" && event.data == "{}")
      #expect(!event.carriesID && event.lastEventID == version)
    }
    #expect(!stream.text.contains(": heartbeat\n\n"))
    try fixture.writer().commit("DELETE FROM player WHERE id = 1")
    while try stream.next()?.type != "didChange" {}
    while try stream.next()?.type != "heartbeat" {}
  }

  /// Who resumes from another request knows by it that both have the same records.
  @Test(arguments: paths) func `follows the beginning at once`(path: String) throws {
    let fixture = try fixture(every: .seconds(3600))
    let stream = fixture.stream(path)
    let version = try #require(try stream.next()).lastEventID
    #expect(try stream.next()?.type == "heartbeat")
    let resumed = fixture.stream("\(path)&lastEventId=\(version)")
    #expect(try resumed.next()?.type == "heartbeat")
    try fixture.writer().commit("DELETE FROM player WHERE id = 1")
    while try resumed.next()?.type != "didChange" {}
    // It would be wrong before what the log has since then.
    let late = fixture.stream("\(path)&lastEventId=\(version)")
    #expect(try late.next()?.type != "heartbeat")
  }

  @Test(arguments: paths.map { $0.replacing("heartbeat=event", with: "heartbeat=comment") })
  func `is a comment for whoever says so, as for others`(path: String) throws {
    let fixture = try fixture()
    let stream = fixture.stream(path)
    for _ in 1...2 { #expect(try stream.comment().hasPrefix(":")) }
    #expect(stream.allEvents.map(\.type) == ["snapshot"])
  }

  @Test(arguments: paths) func `is a line of its own among lines`(path: String) throws {
    let fixture = try fixture()
    let lines = fixture.stream(path, .init(fields: ["Accept: application/x-ndjson"]))
    let beat = #"{"event":"heartbeat","data":{}}"# + "\n"
    try eventually("two heartbeats") { lines.text.hasSuffix(beat + beat) }
    #expect(!lines.text.contains("\n\n"))
  }

  /// A URL of its own, so that a cache gives nobody the other form; its end is that of any other.
  @Test func `comes on a stream that caches may share`() throws {
    let stream = try fixture("caches: {streams: 3s}\n").stream(Self.paths[0])
    #expect(try stream.head()["Cache-Control"]?.hasPrefix("public, max-age=") == true)
    #expect(try stream.next()?.type == "snapshot")
    #expect(try stream.next()?.type == "heartbeat")
    #expect(try stream.end() == CURLE_OK)
    let last = try #require(stream.text.split(separator: "\n\n").last)
    #expect(last.hasPrefix("id: "))
  }

  @Test func `comes on the stream of a caller`() throws {
    let shop = try Shop(words: "timeouts: {heartbeat: 100ms}\n")
    let stream = shop.stream("/v1/queries/shelf/events?heartbeat=event", as: "ann")
    #expect(try stream.next()?.type == "snapshot")
    #expect(try stream.next()?.type == "heartbeat")
    // Other claims go on with another body of the same stream.
    try shop.writer.commit(Shop.change("ann", "level = 2"))
    while try stream.next()?.type != "didChange" {}
    while try stream.next()?.type != "heartbeat" {}
  }

  @Test func `is refused where it is neither, or no stream is asked for`() throws {
    let fixture = try fixture()
    for (path, hint) in [
      ("/v1/queries/players/events?heartbeat=true", "comment or event"),
      ("/v1/events?query=players&heartbeat=", "comment or event"),
      ("/v1/events?query=players%3Fheartbeat%3Devent", "means nothing"),
      ("/v1/queries/players/records?heartbeat=event", "means nothing"),
      ("/v1/queries/players/changes?heartbeat=event", "means nothing"),
    ] {
      let answer = try fixture.get(path)
      answer.expectProblem(400)
      #expect(try answer.json["detail"].string?.contains(hint) == true, "\(path)")
    }
  }
}
