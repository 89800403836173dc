import Hashing

/// Finds the old leftover that each new leftover continues, whatever the keys are.
///
/// With many leftovers each look-up misses the cache several times: in the table, in the list of
/// leftovers, in the record's block.
struct LeftoverMatcher: LeftoverMatching {
  private var table: LeftoverTable
  private let layout: RecordLayout
  private let identity: Identity
  private let hasher: KeyedHash
  /// For each look-up of a batch its hash, and what the table has for it.
  private var candidates: [(hash: UInt64, candidate: LeftoverTable.Candidate)] = []
  /// For each old leftover whether a new one continues it.
  private var isTaken: [Bool]

  /// A matcher for the old records with these numbers.
  ///
  /// O(m), m leftovers.
  init(
    _ leftovers: [UInt32], of old: FlatRecords, _ layout: RecordLayout, _ identity: Identity,
    _ hasher: KeyedHash
  ) {
    table = LeftoverTable(leftovers, of: old, identity, hasher)
    isTaken = Array(repeating: false, count: leftovers.count)
    (self.layout, self.identity, self.hasher) = (layout, identity, hasher)
  }

  mutating func match(_ batch: inout ContiguousArray<LookUp>) {
    candidates.removeAll(keepingCapacity: true)
    for lookUp in batch {
      let hash = identity.hash(lookUp.bytes, hasher)
      candidates.append((hash, table.candidate(hash)))
    }
    for index in batch.indices {
      if let old = table.bytes(candidates[index].candidate) { batch[index].old = old }
    }
    for index in batch.indices { batch[index].ends = batch[index].old.ends }
    for index in batch.indices { match(index, &batch[index]) }
  }

  @inline(__always)
  private mutating func match(_ index: Int, _ lookUp: inout LookUp) {
    let (hash, candidate) = candidates[index]
    if table.bytes(candidate) != nil {
      let isEqual = lookUp.hasEqualBytes
      if isEqual || identity.isSame(lookUp.old, lookUp.bytes), let taken = table.take(candidate) {
        return found(taken, &lookUp, hasEqualBytes: isEqual)
      }
    }
    // Another key of the same hash, or a leftover that was taken earlier in the batch.
    guard let taken = table.take(lookUp.bytes, hash: hash) else { return }
    lookUp.old = table.bytes(taken)
    found(taken, &lookUp, hasEqualBytes: false)
  }

  @inline(__always)
  private mutating func found(_ taken: UInt32, _ lookUp: inout LookUp, hasEqualBytes: Bool) {
    isTaken[Int(taken)] = true
    let offset = table.old.offset(table.leftovers[Int(taken)])
    lookUp.found(offset, hasEqualBytes: hasEqualBytes, layout)
  }

  func forEachUnmatched(_ body: (_ old: UInt32) -> Void) {
    for (number, isTaken) in isTaken.enumerated() where !isTaken {
      body(table.old.offset(table.leftovers[number]))
    }
  }
}
