/// Chooses the heaviest runs that ascend.
///
/// The best choices so far that end in different runs are kept in a set by old position, in which
/// weights ascend too: a run goes on from its predecessor there, and drives out the successors that
/// it outweighs. Each run enters and leaves once: O(r log n) for r runs and n positions, with 64 as
/// the logarithm's base.
struct WeightedRuns<Weight: RunWeight> {
  private var ends: PositionSet
  /// The run that begins at an old position; only positions in `ends` are looked up.
  private var runAt: [UInt32]
  /// For each run the weight of the best choice that ends with it.
  private var best: [Weight]
  /// For each run the run before it in that choice.
  private var previous: [UInt32]

  /// For runs that begin at positions below `limit`.
  init(count: Int, limit: Int) {
    ends = PositionSet(limit: limit)
    runAt = [UInt32](repeating: 0, count: limit)
    best = [Weight](repeating: .zero, count: count)
    previous = [UInt32](repeating: .max, count: count)
  }

  /// Marks the heaviest choice among the runs of a part, all of which stand behind those of earlier
  /// calls in both sequences.
  ///
  /// So they may go on from a choice of an earlier call, which makes all of theirs heavier alike.
  mutating func choose(_ part: Range<Int>, _ runs: [CountedRun], into keeps: inout [Bool]) {
    var last = 0
    for run in part {
      let start = Int(runs[run].start)
      last = max(last, start)
      best[run] = runs[run].weight()
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
    var next = ends.last(before: last + 1).map { runAt[$0] } ?? .max
    while next != .max, part.lowerBound <= next {
      keeps[Int(next)] = true
      next = previous[Int(next)]
    }
  }
}
