import Foundation
import GRDB
import TestSupport
import Testing

@testable import ChangeCapture

@Suite struct ChangeReaderTests {
  let folder: TemporaryFolder
  let writer: ForeignWriter
  let reader = ChangeReader(tables: ["item"])

  init() throws {
    folder = try TemporaryFolder()
    writer = try ForeignWriter(folder.file())
    try writer.execute("PRAGMA journal_mode = WAL")
    try writer.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT)")
    try writer.execute("CREATE TABLE other (id INTEGER PRIMARY KEY, text TEXT)")
    try writer.execute("CREATE INDEX item_text ON item (text)")
    try writer.execute("INSERT INTO item VALUES (1, 'a'), (2, 'b')")
    try writer.execute("INSERT INTO other VALUES (1, 'a'), (2, 'b')")
  }

  private func connect() throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = true
    return try DatabaseQueue(path: folder.file(), configuration: configuration)
  }

  private func look(_ connection: DatabaseQueue, commits: Bool = true) throws -> DatabaseChanges {
    let changes = try connection.read { try reader.changes(in: $0) }
    if commits { reader.commit() }
    return changes
  }

  @Test func `the first look is everything, then rows are named`() throws {
    let connection = try connect()
    #expect(try look(connection) == .everything(.firstLook))
    #expect(try look(connection) == .nothing)
    try writer.execute("UPDATE item SET text = 'c' WHERE id = 2")
    #expect(try look(connection) == .tables(["item": .rows([2])]))
    try writer.execute("INSERT INTO item VALUES (-5, 'c'), (9223372036854775807, 'd')")
    try writer.execute("DELETE FROM item WHERE id = 1")
    #expect(try look(connection) == .tables(["item": .rows([-5, 1, .max])]))
    #expect(try look(connection) == .nothing)
    #expect(reader.statistics.fallbacks == ["firstLook": 1])
    #expect(reader.statistics.rowsReported == 4)
  }

  @Test func `a row that is as it was is not reported`() throws {
    let connection = try connect()
    _ = try look(connection)
    try writer.execute("UPDATE item SET text = text")
    try writer.execute("UPDATE item SET text = 'x' WHERE id = 1")
    try writer.execute("UPDATE item SET text = 'a' WHERE id = 1")
    #expect(try look(connection) == .nothing)
  }

  @Test func `what was not committed is reported again`() throws {
    let connection = try connect()
    _ = try look(connection)
    try writer.execute("UPDATE item SET text = 'c' WHERE id = 2")
    #expect(try look(connection, commits: false) == .tables(["item": .rows([2])]))
    #expect(try look(connection, commits: false) == .tables(["item": .rows([2])]))
    try writer.execute("UPDATE item SET text = 'c' WHERE id = 1")
    #expect(try look(connection) == .tables(["item": .rows([1, 2])]))
    #expect(try look(connection) == .nothing)
  }

  @Test func `tables that are not followed are whole`() throws {
    let connection = try connect()
    _ = try look(connection)
    try writer.execute("UPDATE other SET text = 'c' WHERE id = 2")
    #expect(try look(connection) == .tables(["other": .whole(.notFollowed)]))
  }

  @Test func `a table is followed from the transaction on in which it is named`() throws {
    let connection = try connect()
    _ = try look(connection)
    try writer.execute("UPDATE other SET text = 'c' WHERE id = 1")
    try connection.read { db in
      #expect(try reader.changes(in: db) == .tables(["other": .whole(.notFollowed)]))
      try writer.execute("UPDATE other SET text = 'd' WHERE id = 1")
      try reader.follow(["Other"], in: db)
      reader.commit()
    }
    let changes = try look(connection)
    #expect(changes == .tables(["Other": .rows([1])]))
    #expect(changes[table: "OTHER"] == .rows([1]))
    #expect(changes[table: "item"] == nil)
    try writer.execute("UPDATE item SET text = 'd' WHERE id = 1")
    #expect(try look(connection) == .tables(["item": .whole(.notFollowed)]))
  }

  @Test func `after other statements changes are reported, perhaps twice`() throws {
    let connection = try connect()
    _ = try look(connection)
    try writer.execute("UPDATE item SET text = 'c' WHERE id = 1")
    try connection.read { db in
      #expect(try String.fetchOne(db, sql: "SELECT text FROM item WHERE id = 1") == "c")
      try writer.execute("UPDATE item SET text = 'c' WHERE id = 2")
      #expect(try reader.changes(in: db) == .tables(["item": .rows([1, 2])]))
      #expect(try String.fetchOne(db, sql: "SELECT text FROM item WHERE id = 2") == "b")
      reader.commit()
    }
    #expect(try look(connection) == .tables(["item": .rows([1, 2])]), "row 2 is seen only now")
    #expect(try look(connection) == .nothing)
  }

  @Test func `a change of the schema is told, with the tables that it was about`() throws {
    let connection = try connect()
    _ = try look(connection)
    try writer.execute("ALTER TABLE item ADD COLUMN more DEFAULT 7")
    var changes = try look(connection)
    #expect(changes.schemaChanged)
    #expect(changes[table: "item"] == .whole(.schema))
    #expect(changes[table: "other"] == nil)
    try writer.execute("UPDATE item SET text = 'c' WHERE id = 2")
    #expect(try look(connection) == .tables(["item": .rows([2])]))
    try writer.execute("CREATE INDEX other_text ON other (text)")
    changes = try look(connection)
    #expect(changes.schemaChanged)
    #expect(changes[table: "item"] == nil)
  }

  @Test(arguments: ["PASSIVE", "FULL", "RESTART", "TRUNCATE"])
  func `a log that is begun anew between looks loses nothing`(_ kind: String) throws {
    let connection = try connect()
    _ = try look(connection)
    for run in 0..<5 {
      try writer.execute("PRAGMA wal_checkpoint(\(kind))")
      #expect(try look(connection).isNothing)
      try writer.execute("UPDATE item SET text = 'c\(run)' WHERE id = 2")
      #expect(try look(connection) == .tables(["item": .rows([2])]))
    }
    #expect(reader.statistics.fallbacks == ["firstLook": 1])
    #expect(reader.statistics.logRestarts > 0)
  }

  @Test func `what a lost log held is found on the pages of followed tables`() throws {
    let connection = try connect()
    _ = try look(connection)
    try writer.execute("UPDATE item SET text = 'c' WHERE id = 2")
    try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try writer.execute("UPDATE other SET text = 'c' WHERE id = 2")
    #expect(
      try look(connection) == .tables(["item": .rows([2]), "other": .whole(.logLost)]))
    #expect(reader.statistics.fallbacks == ["firstLook": 1, "logLost": 1])
  }

  @Test func `a log begun anew under a reader of the file alone is noticed`() throws {
    let connection = try connect()
    _ = try look(connection)
    try writer.execute("UPDATE other SET text = 'c' WHERE id = 2")
    try writer.execute("PRAGMA wal_checkpoint(FULL)")
    try connection.read { db in
      _ = try reader.changes(in: db)
      // Everything is in the file, so the writer may begin the log anew.
      try writer.execute("repeat 40 INSERT INTO other VALUES (10 + ?, hex(randomblob(300)))")
      try reader.follow(["item", "other"], in: db)
      try reader.checkInvariants(in: db)
      reader.commit()
    }
    #expect(try look(connection) == .tables(["other": .rows(Array(10..<50))]))
  }

  @Test func `virtual tables change with the tables behind them`() throws {
    try writer.execute("CREATE VIRTUAL TABLE doc USING fts5(text)")
    let connection = try connect()
    _ = try look(connection)
    try writer.execute("INSERT INTO doc VALUES ('hello')")
    #expect(try look(connection)[table: "doc"] == .whole(.virtualTable))
    try writer.execute("UPDATE item SET text = 'c' WHERE id = 2")
    #expect(try look(connection)[table: "doc"] == nil)
  }

  @Test func `a database without a log is compared page by page, where that is wanted`() throws {
    try writer.execute("PRAGMA journal_mode = DELETE")
    let connection = try connect()
    #expect(try look(connection) == .everything(.firstLook))
    try writer.execute("UPDATE item SET text = 'c' WHERE id = 2")
    #expect(try look(connection) == .tables(["item": .rows([2])]))
    #expect(try look(connection) == .nothing)

    var settings = ChangeReader.Settings()
    settings.scanLimit = 0
    let other = ChangeReader(tables: ["item"], settings: settings)
    _ = try connection.read { try other.changes(in: $0) }
    other.commit()
    try writer.execute("UPDATE item SET text = 'd' WHERE id = 2")
    let changes = try connection.read { try other.changes(in: $0) }
    #expect(changes.extent == .everything)
    other.commit()
    #expect(try connection.read { try other.changes(in: $0) } == .nothing)
  }

  @Test func `after write-ahead mode was entered rows are named again`()
    throws
  {
    try writer.execute("PRAGMA journal_mode = DELETE")
    let connection = try connect()
    _ = try look(connection)
    try writer.execute("PRAGMA journal_mode = WAL")
    try writer.execute("UPDATE item SET text = 'c' WHERE id = 2")
    #expect(try look(connection).extent == .everything)
    // SQLite itself needs a look or two to settle.
    for _ in 0..<3 { _ = try look(connection) }
    #expect(try look(connection) == .nothing)
    try writer.execute("UPDATE item SET text = 'd' WHERE id = 2")
    #expect(try look(connection) == .tables(["item": .rows([2])]))
  }

  @Test func `a connection's own uncommitted changes, and no file at all, are everything`() throws {
    let own = try DatabaseQueue(path: folder.file())
    let changes = try own.write { db in
      try db.execute(sql: "DELETE FROM item")
      return try reader.changes(in: db)
    }
    #expect(changes == .everything(.snapshotUnknown))
    let memory = try DatabaseQueue()
    let other = ChangeReader()
    #expect(try memory.read { try other.changes(in: $0) } == .everything([.noFile]))
  }

  @Test func `a damaged file is everything or an error, and is followed again once it is whole`()
    throws
  {
    try writer.execute("repeat 500 INSERT INTO item VALUES (10 + ?, hex(randomblob(20)))")
    try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let connection = try connect()
    _ = try look(connection)
    for page in 2...8 {
      // Another process: it may open the file without harm to this one's locks.
      try shell("dd if=/dev/urandom of=\(folder.file()) bs=4096 seek=\(page) count=1 conv=notrunc")
      try writer.execute("PRAGMA user_version = \(page)")
      _ = try? look(connection)
      _ = try? writer.execute("INSERT INTO other (text) VALUES ('x')")
      _ = try? look(connection)
    }
  }

  private func shell(_ command: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command + " 2>/dev/null"]
    try process.run()
    process.waitUntilExit()
  }
}
