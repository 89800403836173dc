import SeededRandom
import Testing

@testable import OrderedResults

@Suite struct PlaceSetTests {
  @Test(arguments: [1, 2, 63, 64, 65, 128, 1000])
  func `a place set holds what was inserted and nothing else`(count: Int) {
    var random = SeededGenerator(seed: UInt64(count))
    var set = PlaceSet(count: count)
    var reference: Set<Int> = []
    for _ in 0..<count {
      let place = Int.random(in: 0..<count, using: &random)
      #expect(set.insert(place) == reference.insert(place).inserted)
    }
    for place in 0..<count + 200 {
      #expect(set.contains(UInt64(place)) == reference.contains(place))
    }
    for place in [UInt64.max, 1 << 63, 1 << 62, 1 << 58] { #expect(!set.contains(place)) }
  }
}
