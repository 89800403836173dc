import SeededRandom
import TestSupport
import Testing

@testable import OrderedResults

@Suite struct `A digest` {
  private let layout = RecordLayout(columns: ["id", "name"], key: [0], keyIsUnique: true)

  private func results(_ ids: some Sequence<Int>) throws -> Results {
    try Results(layout, ids.map { [.integer(Int64($0)), .text("name \($0)")] })
  }

  @Test func `of a run is put together from any parts of it`() {
    let seed = UInt64.random(in: 0..<1 << 32)
    var random = SeededGenerator(seed: seed)
    let key = DigestKey.standard
    let elements = (0..<300).map { _ in
      key.digest(of: String(Int.random(in: 0..<9, using: &random)))
    }
    func whole(_ range: Range<Int>) -> RunDigest {
      if range.count <= 1 { return range.first.map { elements[$0] } ?? RunDigest() }
      let cut = Int.random(in: range, using: &random)
      if cut == range.lowerBound {
        return whole(range.lowerBound..<cut + 1) + whole(cut + 1..<range.upperBound)
      }
      return whole(range.lowerBound..<cut) + whole(cut..<range.upperBound)
    }
    let plain = elements.reduce(RunDigest()) { $0 + $1 }
    for _ in 0..<50 { #expect(whole(0..<300).text == plain.text, "seed \(seed)") }
  }

  @Test(arguments: [1, 3, 40])
  func `of what has changed is found out from the one before`(most: Int) throws {
    print("RESULTS_SEED=\(RandomTests.seed)")
    var random = SeededGenerator(seed: RandomTests.seed)
    let order = RecordOrder([.init(column: 0)])
    var names: [Int: String] = [:]
    for id in 0..<3000 { names[4 * id] = "name \(id)" }
    func fresh() throws -> Results {
      try Results(layout, names.keys.sorted().map { row($0) })
    }
    func row(_ id: Int) -> [Value] { [.integer(Int64(id)), .text(names[id] ?? "")] }
    var results = try fresh()
    _ = results.digestText
    for step in 0..<max(60, RandomTests.steps / 20) {
      // Close together or anywhere, and at the end.
      let width = [1, 40, 12_000].randomElement(using: &random) ?? 1
      let place = Int.random(in: 0..<14_000 - width, using: &random)
      var (removed, added): ([Record], [Record]) = ([], [])
      for id in Set((0..<most).map { _ in place + Int.random(in: 0..<width, using: &random) }) {
        if names[id] != nil {
          let position = results.position(
            of: Record(row(id)), by: order, in: 0..<results.count)
          removed.append(results[position.offset])
        }
        names[id] =
          Int.random(in: 0..<3, using: &random) == 0
          ? nil : "other \(Int.random(in: 0..<1000, using: &random))"
        if names[id] != nil { added.append(Record(row(id))) }
      }
      let next = try #require(results.replacing(removed: removed, added: added, by: order))
      let digest = next.results.digest(by: .standard, after: results)
      #expect(
        try digest.text == fresh().digestText, "RESULTS_SEED=\(RandomTests.seed), step \(step)")
      results = next.results
    }
  }

  @Test func `tells order, number and ends`() throws {
    let texts = try [
      [], [1], [2], [1, 2], [2, 1], [1, 2, 3], [1, 3, 2], [3, 2, 1], Array(1...1000),
      Array(2...1000), Array(1...999), Array(1...1000).reversed(),
    ].map { try results($0).digestText }
    #expect(Set(texts).count == texts.count)
  }

  @Test func `tells the zeros apart`() throws {
    let layout = RecordLayout(columns: ["a"])
    let texts = try (0...300).map {
      try Results(layout, Array(repeating: [.null], count: $0)).digestText
    }
    #expect(Set(texts).count == texts.count)
  }

  @Test func `is of what shows`() throws {
    // A name, a key that is not selected, a term of the order.
    let layout = RecordLayout(
      columns: ["name"], columnCount: 3, key: [1], keyIsUnique: true, keyNames: ["rowid"])
    func digest(_ name: String, _ key: Value, _ order: Int64) throws -> String {
      try Results(layout, [[.text(name), key, .integer(order)]]).digestText
    }
    let one = try digest("a", .integer(1), 1)
    #expect(try digest("a", .integer(1), 2) == one)
    #expect(try digest("a", .real(1), 1) == one)
    #expect(try digest("b", .integer(1), 1) != one)
    #expect(try digest("a", .integer(2), 1) != one)
    #expect(try digest("a", .text("1"), 1) != one)
  }

  @Test func `says the name of a section that is not selected`() throws {
    let layout = RecordLayout(
      columns: ["name"], columnCount: 2, key: [0], keyIsUnique: true, section: 1)
    func digest(_ names: Value...) throws -> String {
      try Results(layout, names.enumerated().map { [.text("\($0)"), $1] }).digestText
    }
    #expect(try digest(.integer(1), .integer(1)) == digest(.real(1), .integer(1)))
    #expect(try digest(.integer(1), .integer(1)) != digest(.integer(1), .integer(2)))
    #expect(try digest(.text("1"), .integer(1)) != digest(.integer(1), .integer(1)))
  }

  @Test func `is another under another key`() throws {
    var random = SeededGenerator(seed: 7)
    let key = DigestKey { random.next() }
    #expect(try results(0..<10).digest(by: key).text != results(0..<10).digestText)
  }

  @Test func `has not changed since the last release, so that servers of two agree`() throws {
    let values: [Value] = [
      .null, .integer(-1), .integer(1 << 40), .real(0.5), .text("é"), .blob([0, 255]),
    ]
    let layout = RecordLayout(columns: ["a", "b", "c", "d", "e", "f"])
    let results = try Results(
      layout, (0..<500).map { index in values.map { _ in values[index % 6] } })
    #expect(results.digestText == "DakaHtWjkBB93_nd0W0UMB")
  }
}

private func + (left: RunDigest, right: RunDigest) -> RunDigest {
  var sum = left
  sum.append(right)
  return sum
}
