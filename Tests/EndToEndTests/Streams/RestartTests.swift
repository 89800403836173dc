import RecordsAPI
import Testing

@Suite(.endToEnd) struct `A stream across a restart of the server` {
  private let fixture: ServerFixture

  init() throws {
    fixture = try ServerFixture(
      """
      CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, note TEXT);
      INSERT INTO player VALUES (1, 'Ada', 'Blue', ''), (2, 'Barbara', 'Blue', ''),
        (3, 'Cleo', 'Red', '');
      -- Long records: beside them what stands around them in a change set is little.
      UPDATE player SET note = printf('%010000d', id);
      """,
      queries: """
        players:
          table: player
          order: [name]
          section: team
          cache: true
        some:
          table: player
          where: id < :least
          parameters:
            least: {type: integer, default: 3}
          cache: true
        uncached:
          table: player
        """)
  }

  private func resume(
    _ model: ClientModel, _ query: String, _ items: String = "", _ fixture: ServerFixture
  ) -> Follower {
    Follower(
      fixture.stream("/v1/queries/\(query)/events\(items)", .init(lastEventID: model.version)),
      model: model)
  }

  @Test func `goes on with what changed meanwhile`() throws {
    let writer = try fixture.writer()
    let follower = try fixture.follow("players")
    try writer.commit("UPDATE player SET name = 'Aaron' WHERE id = 3")
    _ = try follower.changes()
    fixture.drain()
    try writer.commit(
      "UPDATE player SET team = 'Red' WHERE id = 1; DELETE FROM player WHERE id = 2")
    let next = try ServerFixture(after: fixture)
    let resumed = resume(follower.model, "players", "", next)
    #expect(try resumed.changes().count == 3)
    try next.expectTruth(
      resumed, "players", "SELECT * FROM player ORDER BY team, name, id", section: "team")
    try writer.commit("INSERT INTO player VALUES (4, 'Dora', 'Red', '')")
    _ = try resumed.changes()
    try next.expectTruth(
      resumed, "players", "SELECT * FROM player ORDER BY team, name, id", section: "team")
  }

  @Test func `goes on with each value of a parameter`() throws {
    let followers = try [2, 3].map { try fixture.follow("some", "?least=\($0)") }
    fixture.drain()
    try fixture.writer().commit("UPDATE player SET name = 'X' WHERE id = 1")
    let next = try ServerFixture(after: fixture)
    for (least, follower) in zip([2, 3], followers) {
      let resumed = resume(follower.model, "some", "?least=\(least)", next)
      #expect(try resumed.changes().count == 1)
      #expect(resumed.model.records.count == least - 1)
    }
  }

  @Test func `begins anew where the version is another one, or nothing is kept`() throws {
    let writer = try fixture.writer()
    let follower = try fixture.follow("players")
    let uncached = try fixture.follow("uncached")
    let early = follower.model
    try writer.commit("UPDATE player SET name = 'Aaron' WHERE id = 3")
    _ = try follower.changes()
    fixture.drain()
    try writer.commit("UPDATE player SET name = 'Zoe' WHERE id = 3")
    let next = try ServerFixture(after: fixture)
    try resume(early, "players", "", next).expectSnapshot()
    try resume(uncached.model, "uncached", "", next).expectSnapshot()
  }

  @Test func `begins anew after a change of the schema`() throws {
    let follower = try fixture.follow("players")
    fixture.drain()
    try fixture.writer().commit("ALTER TABLE player ADD COLUMN score DEFAULT 7")
    let next = try ServerFixture(after: fixture)
    try resume(follower.model, "players", "", next).expectSnapshot()
  }
}
