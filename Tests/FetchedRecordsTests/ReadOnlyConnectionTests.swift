import GRDB
import TestSupport
import Testing

@testable import FetchedRecords

@Suite struct `A connection that reads` {
  @Test func `neither tells nor takes the address of a tokenizer`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file()
    try DatabaseQueue(path: path).write { db in
      try db.execute(
        sql: """
          CREATE VIRTUAL TABLE note USING fts4(body);
          INSERT INTO note VALUES ('milk tea'), ('water');
          """)
    }
    let connection = try ReadOnlyConnection.open(path: path, .none, guardedBy: StatementGuard())
    try connection.inDatabase { db in
      let address = try? Row.fetchOne(db, sql: "SELECT fts3_tokenizer('simple') AS address")
      #expect(address?["address"] as DatabaseValue? ?? .null == .null)
      #expect(throws: DatabaseError.self) {
        try Row.fetchOne(db, sql: "SELECT fts3_tokenizer('simple', x'4141414141414141')")
      }
      // Which finds its tokenizer by name.
      let found = try String.fetchAll(db, sql: "SELECT body FROM note WHERE note MATCH 'milk'")
      #expect(found == ["milk tea"])
    }
  }
}
