import TestSupport
import Testing

@testable import FetchedRecords

@Suite struct `A table of numbers` {
  @Test func `holds what a dictionary holds`() {
    print("number map: DIDCHANGE_SEED=\(RandomSource.seed)")
    var random = RandomSource(seed: RandomSource.seed)
    for (range, shift) in [(4, 0), (4, 40), (40, 28), (4000, 0), (4000, 40)] {
      var map = NumberMap()
      var dictionary: [Int64: Int64] = [:]
      let special: [Int64] = [.min, .max, 0, -1, Int64(Int32.min), Int64(Int32.max) + 1]
      for step in 0..<20_000 {
        let key =
          random.once(in: shift == 0 ? 1000 : 10)
          ? random.pick(special) : Int64(random.number(-range...range)) << shift
        // As many come as go, and at last all go.
        if step < 15_000, random.once(in: 2) {
          map[key] = Int64(step)
          dictionary[key] = Int64(step)
        } else {
          map[key] = nil
          dictionary[key] = nil
        }
        #expect(map[key] == dictionary[key])
        if step % 6000 == 5999 { map.trim() }
      }
      #expect(map.count == dictionary.count)
      for (key, value) in dictionary { #expect(map[key] == value) }
      var all: [Int64: Int64] = [:]
      map.forEach { all[$0] = $1 }
      #expect(all == dictionary)
    }
  }

  /// Of these counts some fill what doubling made, and some leave half of it free.
  @Test(arguments: [60_000, 74_000, 100_000, 109_000, 110_000] as [Int64])
  func `takes at most 12 bytes an entry, and 24 of large numbers`(count: Int64) {
    var map = NumberMap()
    for key in 0..<count { map[key * 3] = key }
    map.trim()
    #expect(map.size <= 13 * map.count)
    var wide = NumberMap()
    for key in 0..<count { wide[key << 40] = key << 33 }
    wide.trim()
    #expect(wide.size <= 25 * wide.count)
    #expect((0..<count).allSatisfy { wide[$0 << 40] == $0 << 33 })
    #expect((0..<count).allSatisfy { map[$0 * 3] == $0 })
    #expect(map[1] == nil)
  }
}
