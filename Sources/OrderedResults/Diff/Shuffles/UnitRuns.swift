/// Chooses the heaviest runs that ascend, where all pairs are of one kind: then the choice with the
/// most pairs is the heaviest.
///
/// For each length the smallest old position is kept at which so many ascending pairs end; a pair
/// goes on from the last of these that is smaller. In a random order of n pairs they are 2√n, which
/// stay in the cache.
///
/// `Benchmarks diff` without it, when ``WeightedRuns`` chooses: a shuffle and a reversal take 1.4 times
/// as long, all else the same.
struct UnitRuns {
  /// For each length, from 1, the position of the last pair; then `.max`, to the end of a group.
  private var tails: ContiguousArray<Int32> = []
  /// For each length the run of that pair.
  private var tailRuns: ContiguousArray<UInt32> = []
  /// How many lengths there are.
  private var longest = 0
  /// For each run the run before it in the longest choice that ends with it.
  private var previous: [UInt32] = []
  private var searches = ContiguousArray(
    repeating: Search(position: 0), count: searchCount)

  /// Tails that are compared at once.
  private typealias Group = SIMD16<Int32>
  /// How many runs are taken before it is seen to it again that there is room for their tails.
  private static let batchCount = 256
  // Enough searches for a processor to do one's step while others wait for what they read; with
  // more, runs would more often change what was found for those behind them.
  private static let searchCount = 8

  /// Whether all runs of a part are of one kind, and short; positions are below `limit`.
  static func canChoose(_ part: Range<Int>, _ runs: [CountedRun], limit: Int) -> Bool {
    guard limit <= Int(Int32.max) else { return false }
    let kind = runs[part.lowerBound].kind
    var (total, others) = (0, UInt32(0))
    for run in runs[part] {
      total &+= Int(run.count)
      others |= run.kind ^ kind
    }
    return others == 0 && total <= 2 * part.count
  }

  /// A search for the number of tails below a position.
  private struct Search {
    let position: Int32
    var count: Int32 = 0
  }

  /// Marks the longest choice among the runs of a part.
  ///
  /// O(r log l + p) for r runs of p pairs together, l pairs in the longest choice.
  mutating func choose(_ part: Range<Int>, _ runs: [CountedRun], into keeps: inout [Bool]) {
    tails.removeAll(keepingCapacity: true)
    tailRuns.removeAll(keepingCapacity: true)
    longest = 0
    // Its memory is used again; here alone for as long as it is filled beside the others.
    var previous: [UInt32] = []
    swap(&previous, &self.previous)
    previous.removeAll(keepingCapacity: true)
    previous.append(addingCapacity: part.count) { previous in
      for first in stride(from: part.lowerBound, to: part.upperBound, by: Self.batchCount) {
        let batch = first..<min(first + Self.batchCount, part.upperBound)
        makeRoom(for: batch.reduce(0) { $0 + Int(runs[$1].count) })
        Self.add(batch, of: runs, &tails, &tailRuns, &longest, &searches, &previous)
      }
    }
    var next = tailRuns[longest - 1]
    while next != .max {
      keeps[Int(next)] = true
      next = previous[Int(next) - part.lowerBound]
    }
    swap(&previous, &self.previous)
  }

  /// Makes the arrays long enough for `count` more lengths.
  private mutating func makeRoom(for count: Int) {
    let missing = longest + count + 1 - tails.count
    guard missing > 0 else { return }
    let added = (missing / Group.scalarCount + 1) * Group.scalarCount
    tails.append(contentsOf: repeatElement(.max, count: added))
    tailRuns.append(contentsOf: repeatElement(.max, count: added))
  }

  /// Adds runs, for whose pairs there is room.
  ///
  /// Some are searched for side by side; one after the other, each search would wait for what the
  /// last one wrote.
  // The properties one by one, for only so can there be spans of several.
  private static func add(
    _ batch: Range<Int>, of runs: [CountedRun], _ tails: inout ContiguousArray<Int32>,
    _ tailRuns: inout ContiguousArray<UInt32>, _ longest: inout Int,
    _ searches: inout ContiguousArray<Search>, _ previous: inout OutputSpan<UInt32>
  ) {
    var tails = tails.mutableSpan
    var tailRuns = tailRuns.mutableSpan
    var searches = searches.mutableSpan
    for first in stride(from: batch.lowerBound, to: batch.upperBound, by: searchCount) {
      let some = first..<min(first + searchCount, batch.upperBound)
      for item in 0..<searchCount {
        let start = item < some.count ? runs[first &+ item].start : 0
        searches[item] = Search(position: Int32(truncatingIfNeeded: start))
      }
      search(&searches, tails.span, longest)
      for run in some {
        let start = searches[run &- first].position
        var length = Int(searches[run &- first].count)
        // Those before it made tails smaller, and more: by one for each pair at most.
        while tails[length] < start { length &+= 1 }
        previous.append(length == 0 ? .max : tailRuns[length &- 1])
        // Nothing stands between the pairs of a run, so that each goes on from the one before.
        var pair: Int32 = 0
        repeat {
          tails[length] = start &+ pair
          tailRuns[length] = UInt32(truncatingIfNeeded: run)
          length &+= 1
          pair &+= 1
        } while pair < runs[run].count
        longest = max(longest, length)
      }
    }
  }

  /// Finds for each search how many of the tails are smaller.
  ///
  /// No jump depends on what is found: first the group is searched for where the smaller ones end,
  /// then all tails of the group are compared at once.
  // Unchecked, these are in bounds: groups begin before `longest`, and the tails go on to the end
  // of the last one.
  @inline(__always)
  private static func search(
    _ searches: inout MutableSpan<Search>, _ tails: Span<Int32>, _ longest: Int
  ) {
    let size = Int32(Group.scalarCount)
    var groups = (Int32(truncatingIfNeeded: longest) &+ size &- 1) / size
    guard groups > 0 else { return }
    while groups > 1 {
      let half = groups / 2
      for item in 0..<searchCount {
        let search = searches[unchecked: item]
        let tail = tails[unchecked: Int((search.count &+ half) &* size)]
        // All ones if the tail is smaller: the sign of the difference.
        searches[unchecked: item].count &+= half & ((tail &- search.position) >> 31)
      }
      groups &-= half
    }
    for item in 0..<searchCount {
      let search = searches[unchecked: item]
      let start = search.count &* size
      let group = tails.bytes.unsafeLoadUnaligned(
        fromByteOffset: Int(start) &* MemoryLayout<Int32>.stride, as: Group.self)
      let smaller = Group.zero.replacing(
        with: 1, where: group .< Group(repeating: search.position))
      searches[unchecked: item].count = start &+ smaller.wrappedSum()
    }
  }
}
