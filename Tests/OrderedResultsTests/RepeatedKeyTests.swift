import SeededRandom
import Testing

@testable import OrderedResults

/// Replacements in results whose keys may be NULL, and then are those of several records.
///
/// Another run: `RESULTS_SEED=<seed> RESULTS_STEPS=<steps> swift test --filter RepeatedKeyTests`.
@Suite struct RepeatedKeyTests {
  private static let layout = RecordLayout(
    columns: ["code", "name"], columnCount: 3, key: [0], keyNames: ["code"])
  private static let order = RecordOrder([
    .init(column: 1), .init(column: 0), .init(column: 2),
  ])

  @Test func `replacements are what a fetch and its diff are`() throws {
    print("RESULTS_SEED=\(RandomTests.seed)")
    var random = SeededGenerator(seed: RandomTests.seed)
    var rows: [Int64: [Value]] = [:]
    var results = try Results(Self.layout, [])
    var diffs = 0
    for step in 0..<max(200, RandomTests.steps / 10) {
      var (removed, added): ([Record], [Record]) = ([], [])
      let ids = (0..<[1, 1, 2, 6][step % 4]).map { _ in Int64.random(in: 0..<40, using: &random) }
      for id in Set(ids).sorted() {
        if let old = rows[id] { removed.append(Record(old)) }
        // As a unique index lets it be: NULL repeats, and what else there is does not.
        let isNull = Int.random(in: 0..<3, using: &random) == 0
        let key: Value = isNull ? .null : .text("\(id)")
        let name: Value = .integer(Int64.random(in: 0..<5, using: &random))
        rows[id] = Int.random(in: 0..<3, using: &random) == 0 ? nil : [key, name, .integer(id)]
        if let new = rows[id] { added.append(Record(new)) }
      }
      let sorted = rows.values.map(Record.init).sorted { Self.order.compare($0, $1) < 0 }
      let comment: Comment = "RESULTS_SEED=\(RandomTests.seed), step \(step)"
      let next = try #require(
        results.replacing(removed: removed, added: added, by: Self.order), comment)
      #expect(next.results.rows == sorted.map(\.values), comment)
      try check(next.changes, from: results, to: next.results, comment: comment)
      checkMinimal(next.changes, from: results, to: next.results, comment: comment)
      diffs += next.results.hasDuplicateKeys == nil ? 1 : 0
      results = next.results
    }
    #expect(diffs > 20)
  }
}
