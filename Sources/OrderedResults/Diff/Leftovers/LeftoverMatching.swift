/// Finds the old leftover that each new leftover continues: the n-th of a key the n-th of that key.
///
/// Leftovers are the records that were not paired as the rows came.
///
/// New leftovers are looked up a batch at a time, in their order, and step by step, each step only
/// reading what the next one needs: so the cache misses of a batch overlap.
protocol LeftoverMatching {
  /// Finds what the look-ups of a batch, which follow those of the last call, continue.
  ///
  /// O(1) for each, amortized.
  mutating func match(_ batch: inout ContiguousArray<LookUp>)

  /// The offset of each old leftover that none continues, in order; when all batches were matched.
  ///
  /// O(m), m old leftovers.
  func forEachUnmatched(_ body: (_ old: UInt32) -> Void)
}

/// A new leftover on its way to the old one that it continues.
// Whoever makes look-ups holds both results: the bytes are good as long as they.
struct LookUp {
  let bytes: BorrowedBytes
  let offset: UInt32
  /// First and last byte of the old leftover.
  var ends: UInt16 = 0
  /// Whether visible columns of the two differ.
  private(set) var isChanged = false
  /// The old leftover, or a record that may be it; the new one itself if there is none.
  var old: BorrowedBytes
  /// The number of the old leftover among ``FlatRecords``, or `none`.
  var number = LookUp.none
  /// The old leftover's offset, or `none`.
  private(set) var oldOffset = LookUp.none

  static let none = UInt32.max

  @inline(__always)
  init(_ bytes: BorrowedBytes, offset: UInt32) {
    (self.bytes, self.offset, old) = (bytes, offset, bytes)
  }

  /// Whether the old leftover's bytes are the same; its ends were read before.
  @inline(__always)
  var hasEqualBytes: Bool { ends == bytes.ends && old.isEqual(to: bytes) }

  /// Says which old leftover it is; nothing is compared if all bytes are equal.
  @inline(__always)
  mutating func found(_ offset: UInt32, hasEqualBytes: Bool, _ layout: RecordLayout) {
    oldOffset = offset
    isChanged = !hasEqualBytes && !layout.showsSame(old, bytes)
  }
}
