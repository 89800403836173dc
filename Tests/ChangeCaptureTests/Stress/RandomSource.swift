import Foundation

/// SplitMix64: the same seed gives the same choices on every machine.
struct RandomSource: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// From the environment, for replays.
  static let seed = number("DIDCHANGE_SEED").map(UInt64.init) ?? .random(in: 1...0xffff_ffff)

  /// Another one for each layout, but always the same one.
  static func seed(_ layout: StressRun.Layout) -> UInt64 {
    var random = RandomSource(seed: seed)
    for _ in 0...(layout.pageSize / 512 + layout.autoVacuum) { _ = random.next() }
    return random.next()
  }

  static func number(_ variable: String) -> Int? {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// True once in `n` times.
  mutating func once(in n: Int) -> Bool { Int.random(in: 0..<n, using: &self) == 0 }

  mutating func pick<T>(_ choices: [T]) -> T {
    choices[Int.random(in: choices.indices, using: &self)]
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}
