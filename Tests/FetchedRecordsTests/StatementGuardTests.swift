import Foundation
import GRDB
import TestSupport
import Testing

@testable import FetchedRecords

@Suite struct `A statement guard` {
  /// SQLite looks after every thousand instructions, those of BEGIN and ROLLBACK counted: what is
  /// interrupted at its end has been done.
  @Test func `that ends everything leaves no transaction open`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file()
    try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t (id)") }
    let statementGuard = StatementGuard()
    let connection = try ReadOnlyConnection.open(path: path, .none, guardedBy: statementGuard)
    statementGuard.stop()
    var interruptions = 0
    try connection.inDatabase { db in
      for _ in 0..<5000 {
        do {
          try db.beginRead()
        } catch let error as DatabaseError {
          #expect(error.resultCode == .SQLITE_INTERRUPT)
          interruptions += 1
        }
        db.endRead()
        try #require(!db.isInsideTransaction)
      }
    }
    #expect(interruptions > 0)
  }

  /// One instruction counts, after which SQLite would look.
  @Test func `ends the counting of a table, and nothing after that`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file()
    try DatabaseQueue(path: path).write { db in
      try db.execute(
        sql: """
          CREATE TABLE t (id INTEGER PRIMARY KEY, text);
          INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
            WHERE i < 20000) SELECT i, zeroblob(200) FROM n
          """)
    }
    let statementGuard = StatementGuard()
    let connection = try ReadOnlyConnection.open(path: path, .none, guardedBy: statementGuard)
    try connection.inDatabase { (db: Database) throws -> Void in
      func count() throws -> Int? { try Int.fetchOne(db, sql: "SELECT count(*) FROM t") }
      var ended = 0
      for attempt in 0..<5000 where ended < 20 {
        do {
          let time = Duration.microseconds(attempt % 200)
          let found = try statementGuard.run(atMost: time, counting: db) { try count() }
          #expect(found == 20000)
        } catch StatementGuard.Interruption.time {
          ended += 1
        }
        let found = try count()
        #expect(found == 20000)
      }
      #expect(ended == 20)
    }
  }

  /// From SQLite 3.41 on that is heard where a statement is prepared, too: in the midst of it SQLite may then say
  /// "expected 0 columns for ''".
  @Test func `ends what is prepared, and nothing after that`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file()
    try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t (id)") }
    let statementGuard = StatementGuard()
    let connection = try ReadOnlyConnection.open(path: path, .none, guardedBy: statementGuard)
    try connection.inDatabase { (db: Database) throws -> Void in
      let sql = """
        SELECT id, rank() OVER (ORDER BY id DESC), sum(id) OVER (ORDER BY id ROWS 2 PRECEDING)
        FROM t ORDER BY id
        """
      for _ in 0..<100 {
        #expect(throws: StatementGuard.Interruption.time) {
          try statementGuard.run(atMost: .microseconds(200), counting: db) {
            while true { _ = try Int.fetchOne(db, sql: sql) }
          }
        }
        #expect(try Int.fetchOne(db, sql: sql) == nil)
      }
    }
  }

  /// A thread that waits for the processor, or lets others go first, is not ended for what they do.
  @Test func `grants the processor's time, and four times that by the clock`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file()
    try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t (id)") }
    let statementGuard = StatementGuard(ProcessorTurns())
    let connection = try ReadOnlyConnection.open(path: path, .none, guardedBy: statementGuard)
    let waiting = DatabaseFunction("waiting", argumentCount: 0) { _ in
      usleep(1000)
      return 1
    }
    let granted = Duration.milliseconds(40)
    let start = ContinuousClock.now
    statementGuard.takingTurns {
      connection.inDatabase { db in
        db.add(function: waiting)
        #expect(throws: StatementGuard.Interruption.time) {
          try statementGuard.run(atMost: granted) {
            _ = try Row.fetchAll(
              db,
              sql: """
                WITH RECURSIVE n(i) AS (SELECT waiting() UNION ALL SELECT i + waiting() FROM n)
                SELECT max(i) FROM n
                """)
          }
        }
      }
    }
    #expect(ContinuousClock.now - start >= granted * 4)
  }
}
