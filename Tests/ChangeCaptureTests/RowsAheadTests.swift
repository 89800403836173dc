import Foundation
import GRDB
import TestSupport
import Testing

@testable import ChangeCapture

/// Tables that are too large to be read at once.
@Suite struct `Rows that are read ahead` {
  let folder: TemporaryFolder
  let writer: ForeignWriter
  let connection: DatabaseQueue
  let reader: ChangeReader

  init() throws {
    folder = try TemporaryFolder()
    writer = try ForeignWriter(folder.file())
    for statement in [
      "PRAGMA page_size = 1024", "PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0",
      "CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT)",
      "CREATE TABLE word (text TEXT PRIMARY KEY, number INT) WITHOUT ROWID",
      """
      INSERT INTO item WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c
        WHERE n < 1000) SELECT n, printf('%0100d', n) FROM c
      """,
      "INSERT INTO word SELECT text, id FROM item",
    ] { try writer.execute(statement) }
    var configuration = Configuration()
    configuration.readonly = true
    connection = try DatabaseQueue(path: folder.file(), configuration: configuration)
    reader = ChangeReader(tables: ["item", "word"], settings: .init(pagesAtOnce: 0))
    // The first transaction of a connection does not know the state of the log before it.
    try connection.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM item") }
    _ = try look()
  }

  private func look() throws -> DatabaseChanges {
    let changes = try connection.read { db in
      let changes = try reader.changes(in: db)
      try reader.checkInvariants(in: db)
      return changes
    }
    reader.commit()
    return changes
  }

  private func readRowsAhead(atMost pages: Int) throws -> Bool {
    try connection.read { db in
      _ = try reader.changes(in: db)
      return try reader.readRowsAhead(atMost: pages, in: db)
    }
  }

  @Test func `nothing is read at first, and rows are told all the same`() throws {
    #expect(reader.hasUnreadRows)
    for (row, text) in [(7, "'a'"), (7, "'b'"), (990, "printf('%0900d', 1)"), (990, "'c'")] {
      try writer.execute("UPDATE item SET text = \(text) WHERE id = \(row)")
      #expect(try look() == .tables(["item": .rows([Int64(row)])]))
    }
    try writer.execute("DELETE FROM item WHERE id BETWEEN 500 AND 530")
    #expect(try look() == .tables(["item": .rows(Array(500...530))]))
    try writer.execute("INSERT INTO item VALUES (-1, 'a'), (515, 'b'), (2000, 'c')")
    #expect(try look() == .tables(["item": .rows([-1, 515, 2000])]))
    #expect(reader.hasUnreadRows)
    #expect(reader.statistics.fallbacks == ["firstLook": 1])
  }

  @Test func `rows without rowids are told by their keys`() throws {
    try writer.execute("UPDATE word SET number = 0 WHERE number IN (3, 700)")
    guard case .keys(let keys) = try look()[table: "word"] else {
      Issue.record("no keys")
      return
    }
    #expect(keys.values.count == 2)
  }

  @Test func `what was on a page is in the file after the log has begun anew`() throws {
    try writer.execute("UPDATE item SET text = 'a' WHERE id = 7")
    _ = try look()
    try writer.execute("PRAGMA wal_checkpoint(RESTART)")
    try writer.execute("UPDATE item SET text = 'b' WHERE id IN (7, 800)")
    #expect(try look() == .tables(["item": .rows([7, 800])]))
    #expect(reader.statistics.logRestarts == 1)
  }

  @Test(arguments: ["PASSIVE", "RESTART"])
  func `where a checkpoint came between, the table is told once`(_ kind: String) throws {
    try writer.execute("UPDATE item SET text = 'a' WHERE id = 7")
    try writer.execute("PRAGMA wal_checkpoint(\(kind))")
    #expect(try look() == .tables(["item": .whole(.notReadYet)]))
    try writer.execute("UPDATE item SET text = 'b' WHERE id = 7")
    #expect(try look() == .tables(["item": .rows([7])]))
  }

