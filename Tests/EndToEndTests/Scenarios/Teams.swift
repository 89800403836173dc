import Testing

/// Players by team: a server, a client that follows it, and a writer of another process.
final class Teams {
  static let query = """
    players:
      table: player
      order: [name]
      section: team
    """
  /// Blue: Ada, Bob, Cy. Green: Dan. Red: Eve, Fay.
  static let schema = """
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER);
    INSERT INTO player VALUES (1, 'Ada', 'Blue', 10), (2, 'Bob', 'Blue', 20),
      (3, 'Cy', 'Blue', 30), (4, 'Dan', 'Green', 40), (5, 'Eve', 'Red', 50), (6, 'Fay', 'Red', 60);
    """

  /// Statements that make more players: their ids begin with 1001.
  static func others(_ count: Int) -> String {
    """

    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
    INSERT INTO player SELECT 1000 + i, printf('Other %06d', i), 'Zzz', i FROM n WHERE i <= \(count);
    """
  }

  let fixture: ServerFixture
  let follower: Follower
  let writer: ForeignWriter

  /// With so many `others` behind the named players that what happens to these is little beside them.
  init(
    _ journal: JournalMode = .wal, tool: ForeignWriter.Tool = .sqlite3, others: Int = 0
  ) throws {
    fixture = try ServerFixture(
      Self.schema + Self.others(others), journal: journal, queries: Self.query)
    follower = try fixture.follow("players")
    writer = try fixture.writer(tool)
  }

  /// Commits `sql`, and holds the change set that comes of it against the expected events.
  func expect(
    _ sql: String, _ events: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try writer.commit(sql)
    #expect(try follower.changes() == events, sourceLocation: sourceLocation)
    try expectTruth(sourceLocation: sourceLocation)
  }

  func expectTruth(sourceLocation: SourceLocation = #_sourceLocation) throws {
    try fixture.expectTruth(
      follower, "players", "SELECT * FROM player ORDER BY team, name, id", section: "team",
      sourceLocation: sourceLocation)
  }

  /// A commit that moves something else: whatever came before it would have been seen before it.
  func expectSentinel(sourceLocation: SourceLocation = #_sourceLocation) throws {
    try expect(
      "INSERT INTO player VALUES (99, 'Zoe', 'Zebra', 0)",
      [
        #"sectionChange {"type":"insertion","section":3,"name":"Zebra","indexTitle":"Z"}"#,
        #"change {"type":"insertion","newIndexPath":[3,0],"key":[99],"#
          + #""record":{"id":99,"name":"Zoe","team":"Zebra","score":0}}"#,
      ], sourceLocation: sourceLocation)
  }
}
