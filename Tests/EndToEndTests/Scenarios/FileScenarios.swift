import Foundation
import TestSupport
import Testing

@Suite(.endToEnd) struct `The database file` {
  /// As backups are restored: another file is moved over the old one, and the log that belonged to
  /// the old one goes.
  @Test(arguments: JournalMode.kinds)
  func `may be replaced by a restored copy`(journal: JournalMode) throws {
    let fixture = try ServerFixture(Teams.schema, journal: journal, queries: Teams.query)
    let follower = try fixture.follow("players")
    let writer = try fixture.writer()
    try writer.commit("UPDATE player SET score = 0 WHERE id = 1")
    #expect(try follower.changes().count == 1)
    // Without its log the old file is shown too, if only for a moment: it must be as it was with it.
    try writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    try writer.end()
    let copy = try Database.make(
      fixture.folder.file("copy.sqlite"),
      Teams.schema + "DELETE FROM player WHERE id = 4; UPDATE player SET name = 'Al' WHERE id = 1;",
      journal: journal)
    try fixture.replaceDatabase(with: copy)
    #expect(
      try follower.changesAfterFailures() == [
        #"sectionChange {"type":"deletion","section":1,"name":"Green","indexTitle":"G"}"#,
        #"change {"type":"deletion","indexPath":[1,0],"key":[4],"record":{"id":4,"name":"Dan","team":"Green","score":40}}"#,
        #"change {"type":"update","indexPath":[0,0],"newIndexPath":[0,0],"key":[1],"changes":{"name":"Ada","score":0},"record":{"id":1,"name":"Al","team":"Blue","score":10}}"#,
      ])
    try expectTruth(fixture, follower)
    // And the new file is watched as the old one was.
    try fixture.writer().commit("UPDATE player SET score = 7 WHERE id = 1")
    #expect(try follower.changes().count == 1)
    try expectTruth(fixture, follower)
  }

  @Test(arguments: JournalMode.kinds)
  func `may go, and another come`(journal: JournalMode) throws {
    let fixture = try ServerFixture(Teams.schema, journal: journal, queries: Teams.query)
    let follower = try fixture.follow("players")
    try fixture.removeDatabase()
    let failure = try follower.failure()
    #expect(failure["query"] == "players")
    #expect(failure["status"] == 503)
    #expect(failure["title"] == "Service Unavailable")
    // Its log goes first: for that moment the file without it may be read again.
    try eventually("the file that went is not read") {
      try ["/readyz", "/v1/queries/players/records"].allSatisfy { path in
        try fixture.get(path).status == 503
      }
    }
    #expect(try fixture.get("/healthz").status == 200)
    let copy = try Database.make(
      fixture.folder.file("copy.sqlite"), Teams.schema + "DELETE FROM player WHERE id > 1;",
      journal: journal)
    try fixture.replaceDatabase(with: copy)
    #expect(try follower.changesAfterFailures().count == 7)
    #expect(try fixture.get("/readyz").status == 200)
    try expectTruth(fixture, follower)
  }

  /// Nothing has changed, so there is no change set; but it must be served again.
  @Test(arguments: JournalMode.kinds)
  func `may go and come back as it was`(journal: JournalMode) throws {
    let fixture = try ServerFixture(Teams.schema, journal: journal, queries: Teams.query)
    let follower = try fixture.follow("players")
    let before = try fixture.get("/v1/queries/players/records")
    try FileManager.default.moveItem(atPath: fixture.path, toPath: fixture.folder.file("aside"))
    for log in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: fixture.path + log) {
      try FileManager.default.moveItem(
        atPath: fixture.path + log, toPath: fixture.folder.file("aside" + log))
    }
    #expect(try follower.failure()["status"] == 503)
    // Its log, if there is one, comes back first: it must not be taken for another file's.
    for log in ["-wal", "-shm", ""]
    where FileManager.default.fileExists(atPath: fixture.folder.file("aside" + log)) {
      try FileManager.default.moveItem(
        atPath: fixture.folder.file("aside" + log), toPath: fixture.path + log)
    }
    try eventually("the database is read again") { try fixture.get("/readyz").status == 200 }
    let after = try fixture.get("/v1/queries/players/records")
    #expect(after.status == 200)
    // It may count as a commit that the file was opened anew.
    let withoutCommit = { (text: String) in text.replacing(#/"commit":\d+,/#, with: "") }
    #expect(withoutCommit(after.text) == withoutCommit(before.text))
    // A stream that begins now knows of no failure.
    let late = try fixture.follow("players")
    try fixture.writer().commit("DELETE FROM player WHERE id = 4")
    guard case .recovery = try follower.next() else { throw ContractViolation("no recovered") }
    #expect(try follower.changes().count == 2)
    #expect(try late.changes().count == 2)
    try expectTruth(fixture, follower)
    try expectTruth(fixture, late)
  }

  /// A load balancer sends requests as soon as the server says that it is ready.
  @Test func `is answered from as soon as it can be read, however long a query takes`() throws {
    let fixture = try ServerFixture(
      Teams.schema,
      queries: """
        slow:
          sql: |
            SELECT id, (
              WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
              SELECT count(*) FROM n) AS n
            FROM player LIMIT 1
        """)
    let follower = try fixture.follow("slow")
    let aside = fixture.folder.file("aside")
    try FileManager.default.moveItem(atPath: fixture.path, toPath: aside)
    #expect(try follower.failure()["status"] == 503)
    #expect(try fixture.get("/v1/queries/slow/records").status == 503)
    try FileManager.default.moveItem(atPath: aside, toPath: fixture.path)
    try eventually("the database is read again") { try fixture.get("/readyz").status == 200 }
    #expect(try fixture.get("/v1/queries/slow/records").status == 200)
  }

  @Test(arguments: JournalMode.kinds)
  func `may lose a table and get it again`(journal: JournalMode) throws {
    let fixture = try ServerFixture(Teams.schema, journal: journal, queries: Teams.query)
    let follower = try fixture.follow("players")
    let writer = try fixture.writer()
    try writer.commit("DROP TABLE player")
    let failure = try follower.failure()
    #expect(failure["query"] == "players")
    #expect(failure["status"] == 500)
    #expect(failure["detail"].string?.contains("there is no table or view player") == true)
    #expect(try fixture.get("/v1/queries/players/records").status == 500)
    try writer.commit(
      """
      CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER);
      INSERT INTO player VALUES (1, 'Ada', 'Blue', 11)
      """)
    #expect(try follower.changes().count == 2 + 5 + 1)
    try expectTruth(fixture, follower)
  }

  @Test func `may lose a table that no configuration names and get it again`() throws {
    let fixture = try ServerFixture(Teams.schema)
    let follower = try fixture.follow("player")
    let writer = try fixture.writer()
    try writer.commit("DROP TABLE player")
    #expect(try follower.failure()["query"] == "player")
    #expect(try fixture.get("/v1/queries/player/records").status == 404)
    #expect(try fixture.get("/v1/queries").json["queries"] == [])
    // The stream of a query that is gone: an EventSource that comes back is told to stop.
    let events = "/v1/queries/player/events"
    #expect(try fixture.get(events).status == 404)
    #expect(try fixture.get(events, ["Last-Event-ID: \(follower.model.version)"]).status == 204)
    #expect(try fixture.get("\(events)?lastEventId=\(follower.model.version)").status == 204)
    try writer.commit(
      """
      CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER);
      INSERT INTO player VALUES (1, 'Ada', 'Blue', 11)
      """)
    #expect(try follower.changes().count == 5 + 1)
    try fixture.expectTruth(follower, "player", "SELECT * FROM player")
  }

  /// Change sets are about records of one shape, so another shape begins anew.
  @Test(arguments: JournalMode.kinds)
  func `may get a column, and the stream a new snapshot`(journal: JournalMode) throws {
    let teams = try Teams(journal)
    let before = teams.follower.model.version
    try teams.writer.commit("ALTER TABLE player ADD COLUMN age INTEGER DEFAULT 30")
    try teams.follower.expectSnapshot()
    let records = teams.follower.model.records
    #expect(records[0].values.names == ["id", "name", "team", "score", "age"])
    #expect(records.allSatisfy { $0.values["age"] == 30 })
    #expect(teams.follower.model.version != before)
    try teams.expectTruth()
    try teams.writer.commit("UPDATE player SET age = 31 WHERE id = 1")
    #expect(try teams.follower.changes().count == 1)
    try teams.expectTruth()
    // What was known of the old shape is of no use any more.
    let resumed = Follower(
      teams.fixture.stream("/v1/queries/players/events", .init(lastEventID: before)))
    try resumed.expectSnapshot()
    #expect(resumed.model.records == teams.follower.model.records)
  }

  @Test func `may go over to a write-ahead log`() throws {
    let teams = try Teams(.delete)
    try teams.writer.commit("UPDATE player SET score = 0 WHERE id = 1")
    #expect(try teams.follower.changes().count == 1)
    try teams.writer.run("PRAGMA journal_mode = WAL")
    try teams.expectSentinel()
    for score in 1...5 {
      try teams.writer.commit("UPDATE player SET score = \(score) WHERE id = 1")
      #expect(try teams.follower.changes().count == 1)
    }
    try teams.expectTruth()
  }

  /// What means something in a URI or a shell means nothing in a file's name.
  @Test(
    arguments: ["with space", "50%25?mode=memory#x", "é😀", "'quoted' \"twice\"", "-dash"],
    JournalMode.kinds)
  func `may have any name`(name: String, journal: JournalMode) throws {
    let fixture = try ServerFixture(
      Teams.schema, journal: journal, queries: Teams.query, file: name + ".sqlite")
    let follower = try fixture.follow("players")
    try fixture.writer().commit("DELETE FROM player WHERE id = 1")
    #expect(try follower.changes().count == 1)
    try expectTruth(fixture, follower)
  }

  @Test(arguments: JournalMode.kinds)
  func `may be the end of a symbolic link`(journal: JournalMode) throws {
    let elsewhere = try TemporaryFolder()
    let real = try Database.make(elsewhere.file("real.sqlite"), Teams.schema, journal: journal)
    let fixture = try ServerFixture("", queries: Teams.query, linkTo: real.path)
    let follower = try fixture.follow("players")
    try ForeignWriter(real.path).commit("DELETE FROM player WHERE id = 1")
    #expect(try follower.changes().count == 1)
    try fixture.writer().commit("DELETE FROM player WHERE id = 2")
    #expect(try follower.changes().count == 1)
    try expectTruth(fixture, follower)
  }

  @Test(arguments: JournalMode.kinds)
  func `may be rebuilt by VACUUM without an event`(journal: JournalMode) throws {
    let teams = try Teams(journal)
    try teams.writer.run("VACUUM")
    try teams.expectSentinel()
  }

  @Test func `may have its log emptied by a checkpoint without an event`() throws {
    let teams = try Teams(.wal)
    for _ in 1...3 {
      try teams.writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    }
    try teams.expectSentinel()
    try teams.writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    try teams.expectTruth()
  }

  private func expectTruth(_ fixture: ServerFixture, _ follower: Follower) throws {
    try fixture.expectTruth(
      follower, "players", "SELECT * FROM player ORDER BY team, name, id", section: "team")
  }
}

extension ServerFixture {
  fileprivate func removeDatabase() throws {
    for log in ["-wal", "-shm", "-journal", ""]
    where FileManager.default.fileExists(atPath: path + log) {
      try FileManager.default.removeItem(atPath: path + log)
    }
  }

  /// As `rm -f DB-wal DB-shm; mv COPY DB` does.
  fileprivate func replaceDatabase(with copy: Database) throws {
    for log in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: path + log) {
      try FileManager.default.removeItem(atPath: path + log)
    }
    guard rename(copy.path, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}
