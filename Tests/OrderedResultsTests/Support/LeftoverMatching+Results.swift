@testable import OrderedResults

extension FlatRecords {
  /// The numbers of all records.
  var numbers: [UInt32] { numbers(in: Gaps(between: [], .old, count: list.count)) }
}

extension LeftoverMatching {
  /// Looks all records of a result up.
  ///
  /// - Returns: for each what it continues, and whether that changed.
  mutating func match(_ new: Results) -> [(old: Int?, isChanged: Bool)] {
    let all = Gaps(between: [], .new, count: new.count)
    var batches = LeftoverBatches(all, of: FlatRecords(new.records))
    var batch = LeftoverBatches.emptyBatch
    var found: [(old: Int?, isChanged: Bool)] = []
    while batches.next(&batch) {
      match(&batch)
      for lookUp in batch {
        precondition(Int(lookUp.offset) == found.count)
        let isNew = lookUp.oldOffset == LookUp.none
        found.append((isNew ? nil : Int(lookUp.oldOffset), lookUp.isChanged))
      }
    }
    return found
  }

  /// The old records that none of those looked up continues.
  var unmatched: [Int] {
    var offsets: [Int] = []
    forEachUnmatched { offsets.append(Int($0)) }
    return offsets
  }
}
