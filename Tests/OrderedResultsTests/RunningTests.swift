import TestSupport
import Testing

@testable import OrderedResults

@Suite struct `Columns that run through all records` {
  private static let layout = RecordLayout(
    columns: [
      "id", "score", "n", "rank", "dense", "count", "sum", "term", "greatest", "least", "before",
      "behind",
    ], key: [0])
  private static let order = RecordOrder([.init(column: 1, isDescending: true), .init(column: 0)])

  private struct Row: Equatable {
    let id: Int64
    var score: Int64
    var term: Int64?
  }

  /// The rows with what runs through them, in their order.
  private static func records(_ rows: [Row]) -> [Record] {
    let sorted = rows.sorted { ($1.score, $0.id) < ($0.score, $1.id) }
    var (rank, dense, count) = (0, 0, 0)
    var (sum, greatest, least): (Int64?, Int64?, Int64?)
    return sorted.enumerated().map { index, row in
      if index == 0 || sorted[index - 1].score != row.score {
        (rank, dense) = (index + 1, dense + 1)
      }
      if let term = row.term {
        (count, sum) = (count + 1, (sum ?? 0) + term)
        (greatest, least) = (max(greatest ?? term, term), min(least ?? term, term))
      }
      let before = index == 0 ? nil : sorted[index - 1].term
      let behind = index + 1 == sorted.count ? nil : sorted[index + 1].term
      let places = [row.id, row.score, Int64(index + 1), Int64(rank), Int64(dense), Int64(count)]
      return Record(
        places.map(Value.integer)
          + [sum, row.term, greatest, least, before, behind].map { $0.map(Value.integer) ?? .null })
    }
  }

  private static func values(_ record: Record) -> [Value] { (0..<12).map(record.value) }

  private static func unplaced(_ row: Row) -> Record {
    let places = Array(repeating: Value.null, count: 5)
    return Record(
      [.integer(row.id), .integer(row.score)] + places + [row.term.map(Value.integer) ?? .null]
        + [.null, .null, .null, .null])
  }

  private static func column(_ column: Int) -> RunningColumn {
    let kinds: [Int: RunningColumn.Kind] = [
      2: .number, 3: .rank, 4: .denseRank, 5: .count(of: 7), 6: .sum(of: 7), 8: .greatest(of: 7),
      9: .least(of: 7), 10: .before(of: 7), 11: .behind(of: 7),
    ]
    return RunningColumn(column: column, kind: kinds[column] ?? .number, terms: 1)
  }

  @Test(
    .slow,
    arguments: [
      [2], [3], [4], [5], [6], [3, 4], [5, 6], [8], [9], [10], [11], [10, 11], [3, 11],
      [2, 3, 4, 5, 6, 8, 9, 10, 11],
    ])
  func `are those of all rows`(columns: [Int]) throws {
    print("running columns: DIDCHANGE_SEED=\(RandomSource.seed)")
    var random = RandomSource(seed: RandomSource.seed)
    let running = columns.map(Self.column)
    let terms: [Int64?] = [nil, 0, 0, 1, -5, 1000]
    for scores in [2, 8, 1000] {
      var rows = (0..<40).map {
        Row(id: $0, score: Int64(random.number(0...scores)), term: random.pick(terms))
      }
      var next: Int64 = 1000
      for _ in 0..<300 {
        let before = Self.records(rows)
        let old = rows
        for _ in 0..<random.number(1...4) {
          switch random.number(0...4) {
          case 0:
            rows.append(
              Row(id: next, score: Int64(random.number(0...scores)), term: random.pick(terms)))
            next += 1
          case 1 where rows.count > 1: rows.remove(at: random.number(0...rows.count - 1))
          case _ where !rows.isEmpty:
            rows[random.number(0...rows.count - 1)].score = Int64(random.number(0...scores))
            if random.once(in: 2) {
              rows[random.number(0...rows.count - 1)].term = random.pick(terms)
            }
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
        let differences = try #require(
          results.running(
            removed: removed, added: (come + touched).map(Self.unplaced), running, by: Self.order,
            atMost: 1000))
        let replaced = try #require(
          results.replacing(
            removed: differences.removed, added: differences.added, by: Self.order))
        let expected = Self.records(rows)
        let shown = replaced.results.records(in: 0..<replaced.results.count)
        #expect(
          shown.map { row in ([0, 1, 7] + columns).map(row.value) }
            == expected.map { row in ([0, 1, 7] + columns).map(row.value) })
        #expect(differences.removed.allSatisfy { !differences.added.contains($0) })
      }
    }
  }

  @Test func `are not, beyond so many`() throws {
    let rows = (0..<100).map { Row(id: $0, score: $0) }
    let results = try Results(Self.layout, Self.records(rows).map(Self.values))
    let running = [Self.column(3)]
    let first = [Self.unplaced(Row(id: 200, score: 200))]
    #expect(
      results.running(removed: [], added: first, running, by: Self.order, atMost: 99) == nil)
    #expect(
      results.running(removed: [], added: first, running, by: Self.order, atMost: 100)?.added
        .count == 101)
  }

  /// What a sum comes to that is no integer, or none of 64 bits, is SQLite's to say.
  @Test(arguments: [Value.real(1), .text([0x31]), .integer(.max)])
  func `are not, where only SQLite knows the sum`(term: Value) throws {
    let rows = (0..<5).map { Row(id: $0, score: $0, term: 7) }
    let results = try Results(Self.layout, Self.records(rows).map(Self.values))
    let last = Record([9, -1, nil, nil, nil, nil, nil, term, nil, nil, nil, nil])
    let running = [Self.column(6)]
    #expect(
      results.running(removed: [], added: [last], running, by: Self.order, atMost: 9) == nil)
  }
}
