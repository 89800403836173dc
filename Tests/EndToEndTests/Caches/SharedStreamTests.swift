import CCurl
import Foundation
import RecordsAPI
import TestSupport
import Testing

/// Streams as a shared cache is given them, without one.
@Suite(.endToEnd) struct `A stream that caches may share` {
  private static let queries =
    Teams.query + """

      team:
        table: player
        where: team = :team
        order: [name]
        parameters: {team: {type: text, default: Blue}}
      """

  private func fixture(_ words: String = "caches: {streams: 3s}\n") throws -> ServerFixture {
    try ServerFixture(Teams.schema, queries: Self.queries, words: words)
  }

  private static let paths = [
    "/v1/queries/players/events", "/v1/queries/players/events?snapshot=false",
    "/v1/queries/players/events?offset=0&limit=3", "/v1/queries/players/events?minInterval=100",
    "/v1/queries/team/events?team=Blue", "/v1/events?query=players&query=team%3Fteam%3DBlue",
    "/v1/events?query=players%3Flimit%3D2&minInterval=50",
  ]

  @Test func `is fresh for less time than it lives, and varies by what follows`() throws {
    let fixture = try fixture()
    for path in Self.paths {
      let head = try fixture.stream(path).head()
      #expect(head["Content-Type"] == "text/event-stream")
      #expect(head["X-Accel-Buffering"] == "no")
      #expect(head["Vary"] == "Accept, Origin, Last-Event-ID")
      #expect(head["Content-Encoding"] == nil)
      #expect(head.maximumAge.map { (1...3).contains($0) } == true, "\(path)")
      let answer = try fixture.client().send("HEAD", path)
      #expect(answer.status == 200 && answer.body.isEmpty)
      #expect(answer.head.maximumAge != nil)
    }
  }

