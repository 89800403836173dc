import Testing

@Suite(.endToEnd) struct `What stands alongside` {
  private let fixture: ServerFixture

  init() throws {
    fixture = try ServerFixture(
      Teams.schema + "CREATE TABLE news (id INTEGER PRIMARY KEY, text TEXT);",
      queries: """
        reds:
          table: player
          where: team = :team
          parameters: {team: {type: text, default: Red}}
          alongside:
            total: SELECT count(*) FROM player WHERE team = :team
            news: SELECT text FROM news ORDER BY id DESC LIMIT 1
        """)
  }

  @Test func `is read in the transaction of the records`() throws {
    let follower = try fixture.follow("reds")
    #expect(follower.model.alongside == .object([("total", 2), ("news", nil)]))
    try fixture.writer().commit(
      "INSERT INTO news VALUES (1, 'x'); DELETE FROM player WHERE id = 5")
    _ = try follower.changes()
    #expect(follower.model.alongside == .object([("total", 1), ("news", "x")]))
  }

  /// A change of what stands alongside only is no change of the result; but who comes later must
  /// not be shown what was true before.
  @Test(arguments: ["", "?limit=1", "?minInterval=10"])
  func `is present in a later snapshot`(items: String) throws {
    let first = try fixture.follow("reds", items)
    try fixture.writer().commit("INSERT INTO news VALUES (1, 'x')")
    let fetched = try fixture.client().post("/v1/queries/reds/fetch").json
    let later = try fixture.follow("reds", items)
    #expect(later.model.version == first.model.version)
    #expect(later.model.alongside == .object([("total", 2), ("news", "x")]))
    #expect(later.model.commit == fetched["commit"].int)
    // The next change set brings it to those who were there before.
    try fixture.writer().commit("DELETE FROM player WHERE id = 5")
    for follower in [first, later] {
      _ = try follower.changes()
      #expect(follower.model.alongside == .object([("total", 1), ("news", "x")]))
    }
  }
}
