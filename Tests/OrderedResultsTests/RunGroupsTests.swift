import SeededRandom
import Testing

@testable import OrderedResults

@Suite struct RunGroupsTests {
  @Test(arguments: 0..<400)
  func `the heaviest runs that ascend are those found by trying all`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 0...9, using: &random)
    // Old runs with gaps between them, met in any order.
    var runs: [(old: Int, count: Int, kind: RunKind)] = []
    var position = Int.random(in: 0...3, using: &random)
    for _ in 0..<count {
      let length = Int.random(in: 1...3, using: &random)
      let kind: RunKind =
        [.header, .changed, .unchanged].randomElement(using: &random) ?? .header
      runs.append((position, length, kind))
      position += length + Int.random(in: 0...60, using: &random)
    }
    runs.shuffle(using: &random)

    let narrow = Self.heaviest(of: runs, UInt64.self, limit: position)
    let wide = Self.heaviest(of: runs, WideWeight.self, limit: position)
    #expect(narrow == wide)

    let best = (0..<1 << count).compactMap { bits in
      Self.weight(of: runs, (0..<count).map { bits >> $0 & 1 == 1 })
    }.max { $0.lexicographicallyPrecedes($1) }
    #expect(Self.weight(of: runs, wide) == best, "\(runs)")
  }

  @Test(arguments: 0..<60)
  func `the heaviest of many runs are those found by comparing each with all`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // One kind in most parts, and runs of one pair, as after a shuffle; else anything.
    let kinds: [RunKind] =
      [[.unchanged], [.changed], [.unchanged, .changed], [.header, .unchanged]][Int(seed) % 4]
    let longest = [1, 1, 2, 20].randomElement(using: &random) ?? 1
    var runs: [(old: Int, count: Int, kind: RunKind)] = []
    var position = 0
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      var part: [(old: Int, count: Int, kind: RunKind)] = []
      for _ in 0..<Int.random(in: 1...80, using: &random) {
        position += Int.random(in: 1...3, using: &random)
        let length = Int.random(in: 1...longest, using: &random)
        part.append((position, length, kinds.randomElement(using: &random) ?? .header))
        position += length
      }
      if random.chance(80) { part.shuffle(using: &random) }
      runs += part
    }
    let narrow = Self.heaviest(of: runs, UInt64.self, limit: position)
    let wide = Self.heaviest(of: runs, WideWeight.self, limit: position)
    #expect(Self.weight(of: runs, narrow) == Self.heaviestWeight(of: runs), "\(runs)")
    #expect(Self.weight(of: runs, wide) == Self.heaviestWeight(of: runs), "\(runs)")
  }

  @Test(arguments: 0..<8)
  func `the longest choice among very many runs is found`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // Of one kind and mostly of one pair, but for one that is longer than a batch of runs.
    var runs: [(old: Int, count: Int, kind: RunKind)] = []
    var position = 0
    for number in 0..<700 {
      position += Int.random(in: 1...3, using: &random)
      let count = number == 350 ? 300 : Int.random(in: 1...20, using: &random) == 1 ? 2 : 1
      runs.append((position, count, .unchanged))
      position += count
    }
    if seed > 0 { runs.shuffle(using: &random) } else { runs.reverse() }
    // A little order, so that some choices are long.
    if seed > 4 { runs[100..<500].sort { $0.old < $1.old } }
    let chosen = Self.heaviest(of: runs, UInt64.self, limit: position)
    #expect(Self.weight(of: runs, chosen) == Self.heaviestWeight(of: runs))
  }

  /// Counts of unchanged pairs, changed ones and headers; nil if the chosen runs do not ascend.
  private static func weight(
    of runs: [(old: Int, count: Int, kind: RunKind)], _ chosen: [Bool]
  ) -> [Int]? {
    var (end, weight) = (0, [0, 0, 0])
    for (run, isChosen) in zip(runs, chosen) where isChosen {
      guard run.old >= end else { return nil }
      end = run.old + run.count
      weight[2 - Int(run.kind.rawValue)] += run.count
    }
    return weight
  }

  private static func heaviestWeight(of runs: [(old: Int, count: Int, kind: RunKind)]) -> [Int] {
    var best: [[Int]] = []
    for (index, run) in runs.enumerated() {
      var before = [0, 0, 0]
      for earlier in 0..<index where runs[earlier].old < run.old {
        before = before.lexicographicallyPrecedes(best[earlier]) ? best[earlier] : before
      }
      before[2 - Int(run.kind.rawValue)] += run.count
      best.append(before)
    }
    return best.max { $0.lexicographicallyPrecedes($1) } ?? [0, 0, 0]
  }

  private static func heaviest<Weight: RunWeight>(
    of runs: [(old: Int, count: Int, kind: RunKind)], _ weight: Weight.Type, limit: Int
  ) -> [Bool] {
    var numbers: [Int] = []
    let groups = RunGroups(capacity: runs.count) { groups in
      for run in runs {
        numbers.append(Int(groups.add(old: run.old, count: UInt32(run.count), run.kind)))
      }
    }
    let keeps = groups.heaviestIncreasing(limit: limit, weight)
    return numbers.map { keeps[$0] }
  }

  @Test func `nothing of a lower kind outweighs one of a higher kind`() {
    #expect(UInt64.holdsCounts(below: 1 << 21) && !UInt64.holdsCounts(below: 1 << 21 + 1))
    #expect(WideWeight.holdsCounts(below: 1 << 32))
    Self.checkOneOutweighsMany(UInt64.self, many: 1 << 21 - 1)
    Self.checkOneOutweighsMany(WideWeight.self, many: CountedRun.maximumCount - 1)
  }

  private static func checkOneOutweighsMany<Weight: RunWeight>(
    _ weight: Weight.Type, many: Int
  ) {
    let runs: [(old: Int, count: Int, kind: RunKind)] = [
      (1, many, .changed), (0, 1, .unchanged),
    ]
    #expect(heaviest(of: runs, weight, limit: 20) == [false, true])
  }
}
