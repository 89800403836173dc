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

  /// It is a part of the state that a version names, so that what changes it alone is told too.
  @Test(arguments: ["", "?limit=1", "?minInterval=10"])
  func `is told though no record changes`(items: String) throws {
    let first = try fixture.follow("reds", items)
    let before = first.model.version
    try fixture.writer().commit("INSERT INTO news VALUES (1, 'x')")
    #expect(try first.changes() == [])
    #expect(first.model.alongside == .object([("total", 2), ("news", "x")]))
    let later = try fixture.follow("reds", items)
    #expect(later.model.version == first.model.version)
    #expect(later.model.version != before)
    #expect(later.model.alongside == first.model.alongside)
    #expect(later.model.commit == first.model.commit)
    // What leaves it as it is, is no event: the next one is that of the deletion.
    try fixture.writer().commit("UPDATE news SET id = 2")
    try fixture.writer().commit("DELETE FROM player WHERE id = 5")
    for follower in [first, later] {
      _ = try follower.changes()
      #expect(follower.model.alongside == .object([("total", 1), ("news", "x")]))
    }
  }
}
