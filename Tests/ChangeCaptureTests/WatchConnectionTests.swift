import Foundation
import GRDB
import TestSupport
import Testing

@testable import ChangeCapture

@Suite struct WatchConnectionTests {
  let folder: TemporaryFolder
  let writer: ForeignWriter

  init() throws {
    folder = try TemporaryFolder()
    writer = try ForeignWriter(folder.file())
  }

  private func connection(_ mode: String) throws -> WatchConnection {
    try writer.execute("PRAGMA journal_mode = \(mode)")
    try writer.execute("CREATE TABLE item (id INTEGER PRIMARY KEY)")
    return try WatchConnection(path: folder.file())
  }

  /// Whether each of ten polls finds that the connection shows what the files no longer hold.
  private func polls(of connection: WatchConnection) throws -> [Bool] {
    let start = ContinuousClock.now
    return try (0..<10).map { poll in
      let (files, before) = (try #require(connection.status), connection.cause())
      _ = connection.look()
      return connection.isOutdated(
        files, before: before, isDatabaseLast: false, at: start + .milliseconds(50 * poll))
    }
  }

  @Test(arguments: ["WAL", "DELETE"], [false, true])
  func `each commit is found by one look, and by no other`(
    _ mode: String, readsFile: Bool
  ) throws {
    let connection = try connection(mode)
    defer { connection.close() }
    #expect(connection.journalMode == (mode == "WAL" ? .writeAheadLog : .rollbackJournal))
    #expect(connection.look(readsFile: readsFile) == .unchanged)
    for id in 1...20 {
      try writer.execute("INSERT INTO item VALUES (\(id))")
      #expect(connection.look(readsFile: readsFile) == .changed)
      // Those that read the file as well as those that do not.
      #expect(connection.look(readsFile: false) == .unchanged)
      #expect(connection.look(readsFile: true) == .unchanged)
      try writer.execute("BEGIN IMMEDIATE")
      try writer.execute("INSERT INTO item VALUES (1000)")
      #expect(connection.look(readsFile: readsFile) == .unchanged)
      try writer.execute("ROLLBACK")
      #expect(connection.look(readsFile: readsFile) == .unchanged)
    }
  }

  /// Of the same number of changes and the same size, so that SQLite sees nothing of it.
  @Test func `a copy over the file is seen also by who has looked when it was empty`() throws {
    let connection = try connection("DELETE")
    defer { connection.close() }
    let copy = try Data(contentsOf: URL(filePath: folder.file()))
    let file = try FileHandle(forWritingTo: URL(filePath: folder.file()))
    try file.truncate(atOffset: 0)
    #expect(connection.look() == .changed)
    try file.write(contentsOf: copy)
    try file.close()
    _ = connection.look()
    #expect(try polls(of: connection).filter(\.self).count == 1)
  }

  /// As a writer is killed in the middle of a transaction, and its journal deleted.
  @Test func `what is written behind the first commit is seen by who opened an empty file`() throws
  {
    try connection("DELETE").close()
    let url = URL(filePath: folder.file())
    let copy = try Data(contentsOf: url)
    let file = try FileHandle(forWritingTo: url)
    try file.truncate(atOffset: 0)
    let connection = try WatchConnection(path: folder.file())
    defer { connection.close() }
    try file.write(contentsOf: copy)
    #expect(connection.look() == .changed)
    try writer.execute("INSERT INTO item VALUES (1)")
    let before = connection.fileBeforeLook
    #expect(connection.look() == .changed)
    connection.settleCommit(before)
    try file.seek(toOffset: UInt64(copy.count))
    try file.write(contentsOf: [0])
    try file.close()
    #expect(connection.look() == .unchanged)
    #expect(try polls(of: connection).filter(\.self).count == 1)
  }

  @Test func `a commit between the files' state and the look makes no other log of it`() throws {
    let connection = try connection("WAL")
    defer { connection.close() }
    for id in 1...5 {
      let files = try #require(connection.status)
      let before = connection.cause()
      try writer.execute("INSERT INTO item VALUES (\(id))")
      #expect(connection.look() == .changed)
      #expect(!connection.isOutdated(files, before: before, isDatabaseLast: false, at: .now))
    }
  }

  @Test func `a commit between a look's header and its statement is told once`() throws {
    try connection("WAL").close()
    let reader = try DatabaseQueue(path: folder.file(), configuration: .readOnly(label: "test"))
    let files = try reader.unsafeRead { db in
      _ = try db.dataVersion()
      let connection = try #require(db.sqliteConnection)
      return try DatabaseFiles(of: connection)
    }
    var log = WatchConnection.Log(files)
    var header = log.header()
    #expect(log.compare(header, statement: .unchanged) == .unchanged)
    for id in 1...3 {
      header = log.header()
      try writer.execute("INSERT INTO item VALUES (\(id))")
      #expect(log.compare(header, statement: .changed) == .changed)
      header = log.header()
      #expect(log.compare(try #require(header)) == .unchanged)
      #expect(log.compare(header, statement: .unchanged) == .unchanged)
    }
  }

  /// Whoever looks while a writer is held up in the middle of it finds two copies that differ: then the
  /// statement tells.
  @Test func `a commit whose header is half written is told once`() throws {
    let connection = try connection("WAL")
    let index = try FileHandle(forUpdating: URL(filePath: folder.file() + "-shm"))
    // Not before: to close it takes all locks off the file that this process has on it.
    defer {
      connection.close()
      try? index.close()
    }
    try writer.execute("INSERT INTO item VALUES (1)")
    // Of the second copy (https://www.sqlite.org/walformat.html#the_wal_index_file_format).
    try index.seek(toOffset: 48 + 16)
    try index.write(contentsOf: [255, 255, 255, 255])
    #expect(connection.look(readsFile: false) == .changed)
    #expect(connection.look(readsFile: false) == .unchanged)
    #expect(connection.look(readsFile: true) == .unchanged)
    try writer.execute("INSERT INTO item VALUES (2)")
    #expect(connection.look(readsFile: false) == .changed)
  }

  @Test func `what is committed while the mode changes is not lost`() throws {
    let connection = try connection("DELETE")
    defer { connection.close() }
    #expect(connection.journalMode == .rollbackJournal)
    try writer.execute("PRAGMA journal_mode = WAL")
    #expect(connection.look() == .changed)
    #expect(connection.journalMode == .writeAheadLog)
    try writer.execute("INSERT INTO item VALUES (1)")
    #expect(connection.look(readsFile: false) == .changed)
    #expect(connection.look(readsFile: false) == .unchanged)
    try writer.execute("INSERT INTO item VALUES (2)")
    #expect(connection.look(readsFile: false) == .changed)
  }

  @Test func `a log that begins anew, and a writer who is killed, leave it looking`() throws {
    let connection = try connection("WAL")
    defer { connection.close() }
    #expect(connection.journalMode == .writeAheadLog)
    for id in 1...5 {
      try writer.execute("INSERT INTO item VALUES (\(id))")
      #expect(connection.look(readsFile: false) == .changed)
      try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      // To begin the log anew may look like a commit, once.
      _ = connection.look(readsFile: false)
      #expect(connection.look(readsFile: false) == .unchanged)
    }
    try writer.execute("BEGIN IMMEDIATE")
    try writer.execute("INSERT INTO item VALUES (1000)")
    writer.kill()
    #expect(connection.look(readsFile: true) == .unchanged)
    let next = try ForeignWriter(folder.file())
    try next.execute("INSERT INTO item VALUES (6)")
    #expect(connection.look(readsFile: false) == .changed)
    #expect(connection.look(readsFile: true) == .unchanged)
  }
}
