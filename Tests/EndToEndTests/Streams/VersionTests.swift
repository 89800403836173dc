import TestSupport
import Testing

@Suite(.endToEnd) struct `A version` {
  private static let schema = """
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER);
    INSERT INTO player SELECT value, 'player ' || value, 'team ' || value % 3, value % 7
      FROM generate_series(1, 200);
    """
  private static let queries = """
    players: {table: player, order: [name], section: team}
    top: {sql: "SELECT name, score FROM player ORDER BY score DESC, id", alongside: {n: SELECT count(*) FROM player}}
    some: {table: player, where: "score < :least", parameters: {least: {type: integer}}}
    others: {table: player, order: [name], section: team}
    """
  private static let paths =
    [
      "players/events", "top/events", "some/events?least=3", "players/events?offset=7&limit=20",
      "top/events?minInterval=1",
    ].map { "/v1/queries/\($0)" } + ["/v1/events?query=players&query=some%3Fleast%3D2%26limit%3D3"]

  private let fixture: ServerFixture

  init() throws { fixture = try ServerFixture(Self.schema, queries: Self.queries) }

  /// What a client has that has read a stream's beginning.
  private func lastID(_ path: String, _ fixture: ServerFixture) throws -> String {
    let stream = fixture.stream(path)
    while true {
      let event = try #require(try stream.next())
      if !event.lastEventID.isEmpty { return event.lastEventID }
    }
  }

  private func state(_ path: String, _ fixture: ServerFixture) throws -> Substring {
    try lastID(path, fixture).stateOfVersion
  }

  @Test(arguments: paths)
  func `lets a stream go on without a word at a server that starts again`(path: String) throws {
    let id = try lastID(path, fixture)
    fixture.drain()
    let next = try ServerFixture(after: fixture)
    let stream = next.stream(path, .init(lastEventID: id))
    #expect(try stream.head().status == 200)
    try next.writer().commit("UPDATE player SET name = 'another', score = -1 WHERE id IN (7, 14)")
    // What comes first is what has changed since, and it begins with the state that the client has.
    let event = try #require(try stream.next())
    #expect(event.type == "willChange", "\(stream.text)")
    // Where it has another number here, the client is told by a block without an event.
    let known = event.lastEventID.isEmpty ? id : event.lastEventID
    #expect(known.stateOfVersion == id.stateOfVersion)
    if !path.contains("query=") { #expect(try event.json["from"].string == known) }
  }

  @Test func `is the same at a server of a copy of the file, whatever its journal`() throws {
    let copy = try ServerFixture(Self.schema, journal: .delete, queries: Self.queries)
    for path in Self.paths {
      let id = try lastID(path, fixture)
      #expect(try state(path, copy) == id.stateOfVersion, "\(path)")
      let stream = copy.stream(path, .init(lastEventID: id))
      #expect(try stream.head().status == 200)
      #expect(stream.waiting.isEmpty)
    }
  }

  @Test func `is another one for another query, and under another key`() throws {
    #expect(
      try state(Self.paths[0], fixture) != state("/v1/queries/others/events", fixture))
    let keyed = try ServerFixture(
      Self.schema, queries: Self.queries, words: "versionKey: {file: key.txt}\n",
      files: ["key.txt": "a secret of thirty-two characters"])
    for path in Self.paths { #expect(try state(path, keyed) != state(path, fixture), "\(path)") }
    let stream = keyed.stream(Self.paths[0], .init(lastEventID: try lastID(Self.paths[0], fixture)))
    #expect(try stream.next()?.type == "snapshot")
  }

  @Test func `comes back with what it names, under a new number`() throws {
    let writer = try fixture.writer()
    let follower = try fixture.follow("players")
    let first = follower.model.version
    try writer.commit("UPDATE player SET name = 'x' WHERE id = 1")
    _ = try follower.changes()
    let second = follower.model.version
    try writer.commit("UPDATE player SET name = 'player 1' WHERE id = 1")
    _ = try follower.changes()
    let third = follower.model.version
    #expect(third.stateOfVersion == first.stateOfVersion)
    #expect(second.stateOfVersion != first.stateOfVersion)
    #expect(third != first)
    for version in [first, third] {
      let stream = fixture.stream(Self.paths[0], .init(lastEventID: version))
      #expect(try stream.head().status == 200)
      #expect(stream.waiting.isEmpty)
    }
    let behind = fixture.stream(Self.paths[0], .init(lastEventID: second))
    #expect(try behind.next()?.type == "willChange")
  }

  @Test func `is known by its state alone as an entity tag, across a restart`() throws {
    let path = "/v1/queries/players/records?limit=5"
    let answer = try fixture.get(path)
    let tag = try #require(answer.head["ETag"])
    #expect(tag == "\"\(try #require(answer.json["version"].string).stateOfVersion)\"")
    fixture.drain()
    let next = try ServerFixture(after: fixture)
    #expect(try next.get(path, ["If-None-Match: \(tag)"]).status == 304)
    try next.writer().commit("UPDATE player SET name = 'a' WHERE id = 1")
    try eventually("it is another") {
      try next.get(path, ["If-None-Match: \(tag)"]).status == 200
    }
  }

  @Test(arguments: [
    "", ".", "..", ".1", "x", "x.y", "-", String(repeating: "a", count: 22) + ".1",
    String(repeating: "x", count: 20_000), "\u{e9}.1", "%00",
  ])
  func `that nobody gave is no pass, and does no harm`(version: String) throws {
    let stream = fixture.stream(
      "/v1/queries/players/events", .init(fields: ["Last-Event-ID: \(version)"]))
    #expect(try stream.next()?.type == "snapshot")
  }
}
