/// What a pair is worth: nothing of a lower kind outweighs one of a higher kind.
enum RunKind: Int {
  case header, changed, unchanged
}

/// Pairs that follow each other in both of two sequences, counted by their kind.
///
/// Nothing can come between them, so they stay or go together.
struct CountedRun {
  /// The first pair's position in the old sequence.
  let start: UInt32
  private(set) var headers: UInt32 = 0
  private(set) var changed: UInt32 = 0
  private(set) var unchanged: UInt32 = 0

  /// Pairs of one kind.
  @inline(__always)
  init(old start: Int, count: UInt32, _ kind: RunKind) {
    self.start = UInt32(truncatingIfNeeded: start)
    add(count, kind)
  }

  @inline(__always)
  fileprivate mutating func add(_ count: UInt32, _ kind: RunKind) {
    switch kind {
    case .header: headers &+= count
    case .changed: changed &+= count
    case .unchanged: unchanged &+= count
    }
  }

  /// How many pairs there are.
  @inline(__always)
  var count: UInt32 { headers &+ changed &+ unchanged }

  /// Where the run ends in the old sequence.
  @inline(__always)
  var end: UInt32 { start &+ count }

  /// What the run is worth, as three counts side by side in one number.
  @inline(__always)
  func weight<Weight: RunWeight>() -> Weight {
    let width = Weight.countWidth
    return Weight(unchanged) &<< Weight(2 &* width) | Weight(changed) &<< Weight(width)
      | Weight(headers)
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
    if !isEmpty, self[self.count &- 1].end == start {
      self[self.count &- 1].add(count, kind)
    } else {
      append(CountedRun(old: start, count: count, kind))
    }
    return UInt32(truncatingIfNeeded: self.count &- 1)
  }
}

/// A number that holds three counts side by side: of pairs of each kind.
typealias RunWeight = FixedWidthInteger & UnsignedInteger & Sendable

extension FixedWidthInteger {
  /// Bits of each of three counts.
  fileprivate static var countWidth: Int { bitWidth / 3 }

  /// Whether three counts fit that are below `limit`.
  static func holdsCounts(below limit: Int) -> Bool { limit <= 1 << countWidth }
}