  /// However it was asked for: from a snapshot, after a version, with a window, a pace, others.
  @Test(.slow) func `ends with all others, with an id alone, by which nothing is sent twice`()
    throws
  {
    let fixture = try fixture("caches: {streams: 4s}\n")
    let (client, writer) = (fixture.client(), try fixture.writer())
    // As much of their time as there can be, before the first commit.
    try eventually("streams end") {
      try client.send("HEAD", Self.paths[0]).head.maximumAge == 2
    }
    var streams = Self.paths.map { fixture.stream($0) }
    for stream in streams { _ = try stream.head() }
    try writer.commit("UPDATE player SET name = 'Abe' WHERE id = 1")
    for stream in streams { while try !Self.isCommit(stream.next(), of: stream) {} }
    let first = try streams.map { try Self.end(of: $0) }
    #expect(Set(first.map(\.number)).count == 1)
    // Quiet: nothing but when to come back, and what the version is called here.
    streams = zip(Self.paths, first).map { fixture.stream($0, .init(lastEventID: $1.id)) }
    let second = try streams.map { try Self.end(of: $0) }
    for (stream, (before, after)) in zip(streams, zip(first, second)) {
      #expect(stream.allEvents.isEmpty, "\(stream.text)")
      #expect(stream.text.hasPrefix("retry: 1000\n\n"))
      #expect(after.state == before.state)
      #expect(after.number > before.number)
    }
    #expect(Set(second.map(\.number)).count == 1)
    // What follows is told from there.
    streams = zip(Self.paths, second).map { fixture.stream($0, .init(lastEventID: $1.id)) }
    for stream in streams { _ = try stream.head() }
    try writer.commit("UPDATE player SET name = 'Ada' WHERE id = 1")
    for stream in streams { #expect(try stream.next()?.type == "willChange") }
  }

  /// Whether it is the last event of a commit.
  private static func isCommit(_ event: ReceivedEvent?, of stream: EventStream) throws -> Bool {
    guard let event else { throw ContractViolation("the stream has ended: \(stream.text)") }
    return event.carriesID && event.type != "snapshot"
  }

  private struct End {
    let id: String
    let state: Substring
    let number: Int
  }

  /// Waits for the end, and takes the last block apart.
  private static func end(of stream: EventStream) throws -> End {
    #expect(try stream.end() == CURLE_OK)
    let block = stream.text.split(separator: "\n\n").last ?? ""
    let match = try #require(
      String(block).wholeMatch(of: #/id: (([^.]+)\.([0-9]+))/#), "\(stream.text)")
    let number = try #require(Int(match.3))
    #expect(number % 4000 == 0)
    let ids = stream.text.split(separator: "\n").filter { $0.hasPrefix("id: ") }
    if ids.count > 1 {
      #expect(String(ids[ids.count - 2].dropFirst(4)).stateOfVersion == match.2)
    }
    return End(id: String(match.1), state: match.2, number: number)
  }

  @Test func `ends with another id than it would have where it is drained`() throws {
    let fixture = try fixture("caches: {streams: 1h}\n")
    let stream = fixture.stream(Self.paths[0])
    let version = try #require(try stream.next()).lastEventID
    fixture.drain()
    #expect(try stream.end() == CURLE_OK)
    let blocks = stream.text.split(separator: "\n\n").suffix(2)
    #expect(blocks.first?.wholeMatch(of: #/retry: [0-9]+/#) != nil)
    let last = String(try #require(blocks.last))
    #expect(last.hasPrefix("id: \(version.stateOfVersion)."))
    #expect(last.hasSuffix("001") && last != "id: \(version)")
  }

  @Test func `is not what somebody asks for who shows who they are`() throws {
    let fixture = try fixture()
    for (path, fields) in [
      (Self.paths[0], ["Authorization: Bearer a"]), (Self.paths[0] + "?access_token=a", []),
      (Self.paths[0] + "?access%5Ftoken=a", []), ("/v1/events?query=team%3Faccess_token%3Da", []),
    ] {
      let head = try fixture.stream(path, .init(fields: fields)).head()
      #expect(head["Cache-Control"] == "no-cache, no-transform", "\(path)")
      #expect(head["Vary"] == "Accept")
    }
  }

  @Test func `is a stream alone`() throws {
    let fixture = try fixture()
    let client = fixture.client()
    for path in [
      "/v1/queries", "/v1/queries/players/records", "/v1/queries/players/events?limit=0",
      "/v1/queries/nobody/events", "/v1/events", "/v1/selftest", "/metrics",
    ] {
      let answer = try client.send("HEAD", path)
      #expect(answer.head["Cache-Control"]?.contains("public") == false, "\(path)")
    }
    let gone = try client.get("/v1/queries/nobody/events?lastEventId=1.1")
    #expect(gone.status == 204 && gone.head["Cache-Control"] == "no-store")
  }

  @Test func `depends on the page's origin, and says so once`() throws {
    let fixture = try fixture("caches: {streams: 3s}\ncors: [\"https://a.example\"]\n")
    for fields in [[], ["Origin: https://a.example"], ["Origin: https://b.example"]] {
      let head = try fixture.stream(Self.paths[0], .init(fields: fields)).head()
      #expect(head["Vary"] == "Accept, Origin, Last-Event-ID")
    }
  }
}

extension ResponseHead {
  /// The seconds for which caches may share the answer; nil: they may not.
  var maximumAge: Int? {
    self["Cache-Control"]?.wholeMatch(of: #/public, max-age=([0-9]+), no-transform/#).flatMap {
      Int($0.1)
    }
  }
}

/// What a cache may share where callers are told from each other.
@Suite(.endToEnd) struct `Streams of callers` {
  private let shop: Shop

  init() throws { shop = try Shop(words: "caches: {streams: 3s}\n") }

  @Test func `are shared where anyone may read them and nobody says who they are`() throws {
    let head = try shop.stream("/v1/queries/notices/events").head()
    #expect(head["Cache-Control"]?.hasPrefix("public, max-age=") == true)
    #expect(head["Vary"] == "Accept, Origin, Last-Event-ID")
    let several = try shop.stream("/v1/events?query=notices").head()
    #expect(several["Cache-Control"]?.hasPrefix("public, max-age=") == true)
  }

  @Test func `are a caller's own otherwise`() throws {
    let ticket = try shop.ticket(as: "ann")
    let streams = [
      shop.stream("/v1/queries/notices/events", as: "ann"),
      shop.stream("/v1/queries/orders/events", as: "ann"),
      shop.stream("/v1/events?query=notices&query=orders", as: "ann"),
      shop.stream("/v1/queries/notices/events?access_token=\(ticket)"),
      shop.fixture.stream("/v1/queries/notices/events", .init(fields: Shop.cookie("ann"))),
    ]
    for stream in streams {
      let head = try stream.head()
      #expect(head.status == 200)
      #expect(head["Cache-Control"] == "private, no-cache, no-transform")
      #expect(head["Vary"]?.contains("Authorization, Cookie") == true)
    }
    // They do not end with those that are shared.
    let shared = shop.stream("/v1/queries/notices/events")
    #expect(try shared.end() == CURLE_OK)
    try shop.writer.commit("UPDATE notice SET text = 'Closed'")
    _ = try streams[0].next()
    #expect(try streams[0].next()?.type == "willChange")
  }

  @Test func `are refused to everybody alike`() throws {
    for path in ["/v1/queries/orders/events", "/v1/events?query=notices&query=ledger"] {
      let head = try shop.stream(path).head()
      #expect(head.status == 401)
      #expect(head["Cache-Control"] == "no-store")
    }
  }
}
