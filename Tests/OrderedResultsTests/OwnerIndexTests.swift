import SeededRandom
import Testing

@testable import OrderedResults

/// An index of owners that follows replacements must be what one made anew is.
///
/// Another run: `RESULTS_SEED=<seed> RESULTS_STEPS=<steps> swift test --filter OwnerIndexTests`.
@Suite struct OwnerIndexTests {
  private static let layout = RecordLayout(
    columns: ["id", "owner", "name"], columnCount: 3, key: [0], keyIsUnique: true, keyNames: ["id"])
  private static let order = RecordOrder([.init(column: 2), .init(column: 0)])

  private var random = SeededGenerator(seed: RandomTests.seed)
  private var rows: [Int64: [Value]] = [:]

  @Test(arguments: [1, 3])
  func `a followed index finds the records that a new one finds`(_ recordsOfOwner: Int64) throws {
    var test = self
    try test.run(recordsOfOwner)
  }

  private mutating func run(_ recordsOfOwner: Int64) throws {
    print("RESULTS_SEED=\(RandomTests.seed)")
    for id in 0..<400 { rows[Int64(id)] = row(Int64(id), recordsOfOwner) }
    var results = try Results(Self.layout, sorted)
    var index =
      recordsOfOwner == 1
      ? OwnerIndex(results, ownersInColumn: 1) : OwnerIndex(results, owner: owner)
    for step in 0..<max(50, RandomTests.steps / 40) {
      let ids = (0..<Int.random(in: 1...[1, 2, 40][step % 3], using: &random)).map { _ in
        Int64.random(in: 0..<500, using: &random)
      }
      var removed: [Record] = []
      var added: [Record] = []
      for id in Set(ids) {
        if let old = rows[id] { removed.append(Record(old)) }
        rows[id] = Int.random(in: 0..<3, using: &random) == 0 ? nil : row(id, recordsOfOwner)
        if let new = rows[id] { added.append(Record(new)) }
      }
      // As they stand in the results, whose blocks the index knows.
      let all = 0..<results.count
      removed = removed.map { results[results.position(of: $0, by: Self.order, in: all).offset] }
      let next = try #require(results.replacing(removed: removed, added: added, by: Self.order))
      index.follow(removed: removed, made: next.made, owner: owner)
      results = next.results
      #expect(results.rows == sorted, "RESULTS_SEED=\(RandomTests.seed), step \(step)")
      try index.checkInvariants(of: results, owner: owner)
      guard step % 10 == 0 else { continue }
      let expected = Dictionary(grouping: results.rows) { $0[1] }
      for owner in 0..<500 / recordsOfOwner {
        let found = index.records(of: owner) { $0.value(1) == .integer(owner) }.map(\.values)
        #expect(Set(found) == Set(expected[.integer(owner)] ?? []))
        #expect(index.contains(owner) == !found.isEmpty)
      }
      // Few owners are looked for in another way than many.
      for wanted in [Array(0..<3), Array(stride(from: 1, to: 500, by: 7))] as [[Int64]] {
        let part = OwnerIndex(results, ownersInColumn: 1, among: wanted)
        let same = OwnerIndex(results, among: wanted, owner: self.owner)
        for number in wanted {
          let found = Set(index.records(of: number, inColumn: 1).map(\.values))
          #expect(Set(part.records(of: number, inColumn: 1).map(\.values)) == found)
          #expect(Set(same.records(of: number, inColumn: 1).map(\.values)) == found)
        }
        #expect(part.size <= OwnerIndex.size(of: wanted.count))
      }
    }
  }

  private var sorted: [[Value]] {
    rows.values.map(Record.init).sorted { Self.order.compare($0, $1) < 0 }.map(\.values)
  }

  private mutating func row(_ id: Int64, _ recordsOfOwner: Int64) -> [Value] {
    let length = Int.random(in: 0...(id % 3 == 0 ? 300 : 3), using: &random)
    let name = (0..<length).map { _ in UInt8.random(in: 97...122, using: &random) }
    return [.integer(id), .integer(id / recordsOfOwner), .text(name)]
  }

  private let owner: (Record) -> Int64 = { record in
    guard case .integer(let owner) = record.value(1) else { preconditionFailure("no owner") }
    return owner
  }
}
