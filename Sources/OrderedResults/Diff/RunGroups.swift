/// A number that holds three counts side by side: of pairs of each kind.
typealias RunWeight = FixedWidthInteger & UnsignedInteger & Sendable

extension FixedWidthInteger {
  /// Bits of each of three counts.
  fileprivate static var countWidth: Int { bitWidth / 3 }

  /// Whether three counts fit that are below `limit`.
  static func holdsCounts(below limit: Int) -> Bool { limit <= 1 << countWidth }
}

/// What a pair is worth: nothing of a lower kind outweighs one of a higher kind.
enum RunKind: Int {
  case header, changed, unchanged

  /// One pair's weight.
  fileprivate func weight<Weight: RunWeight>() -> Weight { 1 << (rawValue * Weight.countWidth) }
}

/// Runs of pairs in two sequences, with their weights, ascending in the new sequence.
struct RunGroups<Weight: RunWeight> {
  private var starts: [UInt32] = []
  private var weights: [Weight] = []
  /// Where the last run ends in the old sequence.
  private var end = 0
  private var isAscending = true

  /// Adds pairs after all others in the new sequence; O(1), amortized.
  ///
  /// They belong to the last run if they follow it in the old sequence: what may lie between in
  /// the new one has no pair. Nothing can come between pairs of a run, so they stay or go together.
  ///
  /// - Returns: the number of the run that holds them.
  mutating func add(old: Int, count: Int, _ kind: RunKind) -> UInt32 {
    let weight = kind.weight() * Weight(count)
    if end == old, !starts.isEmpty {
      weights[weights.count - 1] += weight
    } else {
      isAscending = isAscending && old >= end
      starts.append(UInt32(old))
      weights.append(weight)
    }
    end = old + count
    return UInt32(starts.count - 1)
  }

  /// For each run whether it is part of the heaviest choice of runs that ascend in both sequences;
  /// old positions are below `limit`.
  ///
  /// The best choices so far that end in different runs are kept in a set by old position, in which
  /// weights ascend too: a run goes on from its predecessor there, and drives out the successors
  /// that it outweighs. Each run enters and leaves once: O(r log n) for r runs and n positions, with
  /// 64 as the logarithm's base.
  consuming func heaviestIncreasing(limit: Int) -> [Bool] {
    if isAscending { return Array(repeating: true, count: starts.count) }
    var ends = PositionSet(limit: limit)
    /// The run that begins at an old position; only positions in `ends` are looked up.
    var runAt = [UInt32](repeating: 0, count: limit)
    /// For each run the weight of the best choice that ends with it, and the run before it there.
    var best = weights
    var previous = [UInt32](repeating: .max, count: starts.count)
    for run in starts.indices {
      let start = Int(starts[run])
      if let position = ends.last(before: start) {
        previous[run] = runAt[position]
        best[run] += best[Int(runAt[position])]
      }
      while let position = ends.first(after: start), best[Int(runAt[position])] <= best[run] {
        ends.remove(position)
      }
      ends.insert(start)
      runAt[start] = UInt32(run)
    }
    var keeps = [Bool](repeating: false, count: starts.count)
    var next = ends.last(before: limit).map { runAt[$0] } ?? .max
    while next != .max {
      keeps[Int(next)] = true
      next = previous[Int(next)]
    }
    return keeps
  }
}
