/// What a pair is worth: nothing of a lower kind outweighs one of a higher kind.
enum RunKind: UInt32 {
  case header, changed, unchanged
}

/// Pairs of one kind that follow each other in both of two sequences.
///
/// Nothing can come between them, so they stay or go together. 8 bytes: in a shuffled result there
/// are as many as records.
struct CountedRun {
  /// The first pair's position in the old sequence.
  let start: UInt32
  /// The kind above 30 bits of the count.
  private var bits: UInt32

  /// Counts must be below this.
  static let maximumCount = 1 << countWidth
  private static let countWidth = 30

  @inline(__always)
  init(old start: Int, count: UInt32, _ kind: RunKind) {
    self.start = UInt32(truncatingIfNeeded: start)
    bits = kind.rawValue << UInt32(Self.countWidth) | count
  }

  /// How many pairs there are.
  @inline(__always)
  var count: UInt32 { bits & UInt32(Self.maximumCount - 1) }

  /// Where the run ends in the old sequence.
  @inline(__always)
  var end: UInt32 { start &+ count }

  /// The kind's number.
  @inline(__always)
  var kind: UInt32 { bits >> UInt32(Self.countWidth) }

  /// What the run is worth, with a count for each kind.
  @inline(__always)
  func weight<Weight: RunWeight>() -> Weight { Weight(count, ofKind: kind) }

  /// Adds pairs right behind, if they are of the same kind; false: they are not.
  @inline(__always)
  fileprivate mutating func add(old start: Int, count: UInt32, _ kind: RunKind) -> Bool {
    guard end == start, self.kind == kind.rawValue else { return false }
    bits &+= count
    return true
  }
}

extension OutputSpan<CountedRun> {
  /// Adds pairs after all others in the new sequence.
  ///
  /// They belong to the last run if they follow it in the old sequence, where the first one's
  /// position is `start`: what may lie between in the new one has no pair. O(1).
  ///
  /// - Returns: the number of the run that holds them.
  @inline(__always)
  mutating func add(old start: Int, count: UInt32, _ kind: RunKind) -> UInt32 {
    if isEmpty || !self[self.count &- 1].add(old: start, count: count, kind) {
      append(CountedRun(old: start, count: count, kind))
    }
    return UInt32(truncatingIfNeeded: self.count &- 1)
  }
}