  @Test func `after all is read a checkpoint does not matter`() throws {
    var count = 0
    while try readRowsAhead(atMost: 10) { count += 1 }
    #expect(count > 10)
    #expect(!reader.hasUnreadRows)
    try writer.execute("UPDATE item SET text = 'a' WHERE id = 7")
    try writer.execute("PRAGMA wal_checkpoint")
    #expect(try look() == .tables(["item": .rows([7])]))
  }

  @Test func `reading goes on while the table changes under it`() throws {
    for run in 0..<40 where try readRowsAhead(atMost: 9) {
      let first = run * 37 % 1000
      try writer.execute("DELETE FROM item WHERE id BETWEEN \(first) AND \(first + 20)")
      try writer.execute("INSERT INTO item VALUES (\(3000 + run), printf('%0300d', \(run)))")
      #expect(try look()[table: "item"] != nil)
    }
    #expect(!reader.hasUnreadRows)
    #expect(reader.statistics.fallbacks == ["firstLook": 1])
  }

  @Test func `overflow pages of rows that were not read are not missed`() throws {
    try writer.execute("UPDATE item SET text = printf('%09000d', 1) WHERE id = 7")
    _ = try look()
    try reader.follow([], in: connection)
    try reader.follow(["item"], in: connection)
    // The leaf stays as it is.
    try writer.execute(
      "UPDATE item SET text = substr(text, 1, 8000) || '2' || substr(text, 8002) WHERE id = 7")
    let changes = try #require(try look()[table: "item"])
    #expect([.rows([7]), .whole(.overflow)].contains(changes))
  }

  @Test func `nor those of rows that were, where the schema changes as well`() throws {
    try writer.execute("UPDATE item SET text = printf('%09000d', 1) WHERE id = 7")
    _ = try look()
    #expect(reader.hasUnreadRows)
    try writer.execute(
      "UPDATE item SET text = substr(text, 1, 8000) || '2' || substr(text, 8002) WHERE id = 7")
    try writer.execute("CREATE TABLE more (id)")
    #expect(try look()[table: "item"] == .whole(.overflow))
  }

  @Test func `overflow pages are read a few at a time, too`() throws {
    try writer.execute("UPDATE item SET text = printf('%050000d', 1) WHERE id < 20")
    try reader.follow([], in: connection)
    try reader.follow(["item", "word"], in: connection)
    _ = try look()
    func pages() -> Int {
      reader.map?.followed.reduce(0) { $0 + ($1?.overflow.pageCount ?? 0) } ?? 0
    }
    var (count, before) = (0, pages())
    while try readRowsAhead(atMost: 60) {
      count += 1
      // One row has some 50.
      #expect(pages() - before <= 110)
      before = pages()
    }
    #expect(before > 900)
    #expect(count > 10)
    try writer.execute("UPDATE item SET text = substr(text, 1, 8000) || '2' WHERE id = 19")
    #expect(try look() == .tables(["item": .rows([19])]))
  }

  @Test func `a change of the schema begins anew`() throws {
    _ = try readRowsAhead(atMost: 5)
    try writer.execute("ALTER TABLE word RENAME TO words")
    let changes = try look()
    #expect(changes.schemaChanged)
    #expect(changes[table: "item"] == nil)
    try writer.execute("UPDATE item SET text = 'a' WHERE id = 7")
    #expect(try look() == .tables(["item": .rows([7])]))
    while try readRowsAhead(atMost: 100) {}
    #expect(!reader.hasUnreadRows)
  }
}

extension ChangeReader {
  /// Follows other tables within a transaction of its own.
  fileprivate func follow(_ tables: Set<String>, in connection: DatabaseQueue) throws {
    try connection.read { db in
      _ = try changes(in: db)
      try follow(tables, in: db)
    }
  }
}
