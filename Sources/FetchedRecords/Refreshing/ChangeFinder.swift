import ChangeCapture
import GRDB

/// Tells a refresher what may have changed since its last refresh.
///
/// Used on the refresher's queue, inside its read transactions; there is one for each connection.
protocol ChangeFinder: AnyObject {
  /// What may have changed up to the snapshot of the transaction that `db` is in, since the last
  /// refresh that was kept.
  func changes(in db: Database) throws -> DatabaseChanges

  /// The refresh succeeded: the next changes begin where these ended.
  func keep()

  /// Which tables' rows are wanted from now on; of others it matters only whether they changed.
  func follow(_ tables: Set<String>, in db: Database) throws

  var statistics: CaptureStatistics { get }

  /// Whether there are wanted rows that have to be read before their changes are found for certain.
  var hasUnreadRows: Bool { get }

  /// Reads some pages of them; whether it could.
  func readRowsAhead(atMost pages: Int, in db: Database) throws -> Bool

  /// How many pages have to be read to know where each entry of a b-tree is; nil: that is not known.
  func pagesToOutline(_ tree: OutlinedTree) -> Int?

  /// Reads some pages of a b-tree whose outline will be wanted; whether none are left to be read.
  func readAhead(_ tree: OutlinedTree, atMost pages: Int, in db: Database) throws -> Bool

  /// Of which b-trees it is wanted from now on where each entry is.
  func outline(_ trees: Set<OutlinedTree>, in db: Database) throws

  /// The number of entries in the snapshot of the transaction that `db` is in; nil: it is not known.
  func entryCount(of tree: OutlinedTree, in db: Database) throws -> Int?

  /// The rows of the entries at these offsets, in the order of the b-tree; nil: they are not known.
  func rowIDs(of tree: OutlinedTree, at range: Range<Int>, in db: Database) throws -> [Int64]?
}

extension ChangeFinder {
  var hasUnreadRows: Bool { false }

  func readRowsAhead(atMost pages: Int, in db: Database) throws -> Bool { false }

  func pagesToOutline(_ tree: OutlinedTree) -> Int? { nil }

  func readAhead(_ tree: OutlinedTree, atMost pages: Int, in db: Database) throws -> Bool { true }

  func outline(_ trees: Set<OutlinedTree>, in db: Database) throws {}

  func entryCount(of tree: OutlinedTree, in db: Database) throws -> Int? { nil }

  func rowIDs(of tree: OutlinedTree, at range: Range<Int>, in db: Database) throws -> [Int64]? {
    nil
  }
}

extension ChangeReader: ChangeFinder {
  func keep() { commit() }
}
