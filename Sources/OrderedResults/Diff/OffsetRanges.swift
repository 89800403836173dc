/// Ranges of offsets in a result, ascending, with a gap between any two.
///
/// 8 bytes a range, with the limit of ``PairRun``: after many small changes there are as many as
/// records that changed.
struct OffsetRanges: OffsetRangeSequence {
  private var ranges: [Range<UInt32>] = []

  init() {}

  init(_ ranges: some Sequence<Range<Int>>) {
    self.ranges = ranges.map { UInt32($0.lowerBound)..<UInt32($0.upperBound) }
  }

  var isEmpty: Bool { ranges.isEmpty }

  var totalCount: Int { reduce(0) { $0 + $1.count } }

  func makeIterator() -> some IteratorProtocol<Range<Int>> {
    ranges.lazy.map { Int($0.lowerBound)..<Int($0.upperBound) }.makeIterator()
  }

  /// From the last to the first.
  func reversed() -> some Sequence<Range<Int>> {
    ranges.lazy.reversed().map { Int($0.lowerBound)..<Int($0.upperBound) }
  }

  /// Adds an offset beyond all others.
  ///
  /// O(1), amortized.
  mutating func add(_ offset: UInt32) {
    if let last = ranges.last, last.upperBound == offset {
      ranges[ranges.count - 1] = last.lowerBound..<offset + 1
    } else {
      ranges.append(offset..<offset + 1)
    }
  }
}

/// Ranges of offsets, ascending, none of them empty.
protocol OffsetRangeSequence: Sequence<Range<Int>> {
  /// How many offsets all ranges have; O(r), r ranges.
  var totalCount: Int { get }
}
