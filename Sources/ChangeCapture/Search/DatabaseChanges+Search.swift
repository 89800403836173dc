import Foundation
package import GRDB

extension DatabaseChanges {
  /// More leaves than this, and what names so many documents is all of them.
  private static let mostLeaves = 1024

  /// Finds out which documents of an FTS5 index may have changed, and has them be the rows of its table.
  ///
  /// Whatever is written for a document writes a leaf that names it, be it that only a word was lost, and
  /// a merge of segments writes what it moves; but for a document without a word, and one that is gone
  /// from the index by a command that empties it or builds it anew, whose sizes change. So the leaves and
  /// sizes that changed name all, whoever wrote. O(n) for n bytes of these leaves.
  ///
  /// - Parameters:
  ///   - index: one whose ``SearchIndex/entries`` and ``SearchIndex/sizes`` are followed.
  ///   - db: shows what these are the changes up to.
  /// - Throws: `DatabaseError` where the leaves cannot be read.
  package mutating func findDocuments(of index: SearchIndex, in db: Database) throws {
    guard case .tables = extent, self[table: index.table] != nil else { return }
    let entries = self[table: index.entries] ?? .rows([])
    let sizes = self[table: index.sizes] ?? .rows([])
    explain(index.table, by: try Self.documents(of: index, entries, sizes, in: db))
  }

  private static func documents(
    of index: SearchIndex, _ entries: TableChanges, _ sizes: TableChanges, in db: Database
  ) throws -> TableChanges {
    guard case .rows(let pages) = entries, case .rows(let resized) = sizes else {
      return .whole(.virtualTable)
    }
    let leaves = pages.filter(isLeaf)
    guard leaves.count <= mostLeaves else { return .whole(.virtualTable) }
    var documents = Set(resized)
    let statement = try db.cachedStatement(
      sql: "SELECT block FROM \(index.entries.quotedDatabaseIdentifier) WHERE id = ?")
    do {
      for leaf in leaves {
        // Gone: what it had is in another, or is nowhere.
        guard let row = try Row.fetchOne(statement, arguments: [leaf]) else { continue }
        try row.withUnsafeData(atIndex: 0) { data in
          try (data ?? .init()).withUnsafeBytes { bytes in
            let page = PageImage(number: 0, bytes: bytes)
            try SearchLeaf(page, hasPositions: index.hasPositions)
              .insertDocuments(into: &documents)
          }
        }
      }
    } catch is CaptureDoubt {
      return .whole(.malformedIndex)
    }
    return .rows(documents.sorted())
  }

  /// Whether an id in the table of entries is that of a leaf: behind the number of its segment stand a bit
  /// for what only helps to skip, five for the height, and 31 for the page. Those of small numbers tell of
  /// the whole index.
  private static func isLeaf(_ id: Int64) -> Bool { id >> 37 > 0 && (id >> 31) & 0x3F == 0 }
}
