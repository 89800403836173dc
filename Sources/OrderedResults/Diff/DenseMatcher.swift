/// Finds the old leftover that each new leftover continues, where the keys are integers that lie
/// close together, as those of a rowid table mostly do.
///
/// An array with a place for each key between the smallest and the largest tells which old leftover
/// has it: nothing is hashed, no two keys meet at one place, and no key is compared. It takes 4
/// bytes a place, 32 a leftover at most, which is what a ``LeftoverTable`` may take.
struct DenseMatcher: LeftoverMatching {
  private let old: Leftovers
  private let gaps: Gaps
  private let new: RecordList
  private let layout: RecordLayout
  private let identity: Identity
  /// The smallest key of the old leftovers.
  private let smallest: Int64
  /// By the distance from the smallest key, the old leftover that was not taken yet, or `none`.
  private var numbers: [UInt32]

  private static let none = UInt32.max
  // Several times the cache misses that a processor waits for at once; 2.5 KiB, which stay cached.
  private static let batchCount = 64
  /// How many places there may be for each leftover.
  private static let maximumSpread = 8

  /// A matcher for the records in the gaps of `new`.
  ///
  /// Nil if a key of the old leftovers is not one integer, if two are equal, or if they lie too far
  /// apart. O(m), m old leftovers; it mostly shows at the first few that they are unfit.
  init?(
    old: Leftovers, gaps: Gaps, of new: RecordList, _ layout: RecordLayout,
    _ identity: Identity
  ) {
    guard let keys = DenseKeys(old, identity, maximumSpread: Self.maximumSpread) else { return nil }
    numbers = [UInt32](repeating: Self.none, count: keys.spread)
    smallest = keys.smallest
    (self.old, self.gaps, self.new) = (old, gaps, new)
    (self.layout, self.identity) = (layout, identity)
    var numbers = numbers.mutableSpan
    for number in 0..<old.count {
      let place = keys.place(number)
      guard numbers[place] == Self.none else { return nil }
      numbers[place] = UInt32(truncatingIfNeeded: number)
    }
  }

  /// A new leftover on its way to its partner.
  // `new` is good as long as the matcher, which holds the list; `old` is a leftover's, and whoever
  // made that holds its results. No batch outlives the call that fills it.
  private struct LookUp {
    let new: BorrowedBytes
    let offset: UInt32
    var number = DenseMatcher.none
    var ends: UInt16 = 0
    var old: BorrowedBytes

    init(_ new: BorrowedBytes, offset: Int) {
      (self.new, self.offset, old) = (new, UInt32(offset), new)
    }
  }

  mutating func forEachMatch(_ body: (_ new: Int, LeftoverMatch?) -> Void) {
    var batch: [LookUp] = []
    batch.reserveCapacity(Self.batchCount)
    var cursor = RecordCursor(new)
    for gap in gaps {
      cursor.seek(gap.lowerBound)
      for offset in gap {
        batch.append(LookUp(cursor.bytes, offset: offset))
        cursor.advance()
        if batch.count == Self.batchCount { match(&batch, body) }
      }
    }
    match(&batch, body)
  }

  /// Looks a batch up step by step, each step only reading what the next one needs: so cache misses
  /// overlap.
  @inline(__always)
  private mutating func match(
    _ batch: inout [LookUp], _ body: (_ new: Int, LeftoverMatch?) -> Void
  ) {
    var lookUps = batch.mutableSpan
    for index in lookUps.indices {
      lookUps[index].number = take(identity.integer(lookUps[index].new))
    }
    let records = old.records.span
    for index in lookUps.indices where lookUps[index].number != Self.none {
      lookUps[index].old = records[Int(lookUps[index].number)].bytes
    }
    for index in lookUps.indices { lookUps[index].ends = lookUps[index].old.ends }
    for index in lookUps.indices { body(Int(lookUps[index].offset), match(lookUps[index])) }
    batch.removeAll(keepingCapacity: true)
  }

  @inline(__always)
  private mutating func take(_ key: Int64?) -> UInt32 {
    guard let key else { return Self.none }
    let place = DenseKeys.place(of: key, from: smallest)
    guard place < UInt64(numbers.count) else { return Self.none }
    let number = numbers[Int(truncatingIfNeeded: place)]
    numbers[Int(truncatingIfNeeded: place)] = Self.none
    return number
  }

  @inline(__always)
  private func match(_ lookUp: LookUp) -> LeftoverMatch? {
    guard lookUp.number != Self.none else { return nil }
    let isEqual = lookUp.old.isEqual(to: lookUp.new, ends: lookUp.ends)
    return LeftoverMatch(
      old: lookUp.number, lookUp.old, lookUp.new, hasEqualBytes: isEqual, layout)
  }
}
