/// The records of one result that pairs leave over, as ranges of offsets, ascending.
///
/// They are found as they are asked for: after many small changes there are as many as pairs, and
/// they are walked through a few times at most. A walk is O(r), r runs of pairs.
struct Gaps: Sequence {
  enum Side {
    case old, new
  }

  private let pairs: [PairRun]
  private let side: Side
  private let count: Int

  /// What `pairs`, ascending on that side, leave of `count` records.
  init(between pairs: [PairRun], _ side: Side, count: Int) {
    (self.pairs, self.side, self.count) = (pairs, side, count)
  }

  var isEmpty: Bool { first { _ in true } == nil }

  func makeIterator() -> Iterator { Iterator(gaps: self) }

  struct Iterator: IteratorProtocol {
    fileprivate let gaps: Gaps
    private var index = 0
    private var end = 0

    fileprivate init(gaps: Gaps) { self.gaps = gaps }

    mutating func next() -> Range<Int>? {
      while index < gaps.pairs.count {
        let pair = gaps.pairs[index]
        let range = gaps.side == .old ? pair.oldRange : pair.newRange
        defer { end = range.upperBound }
        index += 1
        if end < range.lowerBound { return end..<range.lowerBound }
      }
      defer { end = gaps.count }
      return end < gaps.count ? end..<gaps.count : nil
    }
  }
}
