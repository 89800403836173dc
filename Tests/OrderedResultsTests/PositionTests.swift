import SeededRandom
import Testing

@testable import OrderedResults

/// Where a record stands in a list of several nodes.
///
/// Another run: `RESULTS_SEED=<seed> swift test --filter PositionTests`.
@Suite struct PositionTests {
  private static let layout = RecordLayout(
    columns: ["id", "name"], columnCount: 2, key: [0], keyIsUnique: true, keyNames: ["id"])
  private static let order = RecordOrder([.init(column: 1), .init(column: 0, isDescending: true)])

  @Test(arguments: [1, 2, 127, 128, 129, 8192, 8193, 20_000])
  func `is that of a search through all`(count: Int) throws {
    var random = SeededGenerator(seed: RandomTests.seed)
    // Every other number is none of theirs; each name is that of several.
    let records = (0..<count).map { Self.record(2 * $0 + 1) }
    let results = try Results(Self.layout, records.map(\.values))
    for _ in 0..<300 {
      let low = Int.random(in: 0...count, using: &random)
      let high = Int.random(in: low...count, using: &random)
      let range = Int.random(in: 0..<3, using: &random) == 0 ? 0..<count : low..<high
      let number = Int.random(in: 0...2 * count, using: &random)
      let expected = min(max(number / 2, range.lowerBound), range.upperBound)
      let found = results.position(of: Self.record(number), by: Self.order, in: range)
      let isThere = number % 2 == 1 && range.contains(number / 2)
      let seed: Comment = "RESULTS_SEED=\(RandomTests.seed), \(number) in \(range) of \(count)"
      #expect(found.offset == expected, seed)
      #expect(found.isThere == isThere, seed)
    }
  }

  /// Ascends with the number.
  private static func record(_ number: Int) -> Record {
    Record([.integer(Int64(-number)), .integer(Int64(number / 10))])
  }
}
