import Foundation
import TestSupport
import Testing

/// What other programs do to a database's files while the server has them open: within a second it
/// shows what a new connection shows, or says that it cannot, and it keeps no writer from writing.
///
/// The server is another process: in this one, a copy of the file would drop the server's locks.
@Suite(.endToEnd) struct `The files of the database` {
  private let folder: TemporaryFolder
  private let database: Database

  init() throws {
    folder = try TemporaryFolder()
    database = Database(path: folder.file("music.sqlite"))
  }

  private func make(_ journal: JournalMode) throws {
    _ = try Database.make(
      database.path,
      "CREATE TABLE item (id INTEGER PRIMARY KEY, text); INSERT INTO item VALUES (1, 'a');",
      journal: journal)
  }

  /// Copies what a new connection sees into another file, which is in a rollback mode.
  private func backup() throws -> Database {
    let copy = Database(path: folder.file("backup.sqlite"))
    try database.execute("VACUUM INTO '\(copy.path)'")
    try copy.execute("PRAGMA journal_mode = DELETE")
    return copy
  }

  private func run(_ program: String, _ arguments: String...) throws {
    let result = try ChildProcess.run(program, arguments)
    guard result.exitCode == 0 else { throw ContractViolation("\(program): \(result.errors)") }
  }

  /// A server with one stream that has begun.
  private struct Served {
    let command: Command
    let client: HTTPClient
    let follower: Follower

    init(_ database: Database) throws {
      command = try Command.serve([database.path, "--log-level", "notice"])
      client = HTTPClient(command.base)
      follower = Follower(EventStream(command.base, "/v1/queries/item/events"))
      try follower.expectSnapshot()
    }

    func ids() throws -> [Int?] {
      try client.allRecords("/v1/queries/item/records").records.map { $0.values["id"].int }
    }
  }

  /// Waits until the resources, the stream, and a new connection show the same.
  private func expect(_ ids: [Int], _ served: Served) throws {
    try eventually("the records \(ids)") {
      try served.client.get("/readyz").status == 200 && served.ids() == ids
    }
    while served.follower.model.records.map({ $0.values["id"].int }) != ids {
      _ = try served.follower.next()
    }
    #expect(try database.select("SELECT id FROM item ORDER BY id").map { $0["id"].int } == ids)
  }

  private func insert(_ id: Int) throws {
    try database.execute("INSERT INTO item VALUES (\(id), 'x')")
  }

  private func insertWhenAllowed(_ id: Int) throws {
    try eventually("a writer writes") {
      do {
        try insert(id)
        return true
      } catch is ForeignWriter.Refused {
        return false
      }
    }
  }

  @Test func `may be replaced by a backup while the log of the old one goes later`() throws {
    try make(.wal)
    let served = try Served(database)
    let copy = try backup()
    try insert(2)
    try expect([1, 2], served)
    try run("mv", copy.path, database.path)
    try served.command.waitForLog("are others now")
    try run("rm", database.path + "-wal", database.path + "-shm")
    // Nobody holds a lock of the new file beside a log that is gone.
    try insert(3)
    try expect([1, 3], served)
    try insert(4)
    try expect([1, 3, 4], served)
  }

  @Test func `may lose the log and its index`() throws {
    try make(.wal)
    let served = try Served(database)
    try insert(2)
    try expect([1, 2], served)
    try run("rm", database.path + "-wal", database.path + "-shm")
    try expect([1], served)
    try insert(5)
    try expect([1, 5], served)
  }

  @Test(arguments: ["rm", "truncate"])
  func `may lose the log alone`(_ how: String) throws {
    try make(.wal)
    let served = try Served(database)
    try insert(2)
    try expect([1, 2], served)
    if how == "rm" {
      try run("rm", database.path + "-wal")
    } else {
      try run("truncate", "-s", "0", database.path + "-wal")
    }
    // As long as anybody has the old index, every new connection fails.
    try insertWhenAllowed(5)
    try expect([1, 5], served)
  }

  @Test func `may have a log although the file is marked for a rollback journal`() throws {
    try make(.wal)
    // Without a writer that keeps it open, SQLite would delete the log.
    let writer = try ForeignWriter(database.path)
    let served = try Served(database)
    let copy = try backup()
    try writer.run("UPDATE item SET text = 'b'")
    try run("mv", copy.path, database.path)
    try expect([1], served)
    for id in 7...9 {
      try insert(id)
      try expect([1] + Array(7...id), served)
    }
  }

  /// From then on writers find neither a mark nor a log, and want the file for themselves.
  @Test func `may be emptied of its log after a copy without one was written over it`() throws {
    try make(.wal)
    let served = try Served(database)
    let copy = try backup()
    try insert(2)
    try expect([1, 2], served)
    try run("cp", copy.path, database.path)
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for id in 3...4 {
      try insertWhenAllowed(id)
      try expect([1, 2] + Array(3...id), served)
    }
  }

