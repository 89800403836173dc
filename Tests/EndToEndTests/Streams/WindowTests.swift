import Testing

@Suite(.endToEnd) struct `A window` {
  private let teams: Teams

  init() throws { teams = try Teams() }

  private func window(_ items: String) throws -> Follower {
    try teams.fixture.follow("players", "?\(items)")
  }

  private func expectTruth(
    _ follower: Follower, _ items: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let plain = try teams.fixture.database.select(
      "SELECT * FROM player ORDER BY team, name, id \(items)")
    #expect(follower.model.records.map(\.values) == plain, sourceLocation: sourceLocation)
    let total = try teams.fixture.database.select("SELECT count(*) AS total FROM player")[0]
    #expect(follower.model.total == total["total"], sourceLocation: sourceLocation)
  }

  @Test func `begins with what it shows`() throws {
    for (items, sql) in [
      ("limit=2", "LIMIT 2"), ("offset=2&limit=3", "LIMIT 3 OFFSET 2"),
      ("offset=4", "LIMIT -1 OFFSET 4"), ("offset=6&limit=1", "LIMIT 1 OFFSET 6"),
      ("offset=1000", "LIMIT 1 OFFSET 1000"), ("limit=10000", "LIMIT 10000"),
    ] {
      try expectTruth(try window(items), sql)
    }
    let middle = try window("offset=2&limit=3").model.sections
    #expect(middle.map(\.name) == ["Blue", "Green", "Red"])
    #expect(middle.map(\.records.count) == [1, 1, 1])
  }

