import Testing

@Suite(.endToEnd) struct `A writer that is killed in the middle of a transaction` {
  /// Its pages are in the log or in the file already, but no commit is.
  @Test(arguments: JournalMode.kinds, ForeignWriter.Tool.allCases)
  func `leaves streams right`(journal: JournalMode, tool: ForeignWriter.Tool) throws {
    let teams = try Teams(journal)
    let victim = try teams.fixture.writer(tool)
    try victim.run("PRAGMA cache_size = 1; PRAGMA cache_spill = 1")
    try victim.run(
      """
      BEGIN IMMEDIATE; DELETE FROM player WHERE id < 4;
      WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO player SELECT i, hex(randomblob(100)), 'Blue', i FROM n;
      """)
    try victim.process.kill9()
    // In rollback mode the file is half-written until the next writer rolls it back; who only
    // reads must not, so a fetchError may come before.
    try teams.writer.commit("INSERT INTO player VALUES (99, 'Zoe', 'Zebra', 0)")
    #expect(
      try teams.follower.changesAfterFailures() == [
        #"sectionChange {"type":"insertion","section":3,"name":"Zebra","indexTitle":"Z"}"#,
        #"change {"type":"insertion","newIndexPath":[3,0],"key":[99],"record":{"id":99,"name":"Zoe","team":"Zebra","score":0}}"#,
      ])
    try teams.expectTruth()
  }
}
