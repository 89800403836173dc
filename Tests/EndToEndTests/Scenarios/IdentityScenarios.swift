import Testing

@Suite(.endToEnd) struct `What identifies a record` {
  @Test(arguments: JournalMode.kinds)
  func `is the rowid where there is no primary key`(journal: JournalMode) throws {
    let fixture = try ServerFixture(
      "CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('a'), ('a'), ('b');",
      journal: journal)
    let follower = try fixture.follow("note")
    let writer = try fixture.writer()
    try writer.commit("UPDATE note SET text = 'c' WHERE rowid = 2")
    #expect(
      try follower.changes() == [
        #"change {"type":"update","indexPath":[0,1],"newIndexPath":[0,1],"key":[2],"changes":{"text":"a"},"record":{"text":"c"}}"#
      ])
    #expect(try fixture.get("/v1/queries/note/records/3").json["record"]["text"] == "b")
    try fixture.expectTruth(follower, "note", "SELECT * FROM note ORDER BY rowid")
  }

  /// Records that share a key are told apart by their order of appearance.
  @Test func `may be shared`() throws {
    let fixture = try ServerFixture(
      Teams.schema,
      queries: """
        scores:
          sql: SELECT team, score FROM player ORDER BY team, score
          key: [team]
        """)
    let follower = try fixture.follow("scores")
    let writer = try fixture.writer()
    try writer.commit("UPDATE player SET score = 25 WHERE id = 2")
    #expect(
      try follower.changes() == [
        #"change {"type":"update","indexPath":[0,1],"newIndexPath":[0,1],"key":["Blue"],"changes":{"score":20},"record":{"team":"Blue","score":25}}"#
      ])
    try writer.commit("DELETE FROM player WHERE id = 3")
    #expect(
      try follower.changes() == [
        #"change {"type":"deletion","indexPath":[0,2],"key":["Blue"],"record":{"team":"Blue","score":30}}"#
      ])
    for step in 1...20 {
      try writer.commit(
        "REPLACE INTO player VALUES (\(step % 7), '', 'T' || (\(step) % 3), \(step * 37 % 11))")
    }
    try fixture.expectTruth(
      follower, "scores", "SELECT team, score FROM player ORDER BY team, score")
  }

  @Test func `of a grouped query is its group`() throws {
    let fixture = try ServerFixture(
      Teams.schema,
      queries: """
        teams:
          table: player
          fields: [team, count(*) AS players]
          groupBy: [team]
          having: count(*) > 1
          order: [count(*) DESC]
        """)
    let follower = try fixture.follow("teams")
    #expect(follower.model.records.map(\.key) == [["Blue"], ["Red"]])
    try fixture.writer().commit("UPDATE player SET team = 'Red' WHERE id < 3")
    #expect(
      try follower.changes() == [
        #"change {"type":"deletion","indexPath":[0,0],"key":["Blue"],"record":{"team":"Blue","players":3}}"#,
        #"change {"type":"update","indexPath":[0,1],"newIndexPath":[0,0],"key":["Red"],"changes":{"players":2},"record":{"team":"Red","players":4}}"#,
      ])
    try fixture.expectTruth(
      follower, "teams",
      """
      SELECT team, count(*) AS players FROM player GROUP BY team HAVING count(*) > 1
      ORDER BY 2 DESC, team
      """)
  }

  @Test func `of a full-text table is its rowid`() throws {
    let fixture = try ServerFixture(
      """
      CREATE VIRTUAL TABLE doc USING fts5(title, body);
      INSERT INTO doc VALUES ('one', 'the quick fox'), ('two', 'the lazy dog');
      """,
      queries: """
        found:
          table: doc
          fields: [rowid AS id, title]
          where: doc MATCH :words
          parameters: {words: {type: text}}
        """)
    let follower = try fixture.follow("found", "?words=lazy")
    #expect(follower.model.records.map { $0.values["title"] } == ["two"])
    try fixture.writer().commit("UPDATE doc SET body = 'lazy too' WHERE title = 'one'")
    #expect(try follower.changes().count == 1)
    try fixture.expectTruth(
      follower, "found?words=lazy",
      "SELECT rowid AS id, title FROM doc WHERE doc MATCH 'lazy' ORDER BY rowid")
  }
}
