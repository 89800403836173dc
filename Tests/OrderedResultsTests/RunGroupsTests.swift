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

    let narrow = Self.heaviest(of: runs, RunGroups<UInt64>(), limit: position)
    let wide = Self.heaviest(of: runs, RunGroups<UInt128>(), limit: position)
    #expect(narrow == wide)

    func weight(_ chosen: [Bool]) -> [Int]? {
      var (end, weight) = (0, [0, 0, 0])
      for (run, isChosen) in zip(runs, chosen) where isChosen {
        guard run.old >= end else { return nil }
        end = run.old + run.count
        switch run.kind {
        case .unchanged: weight[0] += run.count
        case .changed: weight[1] += run.count
        case .header: weight[2] += run.count
        }
      }
      return weight
    }
    let best = (0..<1 << count).compactMap { bits in
      weight((0..<count).map { bits >> $0 & 1 == 1 })
    }.max { $0.lexicographicallyPrecedes($1) }
    #expect(weight(wide) == best, "\(runs)")
  }

  private static func heaviest<Weight>(
    of runs: [(old: Int, count: Int, kind: RunKind)], _ groups: RunGroups<Weight>, limit: Int
  ) -> [Bool] {
    var groups = groups
    let numbers = runs.map { Int(groups.add(old: $0.old, count: $0.count, $0.kind)) }
    let keeps = groups.heaviestIncreasing(limit: limit)
    return numbers.map { keeps[$0] }
  }

  @Test func `nothing of a lower kind outweighs one of a higher kind`() {
    #expect(UInt64.holdsCounts(below: 1 << 21) && !UInt64.holdsCounts(below: 1 << 21 + 1))
    #expect(UInt128.holdsCounts(below: 1 << 32))
    Self.checkOneOutweighsMany(RunGroups<UInt64>(), many: 1 << 21 - 1)
    Self.checkOneOutweighsMany(RunGroups<UInt128>(), many: 1 << 32 - 1)
  }

  private static func checkOneOutweighsMany<Weight>(_ groups: RunGroups<Weight>, many: Int) {
    var groups = groups
    let many = groups.add(old: 10, count: many, .changed)
    let one = groups.add(old: 0, count: 1, .unchanged)
    let keeps = groups.heaviestIncreasing(limit: 20)
    #expect(keeps[Int(one)] && !keeps[Int(many)])
  }
}
