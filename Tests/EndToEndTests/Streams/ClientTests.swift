import CCurl
import RecordsAPI
import Testing

@Suite(.endToEnd) struct `Clients of a stream` {
  @Test func `may speak HTTP/1.0`() throws {
    let teams = try Teams()
    let stream = teams.fixture.stream("/v1/queries/players/events", .init(isHTTP10: true))
    let head = try stream.head()
    #expect(head.status == 200)
    #expect(head["Transfer-Encoding"] == nil)
    #expect(head["Content-Length"] == nil)
    #expect(head["Connection"] == "close")
    let follower = Follower(stream)
    try follower.expectSnapshot()
    try teams.writer.commit("DELETE FROM player WHERE id = 1")
    #expect(try follower.changes() == teams.follower.changes())
    // The end of the connection is the end of the stream.
    teams.fixture.drain()
    #expect(try stream.next() == nil)
    #expect(try stream.end() == CURLE_OK)
  }

  @Test func `may go away`() throws {
    let teams = try Teams()
    let client = teams.fixture.client()
    func subscribers() throws -> Int? {
      try client.get("/v1/queries/players").json["controllers"][0]["subscribers"].int
    }
    let streams = try (0..<10).map { _ in try teams.fixture.follow("players") }
    #expect(try subscribers() == 11)
    for follower in streams[..<4] { follower.stream.close() }
    // Some go while there is something to be sent to them.
    try teams.writer.commit("DELETE FROM player WHERE id = 1")
    for follower in streams[4..<7] { follower.stream.close() }
    try eventually("seven have gone") { try subscribers() == 4 }
    for follower in streams[7...] { #expect(try follower.changes().count == 1) }
    try teams.expectTruth()
  }

  @Test func `that are gone leave nothing behind`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query) { $0.linger = .zero }
    let client = fixture.client()
    for items in ["", "?limit=2", "?minInterval=10"] {
      try fixture.follow("players", items).stream.close()
    }
    try eventually("no controllers") {
      try client.get("/v1/queries/players").json["controllers"] == []
    }
    // And a controller begun anew shows what is there now, under another epoch.
    let follower = try fixture.follow("players")
    try fixture.writer().commit("DELETE FROM player WHERE id = 1")
    #expect(try follower.changes().count == 1)
  }

  @Test func `are told to come back when the server ends`() throws {
    let teams = try Teams()
    let streams =
      [
        "/v1/queries/players/events", "/v1/queries/players/events?limit=2",
        "/v1/queries/players/events?minInterval=1000", "/v1/events?query=players",
      ].map { teams.fixture.stream($0) }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    try teams.writer.commit("DELETE FROM player WHERE id = 1")
    _ = try teams.follower.changes()
    teams.fixture.drain()
    for stream in streams {
      #expect(try stream.end() == CURLE_OK)
      #expect(stream.text.hasSuffix("\n\n"))
      #expect(stream.text.wholeMatch(of: /(?s)retry: \d+\n\n.*\n\nretry: \d+\n\n/) != nil)
    }
  }
}
