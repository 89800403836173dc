import GRDB
import OrderedResults

@testable import ChangeCapture

/// Holds what a capture reports against what really changed.
struct Examiner {
  struct Miss: Error, CustomStringConvertible { var description: String }

  /// The state that the owner has last brought itself up to.
  private(set) var contents: Contents
  /// Counted where the capture knew exactly which commit it saw.
  private(set) var rowsReported = 0
  private(set) var rowsChanged = 0
  /// Reports of a whole table, and those in which nothing of it had changed.
  private(set) var wholeTables = 0
  private(set) var wholeTablesInVain = 0
  /// Reports of the rows that there are, of tables that were not followed.
  private(set) var presentRows = 0
  private(set) var looks = 0
  private(set) var everything = 0
  private var isCounted = true

  init(_ db: Database) throws { contents = try Contents(of: db) }

  /// Compares; with `isCommitted` the owner then takes `new` for its own state. Rows
  /// are counted with `isExact`.
  mutating func examine(
    _ changes: DatabaseChanges, _ new: Contents, isCommitted: Bool, isExact: Bool = true
  ) throws {
    looks += 1
    isCounted = isExact
    if changes.extent == .everything { everything += 1 }
    for name in Set(contents.tables.keys).union(new.tables.keys) {
      try examine(changes, name, contents.tables[name], new.tables[name])
    }
    if isCommitted { contents = new }
  }

  private mutating func examine(
    _ changes: DatabaseChanges, _ name: String, _ old: Contents.Table?, _ new: Contents.Table?
  ) throws {
    let reported = changes[table: name]
    guard let old, let new, old.columns == new.columns else {
      guard case .whole = reported, changes.schemaChanged else {
        throw Miss(description: "\(name) was made, dropped or altered; reported: \(changes)")
      }
      return
    }
    switch reported {
    case nil:
      if old != new {
        throw Miss(description: "\(name) changed in \(sample(old, new)); reported: \(changes)")
      }
    case .whole:
      wholeTables += 1
      if old == new { wholeTablesInVain += 1 }
    case .rows(let rows), .present(let rows):
      guard rows.sorted() == rows, Set(rows).count == rows.count else {
        throw Miss(description: "\(name): not ascending: \(rows)")
      }
      guard case .present = reported else { return try examine(rows, name, old, new) }
      presentRows += 1
      try examine(rows, name, old, new, ofPresent: true)
    case .keys(let keys):
      try examine(keys.numbers, name, old, new, isOfKeys: true)
      for (number, values) in keys.values where new.rows[number] != nil {
        guard new.key?.number(of: values) == number, values.count == new.key?.columns.count else {
          throw Miss(description: "\(name): \(values) are not the key of \(number)")
        }
      }
    }
  }

  // `ofPresent`: whether the rows are those that there are, of a table that is not followed.
  private mutating func examine(
    _ rows: [Int64], _ name: String, _ old: Contents.Table, _ new: Contents.Table,
    ofPresent: Bool = false, isOfKeys: Bool = false
  ) throws {
    var changed = new.changedRows(since: old)
    if ofPresent {
      changed.formIntersection(new.rows.keys)
    } else if isCounted, !isOfKeys {
      // A key may be written as 1.0 in the place of 1, which is a change that no comparison shows.
      rowsReported += rows.count
      rowsChanged += changed.count
    }
    let missed = changed.subtracting(rows)
    if !missed.isEmpty {
      throw Miss(
        description: "\(name): missed \(missed.sorted().prefix(20)) of \(changed.count) rows")
    }
  }

  private func sample(_ old: Contents.Table, _ new: Contents.Table) -> [Int64] {
    Array(new.changedRows(since: old).sorted().prefix(20))
  }

  var summary: String {
    """
    \(looks) looks, \(rowsChanged) rows changed, \(rowsReported) reported, \
    \(wholeTables) whole tables (\(wholeTablesInVain) unchanged), \(presentRows) by their leaves, \
    \(everything) times everything
    """
  }
}
