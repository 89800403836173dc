import TestSupport
import Testing

@testable import OrderedResults

@Suite struct `Places that are counted anew` {
  private static let layout = RecordLayout(
    columns: ["id", "score", "n", "rank", "dense"], key: [0])
  private static let order = RecordOrder([.init(column: 1, isDescending: true), .init(column: 0)])

  private struct Row: Equatable {
    let id: Int64
    var score: Int64
  }

  /// The rows with their places, in their order.
  private static func records(_ rows: [Row]) -> [Record] {
    let sorted = rows.sorted { ($1.score, $0.id) < ($0.score, $1.id) }
    var (rank, dense) = (0, 0)
    return sorted.enumerated().map { index, row in
      if index == 0 || sorted[index - 1].score != row.score {
        (rank, dense) = (index + 1, dense + 1)
      }
      return Record(
        [row.id, row.score, Int64(index + 1), Int64(rank), Int64(dense)].map(Value.integer))
    }
  }

  private static func values(_ record: Record) -> [Value] { (0..<5).map(record.value) }

  private static func unplaced(_ row: Row) -> Record {
    Record([.integer(row.id), .integer(row.score), .null, .null, .null])
  }

  @Test(arguments: [[2], [3], [4], [3, 4], [2, 3, 4]])
  func `are those of all rows`(columns: [Int]) throws {
    print("places: DIDCHANGE_SEED=\(RandomSource.seed)")
    var random = RandomSource(seed: RandomSource.seed)
    let places = columns.map {
      PlaceColumn(column: $0, kind: [.number, .rank, .denseRank][$0 - 2], terms: 1)
    }
    for scores in [2, 8, 1000] {
      var rows = (0..<40).map { Row(id: $0, score: Int64(random.number(0...scores))) }
      var next: Int64 = 1000
      for _ in 0..<300 {
        let before = Self.records(rows)
        let old = rows
        for _ in 0..<random.number(1...4) {
          switch random.number(0...4) {
          case 0:
            rows.append(Row(id: next, score: Int64(random.number(0...scores))))
            next += 1
          case 1 where rows.count > 1: rows.remove(at: random.number(0...rows.count - 1))
          case _ where !rows.isEmpty:
            rows[random.number(0...rows.count - 1)].score = Int64(random.number(0...scores))
          default: break
          }
        }
        let results = try Results(Self.layout, before.map(Self.values))
        let gone = old.filter { !rows.contains($0) }
        let come = rows.filter { !old.contains($0) }
        // What did not change, and is looked at nevertheless.
        let touched = rows.filter { old.contains($0) && random.once(in: 30) }
        let removed = before.filter { record in
          (gone + touched).contains { .integer($0.id) == record.value(0) }
        }
        let recounted = try #require(
          results.recounting(
            removed: removed, added: (come + touched).map(Self.unplaced), places, by: Self.order,
            atMost: 1000))
        let replaced = try #require(
          results.replacing(
            removed: recounted.removed, added: recounted.added, by: Self.order))
        let expected = Self.records(rows)
        let shown = replaced.results.records(in: 0..<replaced.results.count)
        #expect(
          shown.map { row in ([0, 1] + columns).map(row.value) }
            == expected.map { row in ([0, 1] + columns).map(row.value) })
        #expect(recounted.removed.allSatisfy { !recounted.added.contains($0) })
      }
    }
  }

  @Test func `are not, beyond so many`() throws {
    let rows = (0..<100).map { Row(id: $0, score: $0) }
    let results = try Results(Self.layout, Self.records(rows).map(Self.values))
    let places = [PlaceColumn(column: 3, kind: .rank, terms: 1)]
    let first = [Self.unplaced(Row(id: 200, score: 200))]
    #expect(
      results.recounting(removed: [], added: first, places, by: Self.order, atMost: 99) == nil)
    #expect(
      results.recounting(removed: [], added: first, places, by: Self.order, atMost: 100)?.added
        .count == 101)
  }
}
