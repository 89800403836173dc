import GRDB
import TestSupport
import Testing

@testable import ChangeCapture

@Suite struct `An outline` {
  let folder: TemporaryFolder
  let writer: ForeignWriter
  let reader = ChangeReader()
  private var connection: DatabaseQueue
  private static let trees: Set<OutlinedTree> = [.table("item"), .index("item_text")]

  init() throws {
    folder = try TemporaryFolder()
    writer = try ForeignWriter(folder.file())
    try writer.execute("PRAGMA journal_mode = WAL")
    try writer.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT)")
    try writer.execute("CREATE INDEX item_text ON item (text)")
    try writer.execute("INSERT INTO item VALUES (1, 'c'), (2, 'b'), (7, 'a')")
    connection = try Self.connect(folder)
  }

  private static func connect(_ folder: TemporaryFolder) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = true
    let connection = try DatabaseQueue(path: folder.file(), configuration: configuration)
    // With the log open before the first look, that is an exact one.
    _ = try connection.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") }
    return connection
  }

  private func look<T>(_ body: (Database) throws -> T) throws -> T {
    try connection.read { db in
      _ = try reader.changes(in: db)
      reader.commit()
      return try body(db)
    }
  }

  private func expectSame(_ db: Database) throws {
    for (tree, sql) in [
      (OutlinedTree.table("item"), "SELECT id FROM item NOT INDEXED ORDER BY id"),
      (.index("item_text"), "SELECT id FROM item INDEXED BY item_text ORDER BY text, id"),
    ] {
      let rows = try Int64.fetchAll(db, sql: sql)
      #expect(try reader.entryCount(of: tree, in: db) == rows.count)
      #expect(try reader.rowIDs(of: tree, at: 0..<rows.count, in: db) == rows)
      for start in stride(from: 0, to: rows.count, by: max(1, rows.count / 50)) {
        let range = start..<min(rows.count, start + 3)
        #expect(try reader.rowIDs(of: tree, at: range, in: db) == Array(rows[range]))
      }
    }
  }

  private func expectUnknown(_ trees: Set<OutlinedTree>, _ db: Database) throws {
    for tree in trees {
      #expect(try reader.entryCount(of: tree, in: db) == nil)
      #expect(try reader.rowIDs(of: tree, at: 0..<1, in: db) == nil)
    }
  }

  @Test func `finds entries by their offsets`() throws {
    try look { db in
      try reader.outline(Self.trees, in: db)
      #expect(try reader.entryCount(of: .index("ITEM_text"), in: db) == 3)
      #expect(try reader.rowIDs(of: .index("item_text"), at: 0..<2, in: db) == [7, 2])
      #expect(try reader.rowIDs(of: .table("item"), at: 1..<9, in: db) == [2, 7])
      #expect(try reader.rowIDs(of: .table("item"), at: 5..<9, in: db) == [])
      #expect(try reader.entryCount(of: .index("other"), in: db) == nil)
    }
  }

  @Test func `follows commits, through splits and merges of pages`() throws {
    try look { try reader.outline(Self.trees, in: $0) }
    try writer.execute(
      """
      INSERT INTO item WITH RECURSIVE c(n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM c
      WHERE n < 20000) SELECT n, n * 7919 % 20011 || 'x' FROM c
      """)
    try look(expectSame)
    for id in 0..<40 {
      try writer.execute("UPDATE item SET text = 'new\(id)' WHERE id = \(id * 379 % 20000)")
      try writer.execute("INSERT INTO item VALUES (\(30000 + id), '\(id)')")
      try look(expectSame)
    }
    try writer.execute("DELETE FROM item WHERE id BETWEEN 100 AND 15000")
    try look(expectSame)
    try writer.execute("DELETE FROM item")
    try look(expectSame)
  }

  @Test func `is read ahead, a few pages at a time`() throws {
    // A log that is begun anew between two looks would have it begin again.
    try writer.execute("PRAGMA wal_autocheckpoint = 0")
    try writer.execute(
      """
      INSERT INTO item WITH RECURSIVE c(n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM c
      WHERE n < 20000) SELECT n, n * 7919 % 20011 || 'x' FROM c
      """)
    var (looks, left) = (0, try look { _ in try #require(reader.pagesToOutline(.table("item"))) })
    while left > 0 {
      try writer.execute("UPDATE item SET text = text || 'y' WHERE id % 400 = \(looks)")
      try writer.execute("DELETE FROM item WHERE id BETWEEN \(looks * 50) AND \(looks * 50 + 40)")
      let isDone = try look { db in
        try Self.trees.map { try reader.readAhead($0, atMost: 5, in: db) }.allSatisfy { $0 }
      }
      let next = try #require(reader.pagesToOutline(.table("item")))
      #expect(next < left || next == 1)
      (looks, left) = (looks + 1, isDone ? 0 : next)
    }
    #expect(looks > 5)
    try writer.execute("DELETE FROM item WHERE id % 9 = 0")
    try look { db in
      try reader.outline(Self.trees, in: db)
      try expectSame(db)
    }
    try writer.execute("DELETE FROM item WHERE id % 7 = 0")
    try look(expectSame)
  }

  @Test func `tells which rows are on the leaves that changed`() throws {
    try writer.execute(
      """
      INSERT INTO item WITH RECURSIVE c(n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM c
      WHERE n < 20000) SELECT n, n * 7919 % 20011 || 'x' FROM c
      """)
    try look { try reader.outline([.index("item_text")], in: $0) }
    try writer.execute("UPDATE item SET text = 'new' WHERE id = 5000")
    try writer.execute("DELETE FROM item WHERE id = 9000")
    let changes = try connection.read { db in
      defer { reader.commit() }
      return try reader.changes(in: db)
    }
    guard case .present(let rows)? = changes[table: "item"] else {
      throw Examiner.Miss(description: "\(changes)")
    }
    #expect(rows.contains(5000) && !rows.contains(9000) && rows.contains(9001))
    #expect(rows == rows.sorted() && rows.count < 1000)
  }

  @Test func `tells nothing of rows where an overflow page changed alone`() throws {
    try writer.execute("INSERT INTO item VALUES (10, printf('%.*c', 9000, 'a'))")
    try look { try reader.outline([.table("item")], in: $0) }
    try writer.execute("UPDATE item SET text = printf('%.*c', 8999, 'a') || 'b' WHERE id = 10")
    let changes = try connection.read { try reader.changes(in: $0) }
    #expect(changes[table: "item"] == .whole(.overflow))
  }

  @Test func `reads rowids that are on overflow pages`() throws {
    try look { try reader.outline(Self.trees, in: $0) }
    for id in 10..<60 {
      try writer.execute(
        "INSERT INTO item VALUES (\(id * 100_003), printf('%.*c', \(id * 190), 'ab'))")
    }
    try look(expectSame)
  }

  @Test func `lasts while the schema changes, the log is lost and the file is vacuumed`() throws {
    try look { try reader.outline(Self.trees, in: $0) }
    try writer.execute(
      """
      INSERT INTO item WITH RECURSIVE c(n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM c
      WHERE n < 5000) SELECT n, n * 7919 % 20011 || 'x' FROM c
      """)
    try look(expectSame)
    try writer.execute("CREATE TABLE other (a)")
    try look(expectSame)
    for _ in 0..<3 {
      try writer.execute("DELETE FROM item WHERE id % 3 = 1")
      try writer.execute("PRAGMA wal_checkpoint(RESTART)")
    }
    try look(expectSame)
    try writer.execute("DELETE FROM item WHERE id % 5 = 1")
    try writer.execute("VACUUM")
    try look(expectSame)
    try writer.execute("DROP INDEX item_text")
    try look { try expectUnknown([.index("item_text")], $0) }
    try writer.execute("CREATE INDEX item_text ON item (text)")
    try look(expectSame)
  }

  @Test func `is not known outside of the look's transaction`() throws {
    try look { try reader.outline(Self.trees, in: $0) }
    let other = try DatabaseQueue(path: folder.file())
    try connection.inDatabase { try expectUnknown(Self.trees, $0) }
    try other.read { try expectUnknown(Self.trees, $0) }
    try writer.execute("DELETE FROM item WHERE id = 1")
    try connection.read { try expectUnknown(Self.trees, $0) }
    try look(expectSame)
  }

  @Test func `is not known where a commit may have come in between`() throws {
    try look { try reader.outline(Self.trees, in: $0) }
    try connection.read { db in
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM item")
      try writer.execute("DELETE FROM item WHERE id = 1")
      _ = try reader.changes(in: db)
      try expectUnknown(Self.trees, db)
      _ = try reader.changes(in: db)
      try expectUnknown(Self.trees, db)
    }
    try look(expectSame)
  }

  @Test func `is not kept of what has no rowids`() throws {
    try writer.execute(
      "CREATE TABLE keyed (a PRIMARY KEY, b) WITHOUT ROWID")
    try writer.execute("CREATE INDEX keyed_b ON keyed (b)")
    try writer.execute("CREATE VIEW shown AS SELECT 1")
    try look { db in
      let trees: Set<OutlinedTree> = [.table("keyed"), .index("keyed_b"), .table("shown")]
      try reader.outline(trees, in: db)
      try expectUnknown(trees, db)
    }
  }

  @Test mutating func `is kept of a database without a log`() throws {
    try connection.close()
    try writer.execute("PRAGMA journal_mode = DELETE")
    connection = try Self.connect(folder)
    try look { try reader.outline(Self.trees, in: $0) }
    try writer.execute("INSERT INTO item VALUES (9, 'x'), (8, 'y')")
    try look(expectSame)
  }
}
