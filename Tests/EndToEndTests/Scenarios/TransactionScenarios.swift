import Testing

@Suite(.endToEnd) struct `A transaction` {
  @Test(arguments: JournalMode.kinds)
  func `of a thousand changes is one change set`(journal: JournalMode) throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO player SELECT i, printf('Player %04d', i), 'Team ' || (i % 7), i FROM n;
      """, journal: journal, queries: Teams.query)
    let follower = try fixture.follow("players")
    let writer = try fixture.writer()
    // 250 of each kind: updates, moves, deletions, insertions.
    try writer.commit(
      """
      UPDATE player SET score = -score WHERE id <= 250;
      UPDATE player SET team = 'Team ' || (id % 9 + 3) || '!' WHERE id BETWEEN 251 AND 500;
      DELETE FROM player WHERE id BETWEEN 501 AND 750;
      INSERT INTO player SELECT id + 10000, name || ' jr', team, 0 FROM player
        WHERE id BETWEEN 751 AND 1000;
      """)
    let events = try follower.changes()
    #expect(events.count { $0.hasPrefix("change ") } == 1000)
    for (type, count) in [("update", 250), ("move", 250), ("deletion", 250), ("insertion", 250)] {
      #expect(events.count { $0.hasPrefix(#"change {"type":"\#(type)""#) } == count, "\(type)")
    }
    try fixture.expectTruth(
      follower, "players", "SELECT * FROM player ORDER BY team, name, id", section: "team")
  }

  @Test(arguments: JournalMode.kinds)
  func `that is rolled back is no event`(journal: JournalMode) throws {
    let teams = try Teams(journal)
    try teams.writer.run("BEGIN IMMEDIATE; DELETE FROM player; ROLLBACK;")
    try teams.expectSentinel()
  }

  @Test(arguments: JournalMode.kinds)
  func `that is rolled back after its pages were written is no event`(
    journal: JournalMode
  ) throws {
    let teams = try Teams(journal)
    // The cache is too small for the transaction, so its pages go to the log or the file before
    // it ends.
    try teams.writer.run("PRAGMA cache_size = 1; PRAGMA cache_spill = 1")
    try teams.writer.run(
      """
      BEGIN IMMEDIATE;
      WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO player SELECT i, hex(randomblob(100)), 'Blue', i FROM n;
      ROLLBACK;
      """)
    try teams.expectSentinel()
  }

  @Test(arguments: JournalMode.kinds)
  func `that sets the values there are is no event`(journal: JournalMode) throws {
    let teams = try Teams(journal)
    try teams.writer.commit("UPDATE player SET score = score, name = name || ''")
    try teams.expectSentinel()
  }

  @Test(arguments: JournalMode.kinds)
  func `that takes its changes back is no event`(journal: JournalMode) throws {
    let teams = try Teams(journal)
    try teams.writer.commit(
      """
      UPDATE player SET team = 'Red'; DELETE FROM player WHERE id = 6;
      REPLACE INTO player VALUES (1, 'Ada', 'Blue', 10), (2, 'Bob', 'Blue', 20),
        (3, 'Cy', 'Blue', 30), (4, 'Dan', 'Green', 40), (6, 'Fay', 'Red', 60);
      """)
    try teams.expectSentinel()
  }

  @Test(arguments: JournalMode.kinds)
  func `of another table is no event`(journal: JournalMode) throws {
    let teams = try Teams(journal)
    try teams.writer.commit("CREATE TABLE other (id INTEGER PRIMARY KEY)")
    try teams.writer.commit("INSERT INTO other VALUES (1)")
    try teams.expectSentinel()
  }

  @Test(arguments: JournalMode.allCases, ForeignWriter.Tool.allCases)
  func `of any process is seen in any journal mode`(
    journal: JournalMode, tool: ForeignWriter.Tool
  ) throws {
    let teams = try Teams(journal, tool: tool)
    for score in 1...10 {
      try teams.expect(
        "UPDATE player SET score = \(score) + 100 WHERE id = 4",
        [
          #"change {"type":"update","indexPath":[1,0],"newIndexPath":[1,0],"key":[4],"changes":{"score":\#(score == 1 ? 40 : score + 99)},"record":{"id":4,"name":"Dan","team":"Green","score":\#(score + 100)}}"#
        ])
    }
    try teams.expectSentinel()
  }

  /// Two processes, each commit waited for by its writer and not by the reader: change sets may be
  /// joined, but nothing is lost.
  @Test(arguments: JournalMode.kinds)
  func `of one process after another joins a chain without a gap`(journal: JournalMode) throws {
    let teams = try Teams(journal)
    let other = try teams.fixture.writer(.python3)
    for step in 1...60 {
      try teams.writer.commit("UPDATE player SET score = \(step) WHERE id = \(step % 6 + 1)")
      try other.commit(
        "REPLACE INTO player VALUES (\(step % 9 + 3), 'P\(step)', 'Team \(step % 4)', \(step))")
    }
    try teams.expectTruth()
  }
}
