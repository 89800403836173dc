import SeededRandom
import Testing

@testable import OrderedResults

@Suite struct RunGroupsTests {
  @Test(arguments: 0..<400)
  func `the heaviest runs that ascend are those found by trying all`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 0...9, using: &random)
    // Old runs with gaps between them, met in any order.
    var runs: [(old: Int, count: Int, kind: RunGroups.Kind)] = []
    var position = Int.random(in: 0...3, using: &random)
    for _ in 0..<count {
      let length = Int.random(in: 1...3, using: &random)
      let kind: RunGroups.Kind =
        [.header, .changed, .unchanged].randomElement(using: &random) ?? .header
      runs.append((position, length, kind))
      position += length + Int.random(in: 0...60, using: &random)
    }
    runs.shuffle(using: &random)

    var groups = RunGroups()
    let numbers = runs.map { Int(groups.add(old: $0.old, count: $0.count, $0.kind)) }
    let keeps = groups.heaviestIncreasing(limit: position)

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
    #expect(weight(numbers.map { keeps[$0] }) == best, "\(runs)")
  }

  @Test func `nothing of a lower kind outweighs one of a higher kind`() {
    var groups = RunGroups()
    let many = groups.add(old: 10, count: 1 << 31, .changed)
    let one = groups.add(old: 0, count: 1, .unchanged)
    let keeps = groups.heaviestIncreasing(limit: 20)
    #expect(keeps[Int(one)] && !keeps[Int(many)])
  }
}
