import GRDB
import QueryAnalysis
import SeededRandom
import TestSupport
import Testing

@testable import FetchedRecords

@Suite(.enabled(if: Aggregate.addsWithCompensation)) struct `A compensated sum` {
  enum Kind: CaseIterable {
    case prices, degrees, powers
    /// Sums of these are near the middle between two reals, or near 0.
    case halves

    func real(_ random: inout SeededGenerator) -> Double {
      switch self {
      case .prices: return Double(Int.random(in: 1...1_000_00, using: &random)) / 100
      case .degrees: return Double.random(in: -180...180, using: &random)
      case .powers:
        return Double(
          sign: Bool.random(using: &random) ? .plus : .minus,
          exponent: Int.random(in: -76...62, using: &random),
          significand: Double.random(in: 1..<2, using: &random))
      case .halves:
        return [0.1, -0.1, 0.3, 1, -1, 0x1p52, 0x1p53, 0x1p-76, -0x1p-76, 0x1.8p-30]
          .randomElement(using: &random)!
      }
    }

    /// Of so many of a hundred sums it is certain at least what they are.
    var certain: Int {
      switch self {
      case .prices, .degrees: 100
      case .powers: 95
      case .halves: 25
      }
    }
  }

  private func sum(of reals: [Double], without gone: [Double] = []) -> CompensatedSum {
    var sum = CompensatedSum()
    for (real, sign) in reals.map({ ($0, 1) }) + gone.map({ ($0, -1) }) {
      let isAdded = sum.add(real, sign)
      #expect(isAdded)
    }
    return sum
  }

  /// What SQLite itself comes to, in several orders.
  private func sums(of reals: [Double], _ random: inout SeededGenerator) throws -> Set<Double> {
    let db = try DatabaseQueue()
    return try db.write { db in
      var sums: Set<Double> = []
      try db.execute(sql: "CREATE TABLE number (x REAL)")
      for _ in 0..<4 {
        try db.execute(sql: "DELETE FROM number")
        for real in reals.shuffled(using: &random) {
          try db.execute(sql: "INSERT INTO number VALUES (?)", arguments: [real])
        }
        sums.insert(try Double.fetchOne(db, sql: "SELECT total(x) FROM number")!)
      }
      return sums
    }
  }

  @Test(arguments: Kind.allCases) func `is what SQLite returns, in whatever order`(
    kind: Kind
  ) throws {
    var random = SeededGenerator(seed: 43)
    var certain = 0
    for round in 0..<100 {
      let reals = (0..<Int.random(in: 1...60, using: &random)).map { _ in kind.real(&random) }
      // Some come only to go.
      let sum = sum(of: reals + [0.7, 1e9], without: [1e9, 0.7])
      guard let value = sum.value(count: reals.count) else { continue }
      certain += 1
      #expect(try sums(of: reals, &random) == [value], "\(kind) \(round): \(reals)")
    }
    #expect(certain >= kind.certain)
  }

  @Test(
    arguments: [
      ([0x1p53, 1], 0x1p53), ([0x1p53, 2, 1], 0x1p53 + 4), ([-0x1p53, -2, -1], -0x1p53 - 4),
      ([0x1p53, 1, 0x1p-20], 0x1p53 + 2), ([0.1, -0.1], 0), ([0.1, 0.2, 0.3], 0.6),
    ] as [([Double], Double)])
  func `is the even one of two reals that are as close`(reals: [Double], expected: Double) throws {
    var random = SeededGenerator(seed: 42)
    #expect(sum(of: reals).value(count: reals.count) == expected)
    #expect(try sums(of: reals, &random) == [expected])
  }

  @Test(arguments: [[0x1p60, 0x1p7], [0x1p60, -0x1p60]])
  func `is not certain where two reals are as close and something may be lost`(reals: [Double]) {
    let sum = sum(of: reals + [0x1p-76, -0x1p-76])
    #expect(sum.value(count: reals.count + 2) == nil)
  }

  @Test(arguments: [1e-30, .infinity, 0x1p64, .leastNonzeroMagnitude, -0x1p64])
  func `does not take what is too large or too small for it`(real: Double) {
    var sum = CompensatedSum()
    let isAdded = sum.add(real, 1)
    #expect(!isAdded)
  }

  @Test func `takes sums of integers, and of fractions`() throws {
    var random = SeededGenerator(seed: 44)
    for _ in 0..<50 {
      var (whole, magnitudes) = (WideSum(), WideSum())
      var (reals, integers): ([Double], [Int]) = ([], [])
      for _ in 0..<30 {
        reals.append(Double.random(in: -1e6...1e6, using: &random))
        integers.append(Int.random(in: -(1 << 45)...1 << 45, using: &random))
      }
      var sum = sum(of: reals)
      for integer in integers {
        whole.add(UInt64(integer.magnitude), integer < 0 ? -1 : 1)
        magnitudes.add(UInt64(integer.magnitude), 1)
      }
      sum.add(whole, magnitudes: magnitudes, unit: 1 / 1024)
      let all = reals + integers.map { Double($0) / 1024 }
      let value = try #require(sum.value(count: all.count))
      #expect(try sums(of: all, &random) == [value])
    }
  }
}
