import SeededRandom
import Testing

@testable import OrderedResults

/// Keys are found as by a look through all records.
///
/// Another run: `RESULTS_SEED=<seed> swift test --filter KeyIndexTests`.
@Suite struct KeyIndexTests {
  @Test func `an index finds what a look through all records finds`() throws {
    print("RESULTS_SEED=\(RandomTests.seed)")
    for table in 0..<40 {
      var rows = RandomRows(SeededGenerator(seed: RandomTests.seed &+ UInt64(table)))
      for _ in 0..<3 { rows.step() }
      let results = try Results(rows.layout, rows.rows)
      let index = KeyIndex(results)
      for row in rows.rows {
        guard let key = results.key(of: Record(row)) else { continue }
        #expect(index.offset(ofKey: key) == results.offset(ofKey: key))
        #expect(index.offset(ofKey: key) != nil)
        #expect(index.offset(ofKey: key + [1]) == nil)
      }
      if let key = results.layout.key {
        #expect(index.offset(ofKey: key.map { _ in "nobody" }) == nil)
      }
    }
  }

  private let layout = RecordLayout(columns: ["k"], key: [0])

  @Test func `numbers that are equal are one key`() throws {
    let index = KeyIndex(try Results(layout, [[1], [2.0], ["2"], [nil]]))
    #expect(index.offset(ofKey: [1.0]) == 0)
    #expect(index.offset(ofKey: [2]) == 1)
    #expect(index.offset(ofKey: ["2"]) == 2)
    #expect(index.offset(ofKey: [nil]) == 3)
    #expect(KeyIndex(.empty(layout)).offset(ofKey: [1]) == nil)
  }

  @Test func `of several records with a key the nearest is found`() throws {
    let results = try Results(layout, [[7], [1], [1], [1], [2], [1], [3]])
    for (offset, nearest) in [(0, 1), (2, 2), (4, 5), (6, 5), (-9, 1), (99, 5)] {
      #expect(results.offset(ofKey: [1], nearestTo: offset) == nearest, "\(offset)")
    }
    #expect(results.offset(ofKey: [3], nearestTo: 0, within: 5) == nil)
    #expect(results.offset(ofKey: [3], nearestTo: 0, within: 6) == 6)
    #expect(results.offset(ofKey: [9], nearestTo: 3) == nil)
    #expect(results.isSameKey(1, 5) && !results.isSameKey(0, 1))
  }
}
