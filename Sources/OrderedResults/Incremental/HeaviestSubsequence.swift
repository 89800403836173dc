/// Chooses, from a sequence of different numbers, the increasing subsequence of the greatest weight.
enum HeaviestSubsequence {
  /// The positions of the chosen numbers, ascending.
  ///
  /// O(m log m) for m numbers: a Fenwick tree over the numbers' ranks holds, for each prefix of
  /// them, the heaviest subsequence that ends in it.
  static func positions(of numbers: [Int], weights: [Int]) -> [Int] {
    let ranked = numbers.indices.sorted { numbers[$0] < numbers[$1] }
    var ranks = [Int](repeating: 0, count: numbers.count)
    for (rank, position) in ranked.enumerated() { ranks[position] = rank + 1 }
    // For each node the position at which its heaviest subsequence ends, or -1.
    var ends = [Int](repeating: -1, count: numbers.count + 1)
    var totals = [Int](repeating: 0, count: numbers.count)
    var previous = [Int](repeating: -1, count: numbers.count)
    func total(_ end: Int) -> Int { end < 0 ? 0 : totals[end] }

    var best = -1
    for position in numbers.indices {
      var node = ranks[position] - 1
      while node > 0 {
        if total(ends[node]) > total(previous[position]) { previous[position] = ends[node] }
        node &= node - 1
      }
      totals[position] = total(previous[position]) + weights[position]
      if totals[position] > total(best) { best = position }
      node = ranks[position]
      while node <= numbers.count {
        if totals[position] > total(ends[node]) { ends[node] = position }
        node += node & -node
      }
    }
    var chosen: [Int] = []
    while best >= 0 {
      chosen.append(best)
      best = previous[best]
    }
    return chosen.reversed()
  }
}
