import OrderedResults
import QueryAnalysis

extension IncrementalPlan {
  /// Whether more has to be known than the rows that changed.
  func needsContributions(for changed: [ChangedRows]) -> Bool {
    appearances != nil || !keptRows.isEmpty
      || changed.contains { !$0.lead.isOwner && !$0.lead.isOfValue }
  }

  /// The numbers of owners that are rows of a lead, and the keys of those without a rowid; nil: a rowid is
  /// too large for a number among those of UNION's SELECTs.
  func owners(of rows: ChangedRows) -> (numbers: [Int64], keys: [Int64: [Value]])? {
    switch owner {
    case .rowOfArm(_, let arms), .values(_, let arms):
      guard let arm = rows.lead.arm else { return nil }
      let numbers = rows.rowIDs.compactMap { arms.number(ofRow: $0, arm: arm) }
      guard numbers.count == rows.rowIDs.count else { return nil }
      let keys = rows.keys.map { (arms.number(ofRow: $0, arm: arm) ?? 0, $1) }
      return (numbers, Dictionary(keys) { first, _ in first })
    case .row, .keyedRow, .group: return (rows.rowIDs, rows.keys)
    }
  }
}

extension Contributions {
  /// Which records of UNION go, and which come.
  ///
  /// - Parameters:
  ///   - read: for each row that may have changed, the records that it has now.
  ///   - count: how many columns have a record's values.
  ///   - index: where the records are by these numbers.
  /// - Returns: nil where it is not known.
  mutating func differences(
    from read: [(row: Int64, records: [Record])], _ count: Int, _ index: OwnerIndex
  ) -> (removed: [Record], added: [Record])? {
    let isUnequal = read.contains { _, own in
      own.contains { record in (0..<count).contains { record.value($0).equalsAnInteger } }
    }
    if isUnequal { return nil }
    var records: [Int64: Record] = [:]
    let number = { (record: Record) in
      Appearances.number(of: (0..<count).lazy.map(record.value))
    }
    let rows = read.map { row, own in
      let numbers = own.map(number)
      for (number, record) in zip(numbers, own) { records[number] = record }
      return (row: row, values: numbers)
    }
    guard let (gone, new) = appearances?.replace(rows, isShown: index.contains) else { return nil }
    let removed = gone.flatMap { gone in index.records(of: gone) { number($0) == gone } }
    return (removed, new.compactMap { records[$0] })
  }
}

extension Value {
  /// The only real number that stands beside the integer which equals it in a column of INTEGER or NUMERIC:
  /// SQLite makes integers of all others (`sqlite3VdbeIntegerAffinity` in vdbemem.c).
  static let leastInteger = -0x1p63

  var equalsAnInteger: Bool { if case .real(Self.leastInteger) = self { true } else { false } }
}
