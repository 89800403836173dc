import SeededRandom
import Testing

@testable import OrderedResults

@Suite struct ResultsTests {
  static let layout = RecordLayout(
    columns: ["id", "team"], key: [0], keyIsUnique: true, section: 1)

  static func rows(_ count: Int) -> [[Value]] {
    (0..<count).map { [.integer(Int64($0)), .integer(Int64($0 / 7))] }
  }

  @Test func `index paths and offsets name the same records`() throws {
    let results = try Results(Self.layout, Self.rows(1000))
    try results.checkInvariants()
    #expect(results.count == 1000 && results.numberOfSections == 143)
    for offset in 0..<1000 {
      let path = results.indexPath(ofOffset: offset)
      #expect(path == IndexPath(section: offset / 7, item: offset % 7))
      #expect(results.offset(of: path) == offset)
      #expect(results[path].value(0) == .integer(Int64(offset)) && results[path] == results[offset])
    }
    #expect(!results.contains(IndexPath(section: 0, item: 7)))
    #expect(!results.contains(IndexPath(section: 143, item: 0)))
    #expect(!results.contains(IndexPath(section: -1, item: 0)))
    #expect(!results.contains(IndexPath(section: 142, item: 6)))
  }

  @Test func `ranges of records are read in order`() throws {
    let results = try Results(Self.layout, Self.rows(500))
    for range in [0..<0, 0..<500, 120..<140, 127..<129, 499..<500, 500..<500] {
      #expect(
        results.records(in: range).map { $0.value(0) }
          == range.map { .integer(Int64($0)) } as [Value])
    }
  }

  @Test func `a record is found by its key`() throws {
    let results = try Results(Self.layout, Self.rows(300))
    #expect(results.offset(ofKey: [200]) == 200)
    #expect(results.offset(ofKey: [200.0]) == 200)
    #expect(results.offset(ofKey: [300]) == nil)
    #expect(results.offset(ofKey: ["200"]) == nil)
    #expect(results.offset(ofKey: [200, 1]) == nil)
    #expect(results.key(of: results[7]) == [7])
    let keyless = try Results(RecordLayout(columns: ["id"]), [[1]])
    #expect(keyless.offset(ofKey: [1]) == nil && keyless.key(of: keyless[0]) == nil)
  }

  @Test func `a window is what the query gives with its offset and limit`() throws {
    let layout = RecordLayout(
      columns: ["id", "team", "title"], key: [0], section: 1, sectionIndexTitle: 2)
    let rows = Self.rows(300).enumerated().map { $1 + [.integer(Int64($0 % 10))] }
    let results = try Results(layout, rows)
    for range in [0..<300, 0..<0, 10..<11, 13..<200, 128..<256, 250..<400, 300..<310] {
      let window = results.window(range)
      try window.checkInvariants()
      let clamped = range.clamped(to: 0..<300)
      let expected = try Results(layout, Array(rows[clamped]))
      #expect(window.rows == expected.rows && window.sections == expected.sections)
    }
    let plain = try Results(RecordLayout(columns: ["id"]), [[1], [2]])
    #expect(plain.window(5..<9).sections.map(\.numberOfRecords) == [0])
  }

  // MARK: Sharing

  @Test func `a small change shares all blocks but one`() throws {
    let old = try Results(Self.layout, Self.rows(10_000))
    var rows = Self.rows(10_000)
    rows[5000][0] = -1
    let new = try old.next(rows).results
    try new.checkInvariants()
    let shared = Set(old.records.blocks.map(ObjectIdentifier.init))
    #expect(new.records.blocks.count { !shared.contains(ObjectIdentifier($0)) } <= 2)
  }

  @Test func `many small changes leave no more than a few small blocks`() throws {
    var random = SeededGenerator(seed: 1)
    var rows = Self.rows(5000).map { [$0[0]] }
    let layout = RecordLayout(columns: ["id"], key: [0], keyIsUnique: true)
    var results = try Results(layout, rows)
    for step in 0..<300 {
      if random.chance(50) {
        rows.insert(
          [.integer(Int64(10_000 + step))], at: .random(in: 0...rows.count, using: &random))
      } else {
        rows.remove(at: .random(in: rows.indices, using: &random))
      }
      if random.chance(10) { rows.append([.integer(Int64(20_000 + step))]) }
      results = try results.next(rows).results
      try results.records.checkInvariants(columnCount: 1)
    }
    #expect(results.rows == rows)
    let small = results.records.blocks.count(where: \.isSmall)
    #expect(small <= 1, "\(small) small blocks of \(results.records.blocks.count)")
  }

  /// A log, or a chat: each commit adds a record at the end, and perhaps another goes.
  @Test(arguments: [nil, 0, 14_000])
  func `what is appended again and again leaves no small nodes`(goesFrom: Int?) throws {
    let layout = RecordLayout(columns: ["id"], key: [0], keyIsUnique: true)
    let order = RecordOrder([.init(column: 0)])
    var random = SeededGenerator(seed: 2)
    var results = try Results(layout, (0..<15_000).map { [.integer($0)] })
    for id in 15_000..<20_000 {
      let removed =
        goesFrom.map { [results[.random(in: $0..<results.count, using: &random)]] } ?? []
      let next = results.replacing(
        removed: removed, added: [Record([.integer(Int64(id))])], by: order)
      results = try #require(next).results
    }
    try results.checkInvariants()
    #expect(results.count == (goesFrom == nil ? 20_000 : 15_000))
    #expect(results.records.nodes.count <= 4, "\(results.records.nodes.count) nodes")
    let blocks = results.records.blocks
    let small = blocks.count(where: \.isSmall)
    #expect(small <= 1, "\(small) small blocks of \(blocks.count)")
    #expect(blocks.count < results.count / 48, "\(blocks.count) blocks of \(results.count)")
  }

  @Test func `a row larger than a block stands alone`() throws {
    let layout = RecordLayout(columns: ["id", "data"], key: [0])
    let large = Value.blob(Array(repeating: 1, count: 50_000))
    let rows: [[Value]] = [[1, "a"], [2, large], [3, "b"], [4, large], [5, large], [6, "c"]]
    let results = try Results(layout, rows)
    try results.checkInvariants()
    #expect(results.rows == rows)
    #expect(results.records.blocks.map(\.count) == [1, 1, 1, 1, 1, 1])
    let (next, changes) = try results.next(rows.reversed())
    try check(changes, from: results, to: next)
  }
}
