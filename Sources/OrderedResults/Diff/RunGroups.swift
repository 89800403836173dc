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

  mutating func reserveCapacity(_ count: Int) {
    starts.reserveCapacity(count)
    weights.reserveCapacity(count)
  }

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
  /// O(r log n) for r runs and n positions. Runs before and after which all others stand in both
  /// sequences part the work: what is best between two of them is best by itself.
  consuming func heaviestIncreasing(limit: Int) -> [Bool] {
    if isAscending { return Array(repeating: true, count: starts.count) }
    let found = parts()
    var keeps = found.isPart
    var unitRuns = UnitRuns()
    var weightedRuns: WeightedRuns<Weight>?
    for runs in found.parts {
      let weight = runs.reduce(0) { $0 + weights[$1] }
      if let shift = weight.onlyCount, weight >> shift <= 2 * runs.count,
        limit <= UnitRuns.maximumLimit
      {
        unitRuns.choose(runs, starts, weights, shift: shift, into: &keeps)
      } else {
        var ends = weightedRuns.take() ?? WeightedRuns(count: starts.count, limit: limit)
        ends.choose(runs, starts, weights, into: &keeps)
        weightedRuns = consume ends
      }
    }
    return keeps
  }

  /// Parts of the runs, in order, each as small as can be: all runs of a part stand before those of
  /// the next one in the old sequence too.
  ///
  /// O(r), r runs.
  ///
  /// - Returns: for each run whether it is a part by itself, and the parts of several runs.
  private func parts() -> (isPart: [Bool], parts: [Range<Int>]) {
    /// For each run where the first of it and those after it begins.
    var firstStarts = starts
    for run in starts.indices.dropLast().reversed() {
      firstStarts[run] = min(starts[run], firstStarts[run + 1])
    }
    var isPart = [Bool](repeating: false, count: starts.count)
    var parts: [Range<Int>] = []
    var (first, end) = (0, 0)
    for run in starts.indices {
      end = max(end, Int(starts[run]) + weights[run].total)
      if run + 1 < starts.count, firstStarts[run + 1] < end { continue }
      if first == run { isPart[run] = true } else { parts.append(first..<run + 1) }
      first = run + 1
    }
    return (isPart, parts)
  }
}

extension FixedWidthInteger {
  fileprivate func count(_ kind: RunKind) -> Int {
    Int(truncatingIfNeeded: self >> (kind.rawValue * Self.countWidth) & (1 << Self.countWidth - 1))
  }

  /// All three counts together.
  fileprivate var total: Int { count(.header) + count(.changed) + count(.unchanged) }

  /// Where the one count lies that is not 0; nil: several are not.
  fileprivate var onlyCount: Int? {
    for kind in [RunKind.header, .changed, .unchanged] {
      let shift = kind.rawValue * Self.countWidth
      if count(kind) > 0 { return self == Self(count(kind)) << shift ? shift : nil }
    }
    return nil
  }
}
