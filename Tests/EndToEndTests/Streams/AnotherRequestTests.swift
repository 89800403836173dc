import TestSupport
import Testing

@Suite(.endToEnd) struct `A client that asks for something else` {
  private let fixture: ServerFixture

  init() throws {
    fixture = try ServerFixture(
      """
      CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, country TEXT, score INTEGER);
      INSERT INTO player SELECT value, 'player ' || value, iif(value % 2, 'FR', 'DE'), value
        FROM generate_series(1, 400);
      """,
      queries: """
        above: {table: player, where: "score > :least", order: [id], parameters: {least: {type: integer}}}
        of: {table: player, where: "country = :country", parameters: {country: {type: text}}}
        players: {table: player}
        others: {table: player}
        """)
  }

  private func goOn(_ model: ClientModel, _ path: String) -> Follower {
    Follower(
      fixture.stream("/v1/queries/\(path)", .init(lastEventID: model.version)), model: model)
  }

  @Test func `is told the difference to other parameters`() throws {
    let old = try fixture.follow("above", "?least=10")
    let new = goOn(old.model, "above/events?least=12")
    #expect(try new.changes().count == 2)
    #expect(new.model.records.count == 388)
    // And goes on with what it asks for now.
    try fixture.writer().commit("UPDATE player SET name = 'x' WHERE id IN (11, 200)")
    #expect(try new.changes().count == 1)
    try fixture.expectTruth(new, "above?least=12", "SELECT * FROM player WHERE score > 12")
    let back = goOn(new.model, "above/events?least=10")
    #expect(try back.changes().count == 2)
    try fixture.expectTruth(back, "above?least=10", "SELECT * FROM player WHERE score > 10")
  }

  @Test func `is told the difference to another window`() throws {
    var follower = try fixture.follow("players", "?offset=0&limit=100")
    for offset in [10, 25, 20, 390, 0] {
      let before = follower.model.records.count
      follower = goOn(follower.model, "players/events?offset=\(offset)&limit=100")
      let unit = try follower.next()
      let plain = try fixture.database.select("SELECT * FROM player LIMIT 100 OFFSET \(offset)")
      #expect(follower.model.records.map(\.values) == plain)
      // Where nothing is left of what was there, a snapshot is shorter.
      if [10, 25, 20].contains(offset) {
        guard case .changes(let changes) = unit else { throw ContractViolation("\(unit)") }
        #expect(changes.count == 2 * [10: 10, 25: 15, 20: 5][offset, default: 0])
        #expect(before == 100)
      }
    }
    let whole = goOn(follower.model, "players/events")
    _ = try whole.next()
    try fixture.expectTruth(whole, "players", "SELECT * FROM player")
  }

  @Test func `is sent a snapshot where that is shorter`() throws {
    let old = try fixture.follow("of", "?country=FR")
    try goOn(old.model, "of/events?country=DE").expectSnapshot()
    // Of one whose result is larger by so much that it is known at once.
    let few = try fixture.follow("above", "?least=399")
    try goOn(few.model, "above/events?least=0").expectSnapshot()
  }

  @Test func `is not told what another query has shown`() throws {
    let other = try fixture.follow("others")
    try goOn(other.model, "players/events?limit=399").expectSnapshot()
  }

  @Test func `of several queries is told the difference of each`() throws {
    let above = try fixture.follow("above", "?least=10").model.version
    let of = try fixture.follow("of", "?country=FR").model.version
    let players = try fixture.follow("players").model.version
    let stream = fixture.stream(
      "/v1/events?query=above%3Fleast%3D12%26lastEventId%3D\(above)"
        + "&query=of%3Fcountry%3DDE%26lastEventId%3D\(of)"
        + "&query=players%3FlastEventId%3D\(players)")
    var types: [String] = []
    while types.last != "commit" { types.append(try #require(try stream.next()).type) }
    #expect(
      types == ["snapshot", "willChange", "change", "change", "didChange", "commit"], "\(types)")
    // The stream is resumed from all of it.
    let again = fixture.stream(
      "/v1/events?query=above%3Fleast%3D12&query=of%3Fcountry%3DDE&query=players",
      .init(lastEventID: stream.lastEventID))
    #expect(try again.head().status == 200)
    #expect(again.waiting.isEmpty)
    try fixture.writer().commit("UPDATE player SET name = 'x' WHERE id = 11")
    #expect(try again.next()?.type == "willChange")
  }

  @Test func `is told the difference of one query on a stream of several`() throws {
    var version = try fixture.follow("players", "?offset=0&limit=100").model.version
    var streams: [EventStream] = []
    for offset in [10, 25, 20] {
      let stream = fixture.stream(
        "/v1/events?query=players%3Foffset%3D\(offset)%26limit%3D100%26lastEventId%3D\(version)")
      streams.append(stream)
      let begin = try #require(try stream.next())
      #expect(begin.type == "willChange")
      #expect(try begin.json["from"].string == version)
      version = try #require(try begin.json["version"].string)
      while try #require(try stream.next()).type != "commit" {}
    }
    // And from there to a stream of its own.
    let own = fixture.stream(
      "/v1/queries/players/events?offset=15&limit=100", .init(lastEventID: version))
    #expect(try own.next()?.type == "willChange")
  }
}
