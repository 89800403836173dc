import Foundation
import SeededRandom

/// Choices that come again with the same seed.
package struct RandomSource: RandomNumberGenerator {
  private var generator: SeededGenerator

  package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// From the environment, for replays.
  package static let seed =
    number("DIDCHANGE_SEED").map(UInt64.init) ?? .random(in: 1...0xffff_ffff)

  package static func number(_ variable: String) -> Int? {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
  }

  package mutating func next() -> UInt64 { generator.next() }

  /// True once in `n` times.
  package mutating func once(in n: Int) -> Bool { Int.random(in: 0..<n, using: &self) == 0 }

  package mutating func pick<T>(_ choices: [T]) -> T {
    choices[Int.random(in: choices.indices, using: &self)]
  }

  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }
}
