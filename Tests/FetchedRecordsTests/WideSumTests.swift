import SeededRandom
import Testing

@testable import FetchedRecords

struct `A wide sum` {
  @Test func `is what 128 bits would hold, where it fits`() {
    var random = SeededGenerator(seed: 18)
    let extremes: [Int64] = [
      .min, .min + 1, -1, 0, 1, .max - 1, .max, 1 << 32, -(1 << 32), 1 << 31,
    ]
    var (sum, expected) = (WideSum(), Int128(0))
    var (fitting, others) = (0, 0)
    for _ in 0..<20_000 {
      let value =
        Bool.random(using: &random)
        ? extremes.randomElement(using: &random)! : Int64.random(in: .min ... .max, using: &random)
      // Now and then away from 0, so that it fits and does not.
      let isTowardsZero =
        (expected > 0) == (value < 0) || Int.random(in: 0..<4, using: &random) == 0
      let sign = isTowardsZero ? 1 : -1
      sum.add(value.magnitude, value < 0 ? -sign : sign)
      expected += Int128(sign) * Int128(value)
      #expect(sum.value == Int64(exactly: expected), "\(expected)")
      if sum.value == nil { others += 1 } else { fitting += 1 }
    }
    #expect(fitting > 1000 && others > 1000)
  }

  @Test func `does not depend on the order of what made it`() {
    var (one, other) = (WideSum(), WideSum())
    for value in [UInt64.max, 1, 1 << 32] { one.add(value, 1) }
    for value in [1 << 32, 1, UInt64.max, 7] { other.add(value, 1) }
    #expect(one != other)
    other.add(7, -1)
    #expect(one == other)
  }
}
