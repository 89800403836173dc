/// The records of one result that pairs leave over, as ranges of offsets, ascending.
///
/// They are found as they are asked for: after many small changes there are as many as pairs, and
/// they are walked through a few times at most. A walk is O(r), r runs of pairs.
struct Gaps: OffsetRangeSequence {
  enum Side {
    case old, new
  }

  private let pairs: [PairRun]
  private let side: Side
  private let count: Int

  /// What `pairs`, ascending on that side and apart from each other, leave of `count` records.
  init(between pairs: [PairRun], _ side: Side, count: Int) {
    (self.pairs, self.side, self.count) = (pairs, side, count)
  }

  /// Whether there is none; O(r).
  var isEmpty: Bool { totalCount == 0 }

  var totalCount: Int { pairs.reduce(count) { $0 - Int($1.count) } }

  func makeIterator() -> Iterator { Iterator(gaps: self) }

  struct Iterator: IteratorProtocol {
    fileprivate let gaps: Gaps
    private var index = 0
    private var end = 0

    fileprivate init(gaps: Gaps) { self.gaps = gaps }

    @inline(__always)
    mutating func next() -> Range<Int>? {
      while index < gaps.pairs.count {
        let pair = gaps.pairs[index]
        index &+= 1
        let (start, nextStart) = (end, Int(gaps.side == .old ? pair.old : pair.new))
        end = nextStart &+ Int(pair.count)
        if start < nextStart { return start..<nextStart }
      }
      defer { end = gaps.count }
      return end < gaps.count ? end..<gaps.count : nil
    }
  }
}
