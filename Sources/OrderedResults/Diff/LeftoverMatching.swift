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
}
