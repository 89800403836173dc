import SeededRandom
import Testing

@testable import OrderedResults

@Suite struct LeftoverMatcherTests {
  /// Leftovers of `results` of which no more than `hashes` have different hashes.
  private func leftovers(_ results: Results, hashes: UInt64) -> HashedLeftovers {
    let hashes = results.rows.map { row -> UInt64 in
      guard case .integer(let id) = row[0] else { return 0 }
      return (UInt64(id) % hashes) << 32
    }
    let all = Gaps(between: [], .old, count: results.count)
    return HashedLeftovers(leftovers: Leftovers(all, of: results.records), hashes: hashes)
  }

  @Test(arguments: 0..<100)
  func `keys that share a hash are not taken for each other`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let layout = RecordLayout(columns: ["id", "name"], key: [0])
    func rows() -> [[Value]] {
      (0..<Int.random(in: 0...80, using: &random)).map { _ in
        [
          .integer(.random(in: 0..<40, using: &random)),
          .integer(.random(in: 0...1, using: &random)),
        ]
      }
    }
    let (old, new) = (try Results(layout, rows()), try Results(layout, rows()))
    let hashes = UInt64.random(in: 1...8, using: &random)
    var matcher = LeftoverMatcher(
      old: leftovers(old, hashes: hashes), new: leftovers(new, hashes: hashes), layout,
      Identity(layout))
    let expected = Oracle(old: old, new: new).partners()
    var count = 0
    matcher.forEachMatch { offset, match in
      #expect(offset == count)
      #expect(match.map { Int($0.old) } == expected[offset])
      if let match { #expect(match.isChanged == (old[Int(match.old)] != new[offset])) }
      count += 1
    }
    #expect(count == new.count)
  }
}
