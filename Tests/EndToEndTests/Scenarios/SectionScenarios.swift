import Testing

@Suite(.endToEnd) struct `A transaction that touches a section` {
  @Test(arguments: JournalMode.kinds)
  func `makes it with its first record`(journal: JournalMode) throws {
    try Teams(journal).expect(
      "INSERT INTO player VALUES (7, 'Gus', 'Orange', 5)",
      [
        #"sectionChange {"type":"insertion","section":2,"name":"Orange","indexTitle":"O"}"#,
        #"change {"type":"insertion","newIndexPath":[2,0],"key":[7],"record":{"id":7,"name":"Gus","team":"Orange","score":5}}"#,
      ])
  }

  @Test(arguments: JournalMode.kinds)
  func `takes it away with its last record`(journal: JournalMode) throws {
    try Teams(journal).expect(
      "DELETE FROM player WHERE id = 4",
      [
        #"sectionChange {"type":"deletion","section":1,"name":"Green","indexTitle":"G"}"#,
        #"change {"type":"deletion","indexPath":[1,0],"key":[4],"record":{"id":4,"name":"Dan","team":"Green","score":40}}"#,
      ])
  }

  @Test(arguments: JournalMode.kinds)
  func `lets the last record of one be the first of another`(journal: JournalMode) throws {
    try Teams(journal).expect(
      "UPDATE player SET team = 'Yellow' WHERE id = 4",
      [
        #"sectionChange {"type":"deletion","section":1,"name":"Green","indexTitle":"G"}"#,
        #"sectionChange {"type":"insertion","section":2,"name":"Yellow","indexTitle":"Y"}"#,
        #"change {"type":"move","indexPath":[1,0],"newIndexPath":[2,0],"key":[4],"changes":{"team":"Green"},"record":{"id":4,"name":"Dan","team":"Yellow","score":40}}"#,
      ])
  }

  @Test(arguments: JournalMode.kinds)
  func `renames it`(journal: JournalMode) throws {
    try Teams(journal).expect(
      "UPDATE player SET team = 'Azure' WHERE team = 'Blue'",
      [
        #"sectionChange {"type":"deletion","section":0,"name":"Blue","indexTitle":"B"}"#,
        #"sectionChange {"type":"insertion","section":0,"name":"Azure","indexTitle":"A"}"#,
        #"change {"type":"move","indexPath":[0,2],"newIndexPath":[0,2],"key":[3],"changes":{"team":"Blue"},"record":{"id":3,"name":"Cy","team":"Azure","score":30}}"#,
        #"change {"type":"move","indexPath":[0,1],"newIndexPath":[0,1],"key":[2],"changes":{"team":"Blue"},"record":{"id":2,"name":"Bob","team":"Azure","score":20}}"#,
        #"change {"type":"move","indexPath":[0,0],"newIndexPath":[0,0],"key":[1],"changes":{"team":"Blue"},"record":{"id":1,"name":"Ada","team":"Azure","score":10}}"#,
      ])
  }

  @Test(arguments: JournalMode.kinds)
  func `takes all away with the last record and makes the first one again`(
    journal: JournalMode
  ) throws {
    let teams = try Teams(journal)
    try teams.expect(
      "DELETE FROM player",
      [
        #"sectionChange {"type":"deletion","section":2,"name":"Red","indexTitle":"R"}"#,
        #"sectionChange {"type":"deletion","section":1,"name":"Green","indexTitle":"G"}"#,
        #"sectionChange {"type":"deletion","section":0,"name":"Blue","indexTitle":"B"}"#,
        #"change {"type":"deletion","indexPath":[2,1],"key":[6],"record":{"id":6,"name":"Fay","team":"Red","score":60}}"#,
        #"change {"type":"deletion","indexPath":[2,0],"key":[5],"record":{"id":5,"name":"Eve","team":"Red","score":50}}"#,
        #"change {"type":"deletion","indexPath":[1,0],"key":[4],"record":{"id":4,"name":"Dan","team":"Green","score":40}}"#,
        #"change {"type":"deletion","indexPath":[0,2],"key":[3],"record":{"id":3,"name":"Cy","team":"Blue","score":30}}"#,
        #"change {"type":"deletion","indexPath":[0,1],"key":[2],"record":{"id":2,"name":"Bob","team":"Blue","score":20}}"#,
        #"change {"type":"deletion","indexPath":[0,0],"key":[1],"record":{"id":1,"name":"Ada","team":"Blue","score":10}}"#,
      ])
    #expect(teams.follower.model.sections.isEmpty)
    try teams.expect(
      "INSERT INTO player VALUES (1, 'Ada', NULL, 10)",
      [
        #"sectionChange {"type":"insertion","section":0,"name":null,"indexTitle":""}"#,
        #"change {"type":"insertion","newIndexPath":[0,0],"key":[1],"record":{"id":1,"name":"Ada","team":null,"score":10}}"#,
      ])
  }

  @Test(arguments: JournalMode.kinds)
  func `leaves the only one of a query without sections when it is empty`(
    journal: JournalMode
  ) throws {
    let fixture = try ServerFixture(Teams.schema, journal: journal)
    let follower = try fixture.follow("player")
    try fixture.writer().commit("DELETE FROM player")
    #expect(try follower.changes().count == 6)
    #expect(follower.model.sections == [.init(name: nil, indexTitle: "", records: [])])
    try fixture.expectTruth(follower, "player", "SELECT * FROM player ORDER BY id")
  }
}
