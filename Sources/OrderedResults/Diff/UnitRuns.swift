/// Chooses the heaviest runs that ascend, where all pairs are of one kind: then the choice with the
/// most pairs is the heaviest.
///
/// For each length the smallest old position is kept at which so many ascending pairs end; a pair
/// goes on from the last of these that is smaller. In a random order of n pairs they are 2√n, which
/// stay in the cache.
struct UnitRuns {
  /// For each length, from 1: the position of the last pair above the number of its run.
  private var tails: [Int64] = []
  /// For each run the run before it in the longest choice that ends with it.
  private var previous: [UInt32] = []
  /// For each run of a batch, how many tails were smaller before the batch was added.
  private var lengths = [Int](repeating: 0, count: batchCount)

  // Enough searches for a processor to do one's step while others wait for what they read; with
  // more, the runs of a batch would more often change what those behind them had found.
  private static let batchCount = 8
  /// Positions must be below this, so that they and the numbers of runs have a sign above them.
  static let maximumLimit = 1 << 31

  /// Marks the longest choice among `runs`, the weights of which count pairs from bit `shift` on.
  ///
  /// O(r log l + p) for r runs of p pairs together, l pairs in the longest choice.
  mutating func choose<Weight: RunWeight>(
    _ runs: Range<Int>, _ starts: [UInt32], _ weights: [Weight], shift: Int,
    into keeps: inout [Bool]
  ) {
    tails.removeAll(keepingCapacity: true)
    previous.removeAll(keepingCapacity: true)
    previous.reserveCapacity(runs.count)
    for first in stride(from: runs.lowerBound, to: runs.upperBound, by: Self.batchCount) {
      let batch = first..<min(first + Self.batchCount, runs.upperBound)
      Self.search(batch, starts, tails, &lengths)
      for run in batch {
        let length = length(before: Int64(starts[run]) << 32, notBelow: lengths[run - first])
        previous.append(length == 0 ? .max : UInt32(truncatingIfNeeded: tails[length - 1]))
        add(run, Int(starts[run]), count: Int(weights[run] >> shift), after: length)
      }
    }
    var next = tails.last.map { UInt32(truncatingIfNeeded: $0) } ?? .max
    while next != .max {
      keeps[Int(next)] = true
      next = previous[Int(next) - runs.lowerBound]
    }
  }

  /// Adds a run's pairs. Nothing stands between them, so that each goes on from the one before.
  @inline(__always)
  private mutating func add(_ run: Int, _ start: Int, count: Int, after length: Int) {
    let first = Int64(start) << 32 | Int64(run)
    for item in 0..<count {
      let tail = first + Int64(item) << 32
      if length + item < tails.count { tails[length + item] = tail } else { tails.append(tail) }
    }
  }

  /// Finds for each run of a batch how many tails are smaller.
  ///
  /// The searches go side by side, and no jump depends on what they find: a processor does several
  /// steps at once. One run after the other, each search would wait for what the last one wrote.
  @inline(__always)
  private static func search(
    _ batch: Range<Int>, _ starts: [UInt32], _ tails: [Int64], _ lengths: inout [Int]
  ) {
    let (tails, starts) = (tails.span, starts.span)
    var lengths = lengths.mutableSpan
    for item in 0..<batch.count { lengths[item] = 0 }
    var count = tails.count
    // Unchecked, these are in bounds: `low + count` is at most `tails.count` throughout, and `half`
    // at least 1 and at most `count`; a batch has at most as many runs as there are lengths.
    while count > 0 {
      let half = (count + 1) / 2
      for item in 0..<batch.count {
        let low = lengths[unchecked: item]
        let position = Int64(starts[unchecked: batch.lowerBound &+ item]) << 32
        // All ones if the tail is smaller: the sign of the difference.
        let isSmaller = Int((tails[unchecked: low &+ half &- 1] &- position) >> 63)
        lengths[unchecked: item] = low &+ half & isSmaller
      }
      count &-= half
    }
  }

  /// How many tails are smaller than `position`, which are at least `least`: the runs of the same
  /// batch before it made tails smaller, and more.
  @inline(__always)
  private func length(before position: Int64, notBelow least: Int) -> Int {
    if least == tails.count || tails[least] >= position { return least }
    return search(position, from: least + 1)
  }

  @inline(never)
  private func search(_ position: Int64, from least: Int) -> Int {
    var (low, high) = (least, tails.count)
    while low < high {
      let middle = (low + high) / 2
      if tails[middle] < position { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