  @Test(arguments: JournalMode.kinds)
  func `may be written over in place`(_ journal: JournalMode) throws {
    try make(journal)
    let copy = try backup()
    // The same number of changes in the header, and the same size.
    if journal == .delete { try run("cp", database.path, copy.path) }
    try copy.execute("UPDATE item SET id = 9")
    if journal == .delete { try database.execute("UPDATE item SET text = 'b'") }
    let served = try Served(database)
    try run("cp", copy.path, database.path)
    try expect([9], served)
    try insert(10)
    try expect([9, 10], served)
  }

  /// The checkpoint writes to the file, too.
  @Test(arguments: ["PASSIVE", "FULL", "RESTART", "TRUNCATE"])
  func `may be written over right behind a checkpoint`(_ checkpoint: String) throws {
    try make(.wal)
    let copy = try backup()
    try copy.execute("UPDATE item SET id = 9")
    let served = try Served(database)
    try insert(2)
    try expect([1, 2], served)
    try run("python3", "-c", Self.restore, copy.path, database.path, checkpoint)
    guard checkpoint == "TRUNCATE" else {
      // SQLite takes the copy or the log beside it for the database, by who has it open.
      return try eventually("the server shows what SQLite does") {
        try served.ids() == database.select("SELECT id FROM item ORDER BY id").map { $0["id"].int }
      }
    }
    try expect([9], served)
    try insert(10)
    try expect([9, 10], served)
  }

  private static let restore = """
    import shutil, sqlite3, sys
    connection = sqlite3.connect(sys.argv[2])
    connection.execute(f"PRAGMA wal_checkpoint({sys.argv[3]})")
    connection.close()
    shutil.copyfile(sys.argv[1], sys.argv[2])
    """

  @Test func `may keep the journal of a killed writer for a while`() throws {
    try make(.delete)
    let served = try Served(database)
    let killed = try ChildProcess("python3", ["-c", Self.killedWriter, database.path])
    #expect(try killed.exitCode() == -9)
    try served.command.waitForLog("there is a hot journal. A writer was killed")
    let refused = try served.client.get("/readyz")
    #expect(refused.status == 503)
    #expect(try refused.json["detail"].string?.contains("hot journal") == true)
    // What was committed before is what there is.
    for _ in 1...20 { #expect(try served.ids() == [1]) }
    let late = Follower(EventStream(served.command.base, "/v1/queries/item/events"))
    try late.expectSnapshot()
    // A server that starts now can show nothing.
    let second = try Command.run(["serve", "--port", "0", database.path])
    #expect(second.exitCode == 1)
    #expect(second.errors.contains("there is a hot journal"), "\(second.errors)")
    #expect(second.errors.contains("SELECT 1 FROM sqlite_schema"), "\(second.errors)")
    try database.execute("SELECT 1 FROM sqlite_schema")
    try served.command.waitForLog("can be read again")
    try insert(2)
    try expect([1, 2], served)
  }

  /// Overflows its cache, so that the file is written before the commit.
  private static let killedWriter = """
    import os, signal, sqlite3, sys
    connection = sqlite3.connect(sys.argv[1], isolation_level=None)
    connection.execute("PRAGMA cache_size = 5")
    connection.execute("BEGIN")
    for i in range(100, 400):
        connection.execute("INSERT INTO item VALUES (?, hex(randomblob(1000)))", (i,))
    os.kill(os.getpid(), signal.SIGKILL)
    """

  /// As LiteFS feeds a replica: no frame is added to the log.
  @Test func `may be fed with pages in place`() throws {
    try make(.wal)
    let served = try Served(database)
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for id in 11...15 {
      try run("python3", "-c", Self.replica, database.path, "INSERT INTO item VALUES (\(id), 'r')")
      try expect([1] + Array(11...id), served)
    }
    // The database's own commits are followed as ever.
    try insert(16)
    try expect([1] + Array(11...16), served)
  }

  /// Does what a statement does to a copy of the file, writes the changed pages into the file, and
  /// counts the change in the header of the log's index
  /// (https://www.sqlite.org/walformat.html#the_wal_index_header).
  private static let replica = """
    import mmap, os, sqlite3, struct, sys
    path, sql = sys.argv[1:]
    before = open(path, "rb").read()
    open(path + ".copy", "wb").write(before)
    copy = sqlite3.connect(path + ".copy", isolation_level=None)
    copy.execute(sql)
    copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copy.close()
    after = open(path + ".copy", "rb").read()
    os.remove(path + ".copy")
    with open(path, "r+b") as file:
        for start in range(0, len(after), 4096):
            if after[start:start + 4096] != before[start:start + 4096]:
                file.seek(start)
                file.write(after[start:start + 4096])
    with open(path + "-shm", "r+b") as file:
        index = mmap.mmap(file.fileno(), 32768)
        words = list(struct.unpack("<12I", index[:48]))
        assert words[4] == 0, "the log has frames"
        words[2] += 1
        words[5] = len(after) // 4096
        a = b = 0
        for i in range(0, 10, 2):
            a = (a + words[i] + b) & 0xffffffff
            b = (b + words[i + 1] + a) & 0xffffffff
        words[10], words[11] = a, b
        header = struct.pack("<12I", *words)
        index[48:96] = header
        index[:48] = header
    """
}
