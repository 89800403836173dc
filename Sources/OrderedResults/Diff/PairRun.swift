/// Records that follow each other in the old result, and the same records following each other in
/// the new one.
///
/// 32-bit offsets halve what a diff of large results needs. 2³⁰ records with their sections, in
/// 2²⁵ blocks, are the limit of ``CountedRun`` and ``FlatRecords``; passing it stops the process
/// (the blocks alone would take a hundred gigabytes).
struct PairRun {
  var old: UInt32
  var new: UInt32
  var count: UInt32
  /// Whether visible columns differ (in all of them).
  var isChanged: Bool

  init(old: Int, new: Int, count: Int, isChanged: Bool) {
    self.old = UInt32(old)
    self.new = UInt32(new)
    self.count = UInt32(count)
    self.isChanged = isChanged
  }

  /// One pair.
  @inline(__always)
  init(old: UInt32, new: UInt32, isChanged: Bool) {
    (self.old, self.new, count, self.isChanged) = (old, new, 1, isChanged)
  }

  var oldRange: Range<Int> { Int(old)..<Int(old) + Int(count) }
  var newRange: Range<Int> { Int(new)..<Int(new) + Int(count) }
}

extension PairRun {
  /// Whether another run goes on where this one ends, and is of the same kind.
  @inline(__always)
  fileprivate func goes(on run: PairRun) -> Bool {
    old &+ count == run.old && new &+ count == run.new && isChanged == run.isChanged
  }
}

extension [PairRun] {
  /// Appends a run, or makes the last one longer where it goes on.
  ///
  /// O(1), amortized.
  mutating func add(_ run: PairRun) {
    if let last, last.goes(on: run) { self[count - 1].count += run.count } else { append(run) }
  }
}

extension OutputSpan<PairRun> {
  /// The same; there must be room.
  @inline(__always)
  mutating func add(_ run: PairRun) {
    if !isEmpty, self[count &- 1].goes(on: run) {
      self[count &- 1].count += run.count
    } else {
      append(run)
    }
  }
}
