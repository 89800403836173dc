/// Finds the old leftover that each new leftover continues, whatever the keys are.
///
/// With many leftovers each look-up misses the cache three times: in the table, in the list of
/// leftovers, in the record. So they are looked up a batch at a time and step by step, each step
/// only reading what the next one needs: the misses of a batch overlap.
struct LeftoverMatcher: LeftoverMatching {
  private var table: LeftoverTable
  private let new: HashedLeftovers
  private let layout: RecordLayout
  private let identity: Identity
  private var batch: [LookUp] = []

  // Several times the cache misses that a processor waits for at once, and few enough that a key
  // seldom repeats within a batch.
  private static let batchCount = 32

  /// A new leftover on its way to its partner.
  private struct LookUp {
    let candidate: LeftoverTable.Candidate
    var old: BorrowedBytes?
    /// First and last byte of the old record.
    var ends: UInt16 = 0
  }

  /// O(m), m old leftovers.
  init(
    old: HashedLeftovers, new: HashedLeftovers, _ layout: RecordLayout, _ identity: Identity
  ) {
    table = LeftoverTable(old, identity)
    self.new = new
    self.layout = layout
    self.identity = identity
  }

  mutating func forEachMatch(_ body: (_ new: Int, LeftoverMatch?) -> Void) {
    for start in stride(from: 0, to: new.leftovers.count, by: Self.batchCount) {
      let numbers = start..<min(start + Self.batchCount, new.leftovers.count)
      batch.removeAll(keepingCapacity: true)
      for number in numbers {
        batch.append(LookUp(candidate: table.candidate(new.hashes[number])))
      }
      for index in batch.indices { batch[index].old = table.bytes(batch[index].candidate) }
      for index in batch.indices { batch[index].ends = batch[index].old?.ends ?? 0 }
      for number in numbers {
        body(Int(new.leftovers.records[number].offset), match(number, batch[number - start]))
      }
    }
  }

  private mutating func match(_ number: Int, _ lookUp: LookUp) -> LeftoverMatch? {
    let record = new.leftovers.records[number].bytes
    if let old = lookUp.old {
      let isEqual = old.isEqual(to: record, ends: lookUp.ends)
      if isEqual || identity.isSame(old, record), let taken = table.take(lookUp.candidate) {
        return LeftoverMatch(old: taken, old, record, hasEqualBytes: isEqual, layout)
      }
    }
    // Another key of the same hash, or a leftover that was taken earlier in the batch.
    guard let taken = table.take(record, hash: new.hashes[number]) else { return nil }
    let old = table.leftovers.records[Int(taken)].bytes
    return LeftoverMatch(old: taken, old, record, hasEqualBytes: false, layout)
  }
}
