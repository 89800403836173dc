import Testing

@Suite(.endToEnd) struct `The schema's own ways to change a record` {
  @Test(arguments: JournalMode.kinds)
  func `an aggregate over a join follows its side table`(journal: JournalMode) throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE book (id INTEGER PRIMARY KEY, authorId INTEGER, title TEXT);
      INSERT INTO author VALUES (1, 'Austen'), (2, 'Borges');
      INSERT INTO book VALUES (1, 1, 'Emma'), (2, 1, 'Persuasion');
      """, journal: journal,
      queries: """
        authors:
          sql: |
            SELECT author.id, author.name, count(book.id) AS bookCount
            FROM author LEFT JOIN book ON book.authorId = author.id
            GROUP BY author.id ORDER BY author.name
          key: [id]
        """)
    let follower = try fixture.follow("authors")
    let writer = try fixture.writer()
    try writer.commit("INSERT INTO book VALUES (3, 2, 'Ficciones')")
    #expect(
      try follower.changes() == [
        #"change {"type":"update","indexPath":[0,1],"newIndexPath":[0,1],"key":[2],"changes":{"bookCount":0},"record":{"id":2,"name":"Borges","bookCount":1}}"#
      ])
    try writer.commit("UPDATE book SET authorId = 2 WHERE id = 2")
    #expect(
      try follower.changes() == [
        #"change {"type":"update","indexPath":[0,0],"newIndexPath":[0,0],"key":[1],"changes":{"bookCount":2},"record":{"id":1,"name":"Austen","bookCount":1}}"#,
        #"change {"type":"update","indexPath":[0,1],"newIndexPath":[0,1],"key":[2],"changes":{"bookCount":1},"record":{"id":2,"name":"Borges","bookCount":2}}"#,
      ])
    // A book's title is no part of the result.
    try writer.commit("UPDATE book SET title = 'Emma, again' WHERE id = 1")
    try writer.commit("DELETE FROM author WHERE id = 1")
    #expect(
      try follower.changes() == [
        #"change {"type":"deletion","indexPath":[0,0],"key":[1],"record":{"id":1,"name":"Austen","bookCount":1}}"#
      ])
    try fixture.expectTruth(
      follower, "authors",
      """
      SELECT author.id, author.name, count(book.id) AS bookCount
      FROM author LEFT JOIN book ON book.authorId = author.id
      GROUP BY author.id ORDER BY author.name
      """)
  }

  @Test(arguments: JournalMode.kinds)
  func `a table WITHOUT ROWID has its primary key`(journal: JournalMode) throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE word (text TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID;
      INSERT INTO word VALUES ('a', 1), ('c', 3);
      """, journal: journal)
    let follower = try fixture.follow("word")
    let writer = try fixture.writer()
    try writer.commit(
      "INSERT INTO word VALUES ('b', 2); UPDATE word SET count = 4 WHERE text = 'c'")
    #expect(
      try follower.changes() == [
        #"change {"type":"insertion","newIndexPath":[0,1],"key":["b"],"record":{"text":"b","count":2}}"#,
        #"change {"type":"update","indexPath":[0,1],"newIndexPath":[0,2],"key":["c"],"changes":{"count":3},"record":{"text":"c","count":4}}"#,
      ])
    try writer.commit("UPDATE word SET text = 'd' WHERE text = 'a'")
    #expect(
      try follower.changes() == [
        #"change {"type":"deletion","indexPath":[0,0],"key":["a"],"record":{"text":"a","count":1}}"#,
        #"change {"type":"insertion","newIndexPath":[0,2],"key":["d"],"record":{"text":"d","count":1}}"#,
      ])
    try fixture.expectTruth(follower, "word", "SELECT * FROM word ORDER BY text")
  }

  @Test(arguments: JournalMode.kinds)
  func `a compound primary key is the key`(journal: JournalMode) throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE seat (hall TEXT NOT NULL, number INTEGER NOT NULL, guest TEXT,
        PRIMARY KEY (hall, number));
      INSERT INTO seat VALUES ('A', 1, NULL), ('A', 2, 'Ada'), ('B', 1, 'Bob');
      """, journal: journal,
      queries: """
        seats: {table: seat, section: hall, order: [guest]}
        """)
    let follower = try fixture.follow("seats")
    let writer = try fixture.writer()
    try writer.commit("UPDATE seat SET guest = 'Cy' WHERE hall = 'A' AND number = 1")
    #expect(
      try follower.changes() == [
        #"change {"type":"move","indexPath":[0,0],"newIndexPath":[0,1],"key":["A",1],"changes":{"guest":null},"record":{"hall":"A","number":1,"guest":"Cy"}}"#
      ])
    // A part of the key changes: it is another record.
    try writer.commit("UPDATE seat SET number = 3 WHERE hall = 'B'")
    #expect(
      try follower.changes() == [
        #"change {"type":"deletion","indexPath":[1,0],"key":["B",1],"record":{"hall":"B","number":1,"guest":"Bob"}}"#,
        #"change {"type":"insertion","newIndexPath":[1,0],"key":["B",3],"record":{"hall":"B","number":3,"guest":"Bob"}}"#,
      ])
    try fixture.expectTruth(
      follower, "seats", "SELECT * FROM seat ORDER BY hall, guest, number", section: "hall")
  }

  @Test(arguments: JournalMode.kinds)
  func `REPLACE deletes whatever stands in its way`(journal: JournalMode) throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE user (id INTEGER PRIMARY KEY, mail TEXT UNIQUE, nick TEXT UNIQUE);
      INSERT INTO user VALUES (1, 'a@x', 'ada'), (2, 'b@x', 'bob'), (3, 'c@x', 'cy');
      """, journal: journal)
    let follower = try fixture.follow("user")
    try fixture.writer().commit("REPLACE INTO user VALUES (4, 'a@x', 'cy')")
    #expect(
      try follower.changes() == [
        #"change {"type":"deletion","indexPath":[0,2],"key":[3],"record":{"id":3,"mail":"c@x","nick":"cy"}}"#,
        #"change {"type":"deletion","indexPath":[0,0],"key":[1],"record":{"id":1,"mail":"a@x","nick":"ada"}}"#,
        #"change {"type":"insertion","newIndexPath":[0,1],"key":[4],"record":{"id":4,"mail":"a@x","nick":"cy"}}"#,
      ])
    try fixture.expectTruth(follower, "user", "SELECT * FROM user ORDER BY id")
  }

  @Test(arguments: JournalMode.kinds)
  func `a foreign key cascades`(journal: JournalMode) throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT,
        teamId INTEGER REFERENCES team ON DELETE CASCADE ON UPDATE CASCADE);
      INSERT INTO team VALUES (1, 'Blue'), (2, 'Red');
      INSERT INTO player VALUES (1, 'Ada', 1), (2, 'Bob', 2), (3, 'Cy', 1);
      """, journal: journal)
    let follower = try fixture.follow("player")
    let writer = try fixture.writer()
    try writer.commit("UPDATE team SET id = 7 WHERE id = 2")
    #expect(
      try follower.changes() == [
        #"change {"type":"update","indexPath":[0,1],"newIndexPath":[0,1],"key":[2],"changes":{"teamId":2},"record":{"id":2,"name":"Bob","teamId":7}}"#
      ])
    try writer.commit("DELETE FROM team WHERE id = 1")
    #expect(
      try follower.changes() == [
        #"change {"type":"deletion","indexPath":[0,2],"key":[3],"record":{"id":3,"name":"Cy","teamId":1}}"#,
        #"change {"type":"deletion","indexPath":[0,0],"key":[1],"record":{"id":1,"name":"Ada","teamId":1}}"#,
      ])
    try fixture.expectTruth(follower, "player", "SELECT * FROM player ORDER BY id")
  }

  @Test(arguments: JournalMode.kinds)
  func `a trigger writes elsewhere`(journal: JournalMode) throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER);
      CREATE TABLE entry (id INTEGER PRIMARY KEY, account INTEGER, amount INTEGER);
      CREATE TRIGGER book AFTER INSERT ON entry BEGIN
        UPDATE account SET balance = balance + new.amount WHERE id = new.account;
      END;
      INSERT INTO account VALUES (1, 0), (2, 0);
      """, journal: journal)
    let follower = try fixture.follow("account")
    let writer = try fixture.writer()
    try writer.commit("INSERT INTO entry (account, amount) VALUES (2, 5), (2, 6)")
    #expect(
      try follower.changes() == [
        #"change {"type":"update","indexPath":[0,1],"newIndexPath":[0,1],"key":[2],"changes":{"balance":0},"record":{"id":2,"balance":11}}"#
      ])
    try fixture.expectTruth(follower, "account", "SELECT * FROM account ORDER BY id")
  }
}
