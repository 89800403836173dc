/// Runs of pairs in two sequences, ascending in the new sequence.
struct RunGroups {
  let runs: [CountedRun]

  /// Runs that `body` adds, at most `capacity`.
  init(
    capacity: Int = 0, initializingWith body: (inout OutputSpan<CountedRun>) -> Void = { _ in }
  ) {
    runs = [CountedRun](capacity: capacity, initializingWith: body)
  }

  /// For each run whether it is part of the heaviest choice of runs that ascend in both sequences;
  /// old positions are below `limit`.
  ///
  /// O(r log n) for r runs and n positions.
  func heaviestIncreasing(limit: Int) -> [Bool] {
    precondition(limit < CountedRun.maximumCount, "\(limit) records and sections")
    // What is worked through is half as large for the results that there mostly are.
    if UInt64.holdsCounts(below: limit + 1) {
      return heaviestIncreasing(limit: limit, UInt64.self)
    } else {
      return heaviestIncreasing(limit: limit, WideWeight.self)
    }
  }

  /// The same with weights that hold the counts of all pairs.
  ///
  /// Runs before and after which all others stand in both sequences part the work: what is best
  /// between two of them is best by itself.
  func heaviestIncreasing<Weight: RunWeight>(limit: Int, _: Weight.Type) -> [Bool] {
    if isAscending { return Array(repeating: true, count: runs.count) }
    let found = parts()
    var keeps = found.isPart
    var unitRuns = UnitRuns()
    var weightedRuns: WeightedRuns<Weight>?
    for part in found.parts {
      if part.count == 2 {
        // Only one of them can stay: the second, as with more, if they weigh the same.
        let (first, second): (Weight, Weight) = (
          runs[part.lowerBound].weight(), runs[part.lowerBound + 1].weight()
        )
        keeps[second >= first ? part.lowerBound + 1 : part.lowerBound] = true
      } else if UnitRuns.canChoose(part, runs, limit: limit) {
        unitRuns.choose(part, runs, into: &keeps)
      } else {
        var ends = weightedRuns.take() ?? WeightedRuns(count: runs.count, limit: limit)
        ends.choose(part, runs, into: &keeps)
        weightedRuns = consume ends
      }
    }
    return keeps
  }

  private var isAscending: Bool {
    var end: UInt32 = 0
    for run in runs {
      if run.start < end { return false }
      end = run.end
    }
    return true
  }

  /// Parts of the runs, in order, each as small as can be: all runs of a part stand before those of
  /// the next one in the old sequence too.
  ///
  /// O(r), r runs.
  ///
  /// - Returns: for each run whether it is a part by itself, and the parts of several runs.
  private func parts() -> (isPart: [Bool], parts: [Range<Int>]) {
    let followingStarts = followingStarts
    var isPart = [Bool](repeating: false, count: runs.count)
    var parts: [Range<Int>] = []
    var (first, end) = (0, UInt32(0))
    for run in runs.indices {
      end = max(end, runs[run].end)
      if followingStarts[run] < end { continue }
      if first == run { isPart[run] = true } else { parts.append(first..<run + 1) }
      first = run + 1
    }
    return (isPart, parts)
  }

  /// For each run where the first of those after it begins.
  private var followingStarts: ContiguousArray<UInt32> {
    var starts = ContiguousArray<UInt32>(repeating: .max, count: runs.count)
    var span = starts.mutableSpan
    var first = UInt32.max
    for run in runs.indices.reversed() {
      span[run] = first
      first = min(first, runs[run].start)
    }
    return starts
  }
}
