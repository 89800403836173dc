/// The records in the gaps of a result, in order, as look-ups of a batch at a time.
struct LeftoverBatches {
  private let records: FlatRecords
  private var gaps: Gaps.Iterator
  private var gap = 0..<0
  private var block = 0

  // Several times the cache misses that a processor waits for at once, and few enough that a batch
  // stays cached, and that a key seldom repeats in it.
  private static let count = 64

  init(_ gaps: Gaps, of records: FlatRecords) {
    self.records = records
    self.gaps = gaps.makeIterator()
  }

  /// A batch to be filled.
  static var emptyBatch: ContiguousArray<LookUp> {
    ContiguousArray(repeating: LookUp(.none, offset: 0), count: count)
  }

  /// Puts the next look-ups into a batch in place of those that were there; false: there are none.
  ///
  /// O(1) for each, amortized.
  mutating func next(_ batch: inout ContiguousArray<LookUp>) -> Bool {
    let count = fill(&batch)
    batch.removeLast(batch.count - count)
    return count > 0
  }

  /// Writes the next look-ups over those that were there.
  ///
  /// - Returns: how many there are.
  private mutating func fill(_ batch: inout ContiguousArray<LookUp>) -> Int {
    var batch = batch.mutableSpan
    var count = 0
    while count < batch.count {
      if gap.isEmpty {
        guard let next = gaps.next() else { break }
        gap = next
      }
      let run = records.run(in: gap.prefix(batch.count - count), from: &block)
      for item in run.items {
        batch[count] = LookUp(run.bytes(item), offset: run.offset(item))
        count &+= 1
      }
      gap = gap.dropFirst(run.items.count)
    }
    return count
  }
}
