import SeededRandom
import Testing

@testable import OrderedResults

@Suite struct LeftoverBatchesTests {
  /// Records whose key is their offset, in blocks of different sizes.
  private func results(_ count: Int) throws -> Results {
    // Long ones fill a block before it has 128.
    try Results(
      RecordLayout(columns: ["id", "text"], key: [0]),
      (0..<count).map { [.integer(Int64($0)), $0 % 700 < 300 ? "short" : Self.longText] })
  }

  private static let longText = Value.text(Array(repeating: 0x61, count: 200))

  @Test(arguments: [0, 1, 63, 64, 65, 127, 128, 129, 192, 1000, 2000])
  func `every leftover comes once and in order, with its own bytes`(count: Int) throws {
    let results = try results(count)
    var random = SeededGenerator(seed: UInt64(count))
    for chance in [0, 10, 50, 95] {
      var (pairs, expected): ([PairRun], [Int]) = ([], [])
      for offset in 0..<count {
        if random.chance(chance) {
          pairs.add(PairRun(old: offset, new: offset, count: 1, isChanged: false))
        } else {
          expected.append(offset)
        }
      }
      let gaps = Gaps(between: pairs, .new, count: count)
      #expect(gaps.totalCount == expected.count && gaps.isEmpty == expected.isEmpty)
      let records = FlatRecords(results.records)
      var batches = LeftoverBatches(gaps, of: records)
      var batch = LeftoverBatches.emptyBatch
      var found: [Int] = []
      while batches.next(&batch) {
        for lookUp in batch {
          #expect(Identity(results.layout).integer(lookUp.bytes) == Int64(lookUp.offset))
          found.append(Int(lookUp.offset))
        }
      }
      #expect(found == expected)
      #expect(records.numbers(in: gaps).map { Int(records.offset($0)) } == expected)
    }
  }

  @Test func `a start tells other records from one, and never one from itself`() throws {
    let keys: [Value] = [
      0, 1, -1, 127, 128, 300, 70_000, .integer(.max), .integer(.max - 1), .integer(.min), 0.5,
      "a", "abcdefghijk", "abcdefghijkl", .blob([1]), nil,
    ]
    for behind in ["", "1234567", "12345678"] as [Value] {
      let records = keys.map { Record([$0, behind]) }
      for (index, record) in records.enumerated() {
        record.borrow { wanted in
          guard let start = RecordStart(firstColumnOf: wanted) else {
            #expect(wanted.count < 8)
            return
          }
          for (other, record) in records.enumerated() {
            record.borrow { found in
              let isSame = start.isSame(found)
              if other == index { #expect(isSame) }
              // Eight bytes hold all of these but the longest.
              let isLong = found.column(0).count > 8 || wanted.column(0).count > 8
              if other != index, !isLong, found.count >= 8 { #expect(!isSame) }
            }
          }
        }
      }
    }
  }
}
