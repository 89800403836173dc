/// Finds the old leftover that each new leftover continues: the n-th of a key the n-th of that key.
protocol LeftoverMatching {
  /// For each new leftover its offset and what it continues, in order; for one call.
  ///
  /// O(m), m new leftovers.
  mutating func forEachMatch(_ body: (_ new: Int, LeftoverMatch?) -> Void)
}

/// What a new leftover continues.
struct LeftoverMatch {
  /// The number of the old leftover.
  let old: UInt32
  let isChanged: Bool

  /// What a record continues that is the same one; nothing is compared if all bytes are equal.
  @inline(__always)
  init(
    old number: UInt32, _ old: BorrowedBytes, _ new: BorrowedBytes, hasEqualBytes: Bool,
    _ layout: RecordLayout
  ) {
    self.old = number
    isChanged = !hasEqualBytes && !layout.showsSame(old, new)
  }
}

extension BorrowedBytes {
  /// Whether the bytes are the same, of which these, `ends`, were read before.
  @inline(__always)
  func isEqual(to other: BorrowedBytes, ends: UInt16) -> Bool {
    ends == other.ends && isEqual(to: other)
  }
}
