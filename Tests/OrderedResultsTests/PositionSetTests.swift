import SeededRandom
import Testing

@testable import OrderedResults

@Suite struct PositionSetTests {
  @Test(arguments: [0, 1, 2, 63, 64, 65, 128, 4095, 4096, 4097, 5000])
  func `a position set finds the same neighbours as a sorted array`(limit: Int) {
    var random = SeededGenerator(seed: UInt64(limit))
    var set = PositionSet(limit: limit)
    var reference: Set<Int> = []
    for _ in 0..<2 * min(limit, 500) {
      let number = Int.random(in: 0..<limit, using: &random)
      if random.chance(60) {
        set.insert(number)
        reference.insert(number)
      } else {
        set.remove(number)
        reference.remove(number)
      }
      let probe = Int.random(in: 0...limit, using: &random)
      #expect(set.last(before: probe) == reference.filter { $0 < probe }.max())
      #expect(set.first(after: probe) == reference.filter { $0 > probe }.min())
    }
    #expect(set.last(before: limit) == reference.max())
    #expect(set.first(after: 0) == reference.filter { $0 > 0 }.min())
  }
}
