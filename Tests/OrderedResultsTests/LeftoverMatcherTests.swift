import Hashing
import SeededRandom
import Testing

@testable import OrderedResults

@Suite struct LeftoverMatcherTests {
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
    // At most eight hashes, for all of which the search begins at one slot.
    let hasher = KeyedHash(mask: .random(in: 0...7, using: &random) << 33)
    let records = FlatRecords(old.records)
    var matcher = LeftoverMatcher(
      records.numbers, of: records, layout, Identity(layout), hasher)
    let expected = Oracle(old: old, new: new).partners()
    let found = matcher.match(new)
    for (offset, match) in found.enumerated() {
      #expect(match.old == expected[offset])
      if let partner = match.old { #expect(match.isChanged == (old[partner] != new[offset])) }
    }
    #expect(found.count == new.count)
    #expect(matcher.unmatched == (0..<old.count).filter { !expected.contains($0) })
  }
}
