import OrderedResults
import QueryAnalysis

extension RecordOrder {
  /// The records that are only among the old ones, and those that are only among the new ones.
  ///
  /// O(k log k), k records.
  func differences(
    from old: [Record], to new: [Record]
  ) -> (removed: [Record], added: [Record]) {
    if let only = old.first, let next = new.first, old.count == 1, new.count == 1 {
      return only == next ? ([], []) : (old, new)
    }
    let old = old.sorted { compare($0, $1) < 0 }
    let new = new.sorted { compare($0, $1) < 0 }
    var removed: [Record] = []
    var added: [Record] = []
    var (i, j) = (0, 0)
    while i < old.count, j < new.count {
      let comparison = compare(old[i], new[j])
      if comparison != 0 || old[i] != new[j] {
        if comparison <= 0 { removed.append(old[i]) }
        if comparison >= 0 { added.append(new[j]) }
      }
      if comparison <= 0 { i += 1 }
      if comparison >= 0 { j += 1 }
    }
    return (removed + old[i...], added + new[j...])
  }
}

extension IncrementalPlan {
  /// The number of a record's owner.
  func number(ofOwnerOf record: Record, _ contributions: inout Contributions?) -> Int64 {
    switch owner {
    case .row(let column): record.rowID(at: column)
    case .keyedRow(let columns, let key): key.number(of: columns.lazy.map(record.value))
    case .rowOfArm(let columns, let arms):
      arms.number(of: columns.map(record.value)) ?? 0
    case .values(let count, _): Appearances.number(of: (0..<count).lazy.map(record.value))
    case .group(let columns): contributions?.owner(of: columns.map(record.value)) ?? 0
    }
  }
}

extension Record {
  /// The rowid in a column that is known to hold one.
  func rowID(at column: Int) -> Int64 {
    guard case .integer(let rowID) = value(column) else {
      preconditionFailure("a rowid is an integer")
    }
    return rowID
  }
}
