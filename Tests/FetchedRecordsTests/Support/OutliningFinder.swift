import ChangeCapture
import GRDB

@testable import FetchedRecords

/// Knows where the entries of b-trees are by asking SQL.
final class OutliningFinder: ChangeFinder {
  private let reader = ChangeReader()
  private var trees: Set<OutlinedTree> = []
  /// It does not know where the number of entries is a multiple of this; 0: it always knows.
  ///
  /// So it goes on not to know until the next commit, however often it is asked.
  private let doubt: Int
  /// Which rows are told of in the place of whole tables; nil: the tables are.
  var present: [Int64]?

  init(doubtingMultiplesOf doubt: Int = 0) { self.doubt = doubt }

  func changes(in db: Database) throws -> DatabaseChanges {
    let changes = try reader.changes(in: db)
    guard let present, case .tables(let tables) = changes.extent else { return changes }
    return .tables(tables.mapValues { $0 == .whole(.notFollowed) ? .present(present) : $0 })
  }

  func keep() { reader.keep() }

  func follow(_ tables: Set<String>, in db: Database) throws { try reader.follow(tables, in: db) }

  var statistics: CaptureStatistics { reader.statistics }

  func pagesToOutline(_ tree: OutlinedTree) -> Int? { 1 }

  func outline(_ trees: Set<OutlinedTree>, in db: Database) { self.trees = trees }

  func entryCount(of tree: OutlinedTree, in db: Database) throws -> Int? {
    guard let source = try source(tree, in: db),
      let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(source)")
    else { return nil }
    return doubt > 0 && count.isMultiple(of: doubt) ? nil : count
  }

  func rowIDs(of tree: OutlinedTree, at range: Range<Int>, in db: Database) throws -> [Int64]? {
    guard let source = try source(tree, in: db) else { return nil }
    return try Int64.fetchAll(
      db, sql: "SELECT rowid FROM \(source) LIMIT ? OFFSET ?",
      arguments: [range.count, range.lowerBound])
  }

  private func source(_ tree: OutlinedTree, in db: Database) throws -> String? {
    guard trees.contains(tree) else { return nil }
    switch tree {
    case .table(let name): return "\(name.quotedDatabaseIdentifier) NOT INDEXED"
    case .index(let name):
      let table = try String.fetchOne(
        db, sql: "SELECT tbl_name FROM sqlite_schema WHERE name = ?", arguments: [name])
      return table.map {
        "\($0.quotedDatabaseIdentifier) INDEXED BY \(name.quotedDatabaseIdentifier)"
      }
    }
  }
}
