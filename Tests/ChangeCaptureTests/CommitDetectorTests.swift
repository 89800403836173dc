import GRDB
import TestSupport
import Testing

@testable import ChangeCapture

@Suite struct CommitDetectorTests {
  let folder: TemporaryFolder
  let writer: ForeignWriter

  init() throws {
    folder = try TemporaryFolder()
    writer = try ForeignWriter(folder.file())
  }

  private func reader(_ mode: String) throws -> DatabaseQueue {
    try writer.execute("PRAGMA journal_mode = \(mode)")
    try writer.execute("CREATE TABLE item (id INTEGER PRIMARY KEY)")
    var configuration = Configuration()
    configuration.readonly = true
    return try DatabaseQueue(path: folder.file(), configuration: configuration)
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `outside of transactions every commit is a change`(_ mode: String) throws {
    let reader = try reader(mode)
    var detector = CommitDetector()
    #expect(reader.unsafeRead { detector.look($0) } == .changed, "the first look")
    #expect(reader.unsafeRead { detector.look($0) } == .unchanged)
    try writer.execute("INSERT INTO item VALUES (1)")
    #expect(reader.unsafeRead { detector.look($0) } == .changed)
    #expect(reader.unsafeRead { detector.look($0) } == .unchanged)
  }

  @Test func `inside a transaction the answer is about its snapshot`() throws {
    let reader = try reader("WAL")
    var detector = CommitDetector()
    let first = try reader.read { try detector.changes($0) }
    #expect(first == .everything(.firstLook))
    try writer.execute("INSERT INTO item VALUES (1)")
    try reader.read { db in
      #expect(try detector.changes(db) == .everything(.commit))
      try writer.execute("INSERT INTO item VALUES (2)")
      #expect(try detector.changes(db) == .nothing)
      #expect(try Int.fetchOne(db, sql: "SELECT max(id) FROM item") == 1)
    }
    #expect(try reader.read { try detector.changes($0) } == .everything(.commit))
    #expect(try reader.read { try detector.changes($0) } == .nothing)
  }

  @Test func `a locked file is busy, and what was committed meanwhile is found later`() throws {
    let reader = try reader("DELETE")
    var detector = CommitDetector()
    _ = reader.unsafeRead { detector.look($0) }
    try writer.execute("BEGIN EXCLUSIVE")
    try writer.execute("INSERT INTO item VALUES (1)")
    #expect(reader.unsafeRead { detector.look($0) } == .busy)
    #expect(throws: DatabaseError.self) {
      try reader.unsafeRead { try detector.changes($0) }
    }
    try writer.execute("COMMIT")
    #expect(reader.unsafeRead { detector.look($0) } == .changed)
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `the journal mode is that of the file`(_ mode: String) throws {
    let found = try reader(mode).read { try JournalMode(of: $0) }
    #expect(found == (mode == "WAL" ? .writeAheadLog : .rollbackJournal))
  }
}
