import Foundation
import GRDB
import SeededRandom
import TestSupport
import Testing

@testable import ChangeCapture

/// The documents that the pages of an FTS5 index name, held against those that FTS5 says to be in it.
@Suite struct `A leaf of an FTS5 index` {
  private static func documents(_ index: SearchIndex, in db: Database) throws -> Set<Int64> {
    var documents: Set<Int64> = []
    let leaves = try Data.fetchAll(
      db, sql: "SELECT block FROM \(index.entries) WHERE id >> 37 > 0 AND (id >> 31) & 63 = 0")
    for leaf in leaves {
      try leaf.withUnsafeBytes { bytes in
        let page = PageImage(number: 0, bytes: bytes)
        try SearchLeaf(page, hasPositions: index.hasPositions).insertDocuments(into: &documents)
      }
    }
    return documents
  }

  @Test(arguments: ["full", "column", "none"])
  func `names the documents whose words it has`(detail: String) throws {
    var random = RandomSource(seed: RandomSource.seed)
    print("leaves of FTS5: DIDCHANGE_SEED=\(RandomSource.seed)")
    try DatabaseQueue().write { db in
      try db.execute(
        sql: """
          CREATE VIRTUAL TABLE t USING fts5(a, b, detail = \(detail), prefix = '1 2');
          CREATE VIRTUAL TABLE v USING fts5vocab(t, instance);
          INSERT INTO t (t, rank) VALUES ('pgsz', 64);
          """)
      let index = SearchIndex(table: "t", hasPositions: detail != "none")
      for round in 0..<60 {
        for _ in 0..<random.number(1...8) {
          let id = random.pick([random.number(1...40), random.number(-9...9), 1 << 40])
          // Lists of places and of documents that go over several pages, too.
          let words = (0..<random.pick([0, 1, 3, 200])).map { _ in
            random.pick(["a", "b", "ab", "abc", "x\(random.number(0...99))"])
          }
          let text = words.joined(separator: " ")
          if random.once(in: 4) {
            try db.execute(sql: "DELETE FROM t WHERE rowid = ?", arguments: [id])
          } else {
            try db.execute(
              sql: "INSERT OR REPLACE INTO t (rowid, a, b) VALUES (?, ?, 'b')",
              arguments: [id, text])
          }
        }
        if random.once(in: 6) { try db.execute(sql: "INSERT INTO t (t) VALUES ('optimize')") }
        let held = try Set(Int64.fetchAll(db, sql: "SELECT DISTINCT doc FROM v"))
        let named = try Self.documents(index, in: db)
        #expect(named.isSuperset(of: held), "DIDCHANGE_SEED=\(RandomSource.seed), round \(round)")
        // Alone, 'optimize' may leave what was deleted, from SQLite 3.43 on.
        try db.execute(sql: "INSERT INTO t (t) VALUES ('rebuild'), ('optimize')")
        #expect(
          try Self.documents(index, in: db) == held,
          "DIDCHANGE_SEED=\(RandomSource.seed), round \(round)")
      }
    }
  }

  @Test func `that is cut off, or of other bytes, is told or read within its bounds`() throws {
    var random = RandomSource(seed: RandomSource.seed)
    for _ in 0..<20_000 {
      var bytes = (0..<random.number(0...40)).map { _ in
        UInt8(truncatingIfNeeded: random.pick([random.number(0...255), random.number(0...20)]))
      }
      if bytes.count > 4, random.once(in: 2) { bytes.replaceSubrange(0..<4, with: [0, 4, 0, 20]) }
      var documents: Set<Int64> = []
      bytes.withUnsafeBytes { bytes in
        let page = PageImage(number: 0, bytes: bytes)
        try? SearchLeaf(page, hasPositions: random.once(in: 2)).insertDocuments(into: &documents)
      }
      #expect(documents.count <= bytes.count)
    }
  }
}
