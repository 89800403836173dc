import SeededRandom
import Testing

@testable import OrderedResults

@Suite struct DenseMatcherTests {
  /// The key is the first column, with little or much behind it, or the last one.
  static let layouts = [
    RecordLayout(columns: ["id", "name"], key: [0]),
    RecordLayout(columns: ["id", "name", "text"], key: [0]),
    RecordLayout(columns: ["name", "id"], key: [1]),
  ]

  /// At the borders of the integers' sizes.
  static let firsts: [Int64] = [
    0, -40, 87, -200, 32_700, -32_900, 2_147_483_600, -2_147_483_700, 4_294_967_296, .min,
    .max - 400,
  ]

  private func row(_ layout: RecordLayout, _ key: Value, _ name: Int) -> [Value] {
    let name = Value.integer(Int64(name))
    if layout.key == [1] { return [name, key] }
    // 8 bytes or more behind the key: it is read at one go, whatever its size.
    return layout.columns.count == 3 ? [key, name, "something"] : [key, name]
  }

  private func denseMatcher(from old: Results) -> DenseMatcher? {
    let records = FlatRecords(old.records)
    return DenseMatcher(records.numbers, of: records, old.layout, Identity(old.layout))
  }

  @Test(arguments: layouts, firsts)
  func `keys that lie close together are found`(layout: RecordLayout, first: Int64) throws {
    var random = SeededGenerator(seed: UInt64(bitPattern: first))
    for _ in 0..<20 {
      let count = Int.random(in: 1...300, using: &random)
      let numbers = (0..<Int64(count)).map { first + $0 }.shuffled(using: &random)
      let kept = numbers.prefix(count * 3 / 4 + 1)
      let old = try Results(layout, kept.map { row(layout, .integer($0), 0) })
      // Some of the old ones are gone.
      var keys = numbers.filter { _ in random.chance(90) }.map { Value.integer($0) }
      // Repeated, below and above all others, of other types, the same as an integer or not.
      keys += [.integer(first), .integer(.min), .integer(.max), .text("1"), .blob([1]), nil]
      keys += [.real(Double(first)), .real(0.5), .real(1e300), .real(-1e300), .real(3)]
      keys.shuffle(using: &random)
      let new = try Results(
        layout, keys.map { row(layout, $0, Int.random(in: 0...1, using: &random)) })

      var matcher = try #require(denseMatcher(from: old))
      let expected = Oracle(old: old, new: new).partners()
      let found = matcher.match(new)
      for (offset, match) in found.enumerated() {
        #expect(match.old == expected[offset], "\(keys[offset])")
        if let partner = match.old { #expect(match.isChanged == (old[partner] != new[offset])) }
      }
      #expect(found.count == new.count)
      #expect(matcher.unmatched == (0..<old.count).filter { !expected.contains($0) })
    }
  }

  static let unfit: [[Value]] = [
    [1, 2, 1], [1, 2, 1.0], [1, "2", 3], [1, nil, 2], [1, .blob([]), 2], [1, 1.5, 2], [1, 1e300],
    [1, 1000], [.integer(.min), .integer(.max)], [.integer(.max), .integer(.min)],
    [-1, .integer(.max)],
    [.integer(.min), 0], [1, .integer(1 + 1 << 32), 2], ["a"], [nil], [],
    // Too far apart by one; in the last two, each is near enough to the first.
    [0, 16], [16, 0], [0, -16], [0, 12, -12], [0, 20, -20],
  ]

  @Test(arguments: layouts, unfit)
  func `keys that are no such integers are left to the hash table`(
    layout: RecordLayout, keys: [Value]
  ) throws {
    let results = try Results(layout, keys.map { row(layout, $0, 0) })
    #expect(denseMatcher(from: results) == nil)
  }

  /// As far apart as can be: 8 places for each key.
  static let farthest: [[Value]] = [
    [0, 15], [15, 0], [0, -15], [0, 12, -11], [.integer(.max), .integer(.max - 15)], [7],
  ]

  @Test(arguments: layouts, farthest)
  func `keys that lie just close enough together are found`(
    layout: RecordLayout, keys: [Value]
  ) throws {
    let old = try Results(layout, keys.map { row(layout, $0, 0) })
    let new = try Results(layout, keys.reversed().map { row(layout, $0, 0) })
    var matcher = try #require(denseMatcher(from: old))
    #expect(matcher.match(new).map(\.old) == (0..<keys.count).reversed())
  }

  @Test func `a key of two columns is left to the hash table`() throws {
    let layout = RecordLayout(columns: ["a", "b"], key: [0, 1])
    let results = try Results(layout, [[1, 1], [2, 2]])
    #expect(denseMatcher(from: results) == nil)
  }

  @Test func `an integral real is the integer that it equals`() throws {
    let layout = Self.layouts[0]
    let old = try Results(layout, [[1, 0], [2.0, 0], [3, 0]])
    let new = try Results(layout, [[3.0, 0], [2, 0], [1, 0]])
    var matcher = try #require(denseMatcher(from: old))
    #expect(matcher.match(new).map(\.old) == [2, 1, 0])
  }
}
