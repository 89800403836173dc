import Testing

@Suite(.endToEnd) struct `A transaction that touches a record` {
  @Test(arguments: JournalMode.kinds)
  func `inserts it in its place`(journal: JournalMode) throws {
    try Teams(journal).expect(
      "INSERT INTO player VALUES (7, 'Ann', 'Blue', 5)",
      [
        #"change {"type":"insertion","newIndexPath":[0,1],"key":[7],"record":{"id":7,"name":"Ann","team":"Blue","score":5}}"#
      ])
  }

  @Test(arguments: JournalMode.kinds)
  func `deletes it`(journal: JournalMode) throws {
    try Teams(journal).expect(
      "DELETE FROM player WHERE id = 2",
      [
        #"change {"type":"deletion","indexPath":[0,1],"key":[2],"record":{"id":2,"name":"Bob","team":"Blue","score":20}}"#
      ])
  }

  @Test(arguments: JournalMode.kinds)
  func `updates it, with the old values of what differs`(journal: JournalMode) throws {
    try Teams(journal).expect(
      "UPDATE player SET score = NULL WHERE id = 2",
      [
        #"change {"type":"update","indexPath":[0,1],"newIndexPath":[0,1],"key":[2],"changes":{"score":20},"record":{"id":2,"name":"Bob","team":"Blue","score":null}}"#
      ])
  }

  @Test(arguments: JournalMode.kinds)
  func `moves it within its section`(journal: JournalMode) throws {
    try Teams(journal).expect(
      "UPDATE player SET name = 'Zed' WHERE id = 1",
      [
        #"change {"type":"move","indexPath":[0,0],"newIndexPath":[0,2],"key":[1],"changes":{"name":"Ada"},"record":{"id":1,"name":"Zed","team":"Blue","score":10}}"#
      ])
  }

  @Test(arguments: JournalMode.kinds)
  func `moves it to another section`(journal: JournalMode) throws {
    try Teams(journal).expect(
      "UPDATE player SET team = 'Red' WHERE id = 2",
      [
        #"change {"type":"move","indexPath":[0,1],"newIndexPath":[2,0],"key":[2],"changes":{"team":"Blue"},"record":{"id":2,"name":"Bob","team":"Red","score":20}}"#
      ])
  }

  @Test(arguments: JournalMode.kinds)
  func `takes the place of another with REPLACE`(journal: JournalMode) throws {
    try Teams(journal).expect(
      "REPLACE INTO player VALUES (2, 'Bob', 'Blue', 21)",
      [
        #"change {"type":"update","indexPath":[0,1],"newIndexPath":[0,1],"key":[2],"changes":{"score":20},"record":{"id":2,"name":"Bob","team":"Blue","score":21}}"#
      ])
  }

  @Test(arguments: JournalMode.kinds)
  func `says where an updated record was and is`(journal: JournalMode) throws {
    try Teams(journal).expect(
      "DELETE FROM player WHERE id = 1; UPDATE player SET score = 0 WHERE id = 3",
      [
        #"change {"type":"deletion","indexPath":[0,0],"key":[1],"record":{"id":1,"name":"Ada","team":"Blue","score":10}}"#,
        #"change {"type":"update","indexPath":[0,2],"newIndexPath":[0,1],"key":[3],"changes":{"score":30},"record":{"id":3,"name":"Cy","team":"Blue","score":0}}"#,
      ])
  }

  @Test(arguments: JournalMode.kinds)
  func `gives an exchanged key its own history`(journal: JournalMode) throws {
    try Teams(journal).expect(
      "UPDATE player SET id = 70 WHERE id = 2",
      [
        #"change {"type":"deletion","indexPath":[0,1],"key":[2],"record":{"id":2,"name":"Bob","team":"Blue","score":20}}"#,
        #"change {"type":"insertion","newIndexPath":[0,1],"key":[70],"record":{"id":70,"name":"Bob","team":"Blue","score":20}}"#,
      ])
  }
}
