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
}
