/// Records that follow each other in the old result, and the same records following each other in
/// the new one.
///
/// 32-bit offsets halve what a diff of large results needs; 4 294 967 295 records are the limit,
/// and passing it stops the process (their blocks alone would take hundreds of gigabytes).
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

  var oldRange: Range<Int> { Int(old)..<Int(old) + Int(count) }
  var newRange: Range<Int> { Int(new)..<Int(new) + Int(count) }
}

extension [PairRun] {
  /// Appends a run, or makes the last one longer where it goes on.
  ///
  /// O(1).
  mutating func add(_ run: PairRun) {
    guard let last, last.isChanged == run.isChanged, last.oldRange.upperBound == run.old,
      last.newRange.upperBound == run.new
    else { return append(run) }
    self[count - 1].count += run.count
  }
}
