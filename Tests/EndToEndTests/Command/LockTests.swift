import TestSupport
import Testing

@Suite(.endToEnd) struct `didchange serve, while another process holds a lock` {
  private let folder: TemporaryFolder
  private let events = "/v1/queries/player/events"
  private static let schema =
    Teams.schema + "CREATE TABLE other (id INTEGER PRIMARY KEY); INSERT INTO other VALUES (1);"

  init() throws { folder = try TemporaryFolder() }

  private func database(_ journal: JournalMode) throws -> Database {
    try .make(folder.file("music.sqlite"), Self.schema, journal: journal)
  }

  /// In a rollback-journal mode, where a writer keeps readers out: what is live is served, nothing
  /// else has to be waited for, and the log says so even where nobody asks.
  @Test func `serves what it has, refuses the rest at once, and goes on afterwards`() throws {
    let database = try database(.delete)
    let command = try Command.serve([database.path])
    let follower = Follower(EventStream(command.base, events))
    try follower.expectSnapshot()
    let writer = try ForeignWriter(database.path)
    try writer.run("BEGIN EXCLUSIVE; UPDATE player SET score = 0 WHERE id = 1")
    try command.waitForLog("cannot read the database: database is locked")
    let client = HTTPClient(command.base)
    let page = try client.get("/v1/queries/player/records")
    #expect(page.status == 200)
    #expect(try page.json["records"][0]["record"]["score"] == 10)
    #expect(
      try client.get("/v1/queries/player/records", ["If-None-Match: \(page.head["ETag"] ?? "")"])
        .status == 304)
    let late = Follower(EventStream(command.base, events))
    try late.expectSnapshot()
    let start = ContinuousClock.now
    for _ in 1...50 {
      let refused = try client.get("/v1/queries/other/records")
      #expect(refused.status == 503)
      #expect(refused.head["Content-Type"] == "application/problem+json")
      #expect(refused.head["Retry-After"] == "1")
      #expect(try refused.json["detail"].string?.contains("lock") == true)
    }
    // Not for the length of SQLite's own wait each.
    #expect(ContinuousClock.now - start < .seconds(25))
    #expect(try client.post("/v1/queries/player/fetch").status == 503)
    #expect(try client.get("/readyz").status == 503)
    #expect(try client.get("/healthz").status == 200)
    try writer.run("COMMIT")
    // One line for the whole of it, whatever was asked.
    #expect(try command.waitForLog("the database can be read again") == [])
    // Nobody was disturbed: nothing had been committed that they did not know.
    for follower in [follower, late] { #expect(try follower.changes().count == 1) }
    #expect(try client.get("/v1/queries/player/records/1").json["record"]["score"] == 0)
    #expect(try client.get("/v1/queries/other/records").json["numberOfRecords"] == 1)
    #expect(try client.get("/readyz").status == 200)
  }

  /// In write-ahead mode nothing that a writer does keeps readers out, once they are in.
  @Test func `is not disturbed where there is a write-ahead log`() throws {
    let database = try database(.wal)
    let command = try Command.serve([database.path])
    let follower = Follower(EventStream(command.base, events))
    try follower.expectSnapshot()
    let exclusive = try ChildProcess.run(
      "sqlite3", ["-batch", database.path],
      input: "PRAGMA locking_mode = EXCLUSIVE; UPDATE player SET score = 0 WHERE id = 1;\n")
    #expect(exclusive.errors.contains("locked"), "\(exclusive.errors)")
    let writer = try ForeignWriter(database.path)
    try writer.run("BEGIN EXCLUSIVE; UPDATE player SET score = 1 WHERE id = 1")
    let client = HTTPClient(command.base)
    #expect(try client.get("/v1/queries/other/records").status == 200)
    #expect(try client.post("/v1/queries/player/fetch").status == 200)
    #expect(try client.get("/v1/queries/player/records/1").json["record"]["score"] == 10)
    try writer.run("COMMIT")
    #expect(try follower.changes().count == 1)
    #expect(follower.model.records.first?.values["score"] == 1)
  }

  @Test(arguments: JournalMode.kinds)
  func `does not start, and says why`(journal: JournalMode) throws {
    let database = try database(journal)
    let owner = try ChildProcess("sqlite3", ["-batch", database.path])
    try owner.write(
      """
      PRAGMA locking_mode = EXCLUSIVE;
      BEGIN IMMEDIATE; UPDATE player SET score = 0 WHERE id = 1; COMMIT;
      .print locked\n
      """)
    while let line = try owner.output.next(), line != "locked" {}
    let refused = try Command.run(["serve", "--port", "0", database.path])
    #expect(refused.exitCode == 1)
    #expect(
      refused.errors.contains("music.sqlite: it is locked by another process"),
      "\(refused.errors)")
    owner.closeInput()
    #expect(try owner.exitCode() == 0)
    let command = try Command.serve([database.path])
    let records = try HTTPClient(command.base).get("/v1/queries/player/records").json
    #expect(records["records"][0]["record"]["score"] == 0)
  }
}