  @Test func `shifts at its edges`() throws {
    let follower = try window("offset=1&limit=2")
    // Ada, [Bob, Cy], …; a record before the window pushes Cy out and Ada in.
    try teams.writer.commit("INSERT INTO player VALUES (7, 'Aaa', 'Blue', 0)")
    #expect(
      try follower.changes() == [
        #"change {"type":"deletion","indexPath":[0,1],"key":[3],"record":{"id":3,"name":"Cy","team":"Blue","score":30}}"#,
        #"change {"type":"insertion","newIndexPath":[0,0],"key":[1],"record":{"id":1,"name":"Ada","team":"Blue","score":10}}"#,
      ])
    try expectTruth(follower, "LIMIT 2 OFFSET 1")
    #expect(follower.model.total == 7)
    try teams.writer.commit("DELETE FROM player WHERE id IN (1, 2, 3)")
    #expect(
      try follower.changes() == [
        #"sectionChange {"type":"deletion","section":0,"name":"Blue","indexTitle":"B"}"#,
        #"sectionChange {"type":"insertion","section":0,"name":"Green","indexTitle":"G"}"#,
        #"sectionChange {"type":"insertion","section":1,"name":"Red","indexTitle":"R"}"#,
        #"change {"type":"deletion","indexPath":[0,1],"key":[2],"record":{"id":2,"name":"Bob","team":"Blue","score":20}}"#,
        #"change {"type":"deletion","indexPath":[0,0],"key":[1],"record":{"id":1,"name":"Ada","team":"Blue","score":10}}"#,
        #"change {"type":"insertion","newIndexPath":[0,0],"key":[4],"record":{"id":4,"name":"Dan","team":"Green","score":40}}"#,
        #"change {"type":"insertion","newIndexPath":[1,0],"key":[5],"record":{"id":5,"name":"Eve","team":"Red","score":50}}"#,
      ])
    try expectTruth(follower, "LIMIT 2 OFFSET 1")
  }

  @Test func `says nothing of what happens elsewhere`() throws {
    let follower = try window("offset=1&limit=2")
    let version = follower.model.version
    try teams.writer.commit("UPDATE player SET score = 0 WHERE id = 6")
    _ = try teams.follower.changes()
    try teams.writer.commit("UPDATE player SET score = 0 WHERE id = 2")
    #expect(try follower.changes().count == 1)
    #expect(follower.model.version != version)
    try expectTruth(follower, "LIMIT 2 OFFSET 1")
  }

  @Test func `knows how many records there are in all, whatever it says nothing of`() throws {
    let follower = try window("offset=1&limit=2")
    let version = follower.model.version
    try teams.expect(
      "INSERT INTO player VALUES (7, 'Zed', 'Red', 0)",
      [
        #"change {"type":"insertion","newIndexPath":[2,2],"key":[7],"#
          + #""record":{"id":7,"name":"Zed","team":"Red","score":0}}"#
      ])
    let later = try window("offset=1&limit=2")
    #expect(later.model.version == version)
    try expectTruth(later, "LIMIT 2 OFFSET 1")
    try teams.writer.commit("UPDATE player SET score = 5 WHERE id = 2")
    #expect(try follower.changes().count == 1)
    try expectTruth(follower, "LIMIT 2 OFFSET 1")
  }

  @Test func `is told what happens to it among many others`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, rank REAL, n INTEGER DEFAULT 0);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO item (id, rank) SELECT i, i FROM n;
      """, queries: "items: {table: item, order: [rank]}")
    let windows = try (0..<30).map { number in
      let items = "offset=\(number * 10)&limit=\(1 + number % 15)"
      return (
        try fixture.follow("items", "?\(items)"), "LIMIT \(1 + number % 15) OFFSET \(number * 10)"
      )
    }
    let writer = try fixture.writer()
    for step in 1...60 {
      let place = step * 37 % 300
      try writer.commit(
        [
          "INSERT INTO item (rank) VALUES (\(place) + 0.5)", "DELETE FROM item WHERE id = \(place)",
          "UPDATE item SET n = \(step) WHERE id = \(place)",
          "UPDATE item SET rank = rank + 3.2 WHERE id = \(place)",
          "UPDATE item SET n = \(step) WHERE id % 50 = 7; DELETE FROM item WHERE id = \(place + 20)",
        ][step % 5])
    }
    // Every window has a last change to wait for.
    try writer.commit("UPDATE item SET n = 1000 + id")
    for (follower, sql) in windows {
      let plain = try fixture.database.select("SELECT * FROM item ORDER BY rank, id \(sql)")
      while follower.model.records.map(\.values) != plain { _ = try follower.changes() }
    }
  }

  @Test func `is resumed by its own versions`() throws {
    // Large enough that its snapshot is longer than what is told here.
    let teams = try Teams(others: 100)
    let follower = try teams.fixture.follow("players", "?offset=1&limit=40")
    let known = follower.model
    try teams.writer.commit("INSERT INTO player VALUES (7, 'Aaa', 'Blue', 0)")
    let changes = try follower.changes()
    let path = "/v1/queries/players/events?offset=1&limit=40"
    let resumed = Follower(
      teams.fixture.stream(path, .init(lastEventID: known.version)), model: known)
    #expect(try resumed.changes() == changes)
    // A version of the whole result names no state of the window.
    let other = teams.follower.model.version
    try Follower(teams.fixture.stream(path, .init(lastEventID: other))).expectSnapshot()
  }

  @Test func `follows whatever happens`() throws {
    let windows = try ["LIMIT 3", "LIMIT 2 OFFSET 2", "LIMIT -1 OFFSET 4"].map { sql in
      let words = sql.split(separator: " ")
      let offset = words.count > 2 ? "&offset=\(words[3])" : ""
      let limit = words[1] == "-1" ? "" : "limit=\(words[1])"
      return (try window((limit + offset).trimmingPrefix("&").description), sql)
    }
    for step in 1...40 {
      try teams.writer.commit(
        """
        REPLACE INTO player VALUES (\(step * 7 % 11), 'N' || \(step * 5 % 7), 'T' || \(step % 3), 0);
        DELETE FROM player WHERE id = \(step * 3 % 11)
        """)
    }
    try teams.expectTruth()
    for (follower, sql) in windows {
      // The window has its own versions: the last change of the whole result is waited for by a
      // commit that changes every record.
      try teams.writer.commit("UPDATE player SET score = score + 1000")
      let plain = try teams.fixture.database.select(
        "SELECT * FROM player ORDER BY team, name, id \(sql)")
      while follower.model.records.map(\.values) != plain { _ = try follower.changes() }
      try expectTruth(follower, sql)
    }
  }
}
