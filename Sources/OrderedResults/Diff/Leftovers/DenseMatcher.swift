/// Finds the old leftover that each new leftover continues, where the keys are integers that lie
/// close together, as those of a rowid table mostly do.
///
/// An array with a place for each key between the smallest and the largest tells which old leftover
/// has it: nothing is hashed, no two keys meet at one place, and no key is compared. It takes 4
/// bytes a place, 32 a leftover at most, which is what a ``LeftoverTable`` may take.
struct DenseMatcher: LeftoverMatching {
  private let old: FlatRecords
  /// The numbers of the old leftovers.
  private let leftovers: [UInt32]
  private let layout: RecordLayout
  private let identity: Identity
  private let keys: DenseKeys
  /// By the place of the key, the old leftover that was not taken yet, or `none`.
  private var numbers: ContiguousArray<UInt32>
  /// How many old leftovers were not taken yet.
  private var remaining = 0

  /// How many places there may be for each leftover.
  private static let maximumSpread = 8

  /// A matcher for the old records with these numbers.
  ///
  /// Nil if a key is not one integer, if two are equal, or if they lie too far apart. O(m), m
  /// leftovers; it mostly shows at the first few that they are unfit.
  init?(
    _ leftovers: [UInt32], of old: FlatRecords, _ layout: RecordLayout, _ identity: Identity
  ) {
    guard
      let keys = DenseKeys(leftovers, of: old, identity, maximumSpread: Self.maximumSpread)
    else { return nil }
    (self.old, self.leftovers, self.keys) = (old, leftovers, keys)
    (self.layout, self.identity) = (layout, identity)
    numbers = ContiguousArray(repeating: LookUp.none, count: keys.spread)
    remaining = leftovers.count
    var numbers = numbers.mutableSpan
    for (position, number) in leftovers.enumerated() {
      let place = keys.place(at: position)
      guard numbers[place] == LookUp.none else { return nil }
      numbers[place] = number
    }
  }

  mutating func match(_ batch: inout ContiguousArray<LookUp>) {
    let (old, keys, identity, layout) = (old, keys, identity, layout)
    var batch = batch.mutableSpan
    var matched = 0
    var numbers = numbers.mutableSpan
    for index in batch.indices {
      guard let key = identity.integer(batch[index].bytes) else { continue }
      let place = keys.place(of: key)
      guard place < UInt64(numbers.count) else { continue }
      let number = numbers[Int(truncatingIfNeeded: place)]
      numbers[Int(truncatingIfNeeded: place)] = LookUp.none
      batch[index].number = number
    }
    for index in batch.indices where batch[index].number != LookUp.none {
      batch[index].old = old.bytes(batch[index].number)
      matched &+= 1
    }
    for index in batch.indices { batch[index].ends = batch[index].old.ends }
    for index in batch.indices where batch[index].number != LookUp.none {
      let lookUp = batch[index]
      batch[index].found(
        old.offset(lookUp.number), hasEqualBytes: lookUp.hasEqualBytes, layout)
    }
    remaining -= matched
  }

  func forEachUnmatched(_ body: (_ old: UInt32) -> Void) {
    guard remaining > 0 else { return }
    for (position, number) in leftovers.enumerated()
    where numbers[keys.place(at: position)] != LookUp.none {
      body(old.offset(number))
    }
  }
}
