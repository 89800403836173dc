import SeededRandom
import Testing

@testable import OrderedResults

@Suite struct IdentityTests {
  static let repeating = RecordLayout(columns: ["id", "name"], key: [0])
  static let keyless = RecordLayout(columns: ["name"])

  // MARK: Keys that repeat

  @Test func `records that share a key are told apart by their order of appearance`() throws {
    try expectChanges(
      Self.repeating, from: [[1, "a"], [1, "b"]], to: [[1, "b"]],
      "deletion [0,1] 1", "update [0,0] -> [0,0] 1 name: 'a'")
    try expectChanges(
      Self.repeating, from: [[1, "a"], [2, "x"], [1, "b"]], to: [[1, "b"], [2, "x"], [1, "a"]],
      "update [0,0] -> [0,0] 1 name: 'a'", "update [0,2] -> [0,2] 1 name: 'b'")
  }

  @Test func `a key that begins to repeat gives its partner to the first with it`() throws {
    // The row that equals the old record is the second of its key, so it is new.
    let new = try expectChanges(
      Self.repeating, from: [[1, "a"], [2, "b"]], to: [[2, "z"], [1, "a"], [2, "b"]],
      "move [0,1] -> [0,0] 2 name: 'b'", "insertion [0,2] 2")
    #expect(new.hasDuplicateKeys == true)
    try expectChanges(
      Self.repeating, from: [[1, "a"], [2, "b"], [3, "c"]],
      to: [[3, "c"], [1, "a"], [2, "b"], [3, "c"], [3, "c"]],
      "move [0,2] -> [0,0] 3", "insertion [0,3] 3", "insertion [0,4] 3")
  }

  @Test func `a gap before a repeated key does not hide its first record`() throws {
    // The rows that come fit the end of the old result, but the first of the key is before it.
    try expectChanges(
      Self.repeating, from: [[9, "q"], [1, "a"], [1, "b"], [3, "z"]], to: [[1, "b"], [3, "z"]],
      "deletion [0,2] 1", "deletion [0,0] 9", "update [0,1] -> [0,0] 1 name: 'a'")
  }

  @Test func `whether keys repeat is known again once they do not`() throws {
    var results = try Results(Self.repeating, [[1, "a"], [1, "b"], [2, "c"]])
    #expect(results.hasDuplicateKeys == nil)
    results = try results.next([[2, "c"], [1, "a"], [1, "b"]]).results
    #expect(results.hasDuplicateKeys == true)
    results = try results.next([[3, "d"], [2, "c"], [1, "a"]]).results
    #expect(results.hasDuplicateKeys == false)
    try results.checkInvariants()
  }

  // MARK: What a key is

  @Test func `1 and 1.0 are one key, '1' is another`() throws {
    try expectChanges(
      Self.repeating, from: [[1, "a"], [2, "b"]], to: [[2.0, "b"], [1.0, "a"]],
      "move [0,1] -> [0,0] 2.0 id: 2", "update [0,0] -> [0,1] 1.0 id: 1")
    try expectChanges(
      Self.repeating, from: [[1, "a"]], to: [["1", "a"]], "deletion [0,0] 1",
      "insertion [0,0] '1'")
  }

  @Test func `NULL is a key like any other`() throws {
    try expectChanges(
      Self.repeating, from: [[nil, "a"], ["", "b"]], to: [[nil, "z"], ["", "b"]],
      "update [0,0] -> [0,0] NULL name: 'a'")
  }

  @Test func `a key of two columns is the same only if both are`() throws {
    let layout = RecordLayout(
      columns: ["name"], columnCount: 3, key: [2, 1], keyIsUnique: true,
      keyNames: ["year", "place"])
    try expectChanges(
      layout, from: [["a", "Rome", 1990], ["b", "Rome", 1991]],
      to: [["a", "Rome", 1991], ["b", "Oslo", 1990]],
      "deletion [0,0] 1990,'Rome'", "insertion [0,1] 1990,'Oslo'",
      "update [0,1] -> [0,0] 1991,'Rome' name: 'b'")
  }

  // MARK: No key

  @Test func `records without a key are only inserted and deleted`() throws {
    try expectChanges(
      Self.keyless, from: [["a"], ["b"], ["c"]], to: [["c"], ["a"], ["b"]],
      "deletion [0,2] ('c')", "insertion [0,0] ('c')")
    try expectChanges(
      Self.keyless, from: [["a"], ["b"]], to: [["a"], ["z"]], "deletion [0,1] ('b')",
      "insertion [0,1] ('z')")
  }

  @Test func `equal records without a key that keep their place are not reported`() throws {
    try expectChanges(
      Self.keyless, from: [["a"], ["a"], ["a"]], to: [["a"], ["a"]], "deletion [0,2] ('a')")
    try expectChanges(
      Self.keyless, from: [["a"], ["b"], ["a"]], to: [["b"], ["a"]], "deletion [0,0] ('a')")
    try expectChanges(
      Self.keyless, from: [["b"], ["a"]], to: [["a"], ["b"], ["a"]], "insertion [0,0] ('a')")
  }

  @Test func `without a key a hidden section tells equal records apart`() throws {
    let layout = RecordLayout(columns: ["name"], columnCount: 2, section: 1)
    try expectChanges(
      layout, from: [["a", 1], ["a", 2]], to: [["a", 2]], "- section 0 1/1",
      "deletion [0,0] ('a' 1)")
  }

  @Test(arguments: 0..<200)
  func `without a key, one row that comes or goes is one change`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let rows = (0..<Int.random(in: 1...30, using: &random)).map { _ in
      [.integer(.random(in: 0...2, using: &random))] as [Value]
    }
    var fewer = rows
    fewer.remove(at: .random(in: rows.indices, using: &random))
    let (long, short) = (try Results(Self.keyless, rows), try Results(Self.keyless, fewer))
    #expect(short.changes(from: long).count == 1)
    #expect(long.changes(from: short).count == 1)
    #expect(try long.next(fewer).changes.count == 1)
  }

  @Test(arguments: [(10, 1.5), (50, 1.2), (1000, 1.02)])
  func `without a key there are few more changes than the fewest`(values: Int64, most: Double)
    throws
  {
    var random = SeededGenerator(seed: 5)
    var (found, fewest) = (0, 0)
    for _ in 0..<100 {
      var rows = (0..<50).map { _ in [.integer(.random(in: 0..<values, using: &random))] as [Value]
      }
      let old = try Results(Self.keyless, rows)
      for _ in 0..<8 {
        let place = Int.random(in: rows.indices, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: rows.remove(at: place)
        case 1: rows.insert([.integer(.random(in: 0..<values, using: &random))], at: place)
        default: rows.swapAt(place, .random(in: rows.indices, using: &random))
        }
      }
      found += try old.next(rows).changes.count
      fewest += old.count + rows.count - 2 * lengthOfCommonSubsequence(old.rows, rows)
    }
    #expect(Double(found) <= most * Double(fewest), "\(found) changes, \(fewest) would do")
  }

  private func lengthOfCommonSubsequence(_ left: [[Value]], _ right: [[Value]]) -> Int {
    var row = [Int](repeating: 0, count: right.count + 1)
    for value in left {
      var diagonal = 0
      for (index, other) in right.enumerated() {
        let above = row[index + 1]
        row[index + 1] = value == other ? diagonal + 1 : max(above, row[index])
        diagonal = above
      }
    }
    return row[right.count]
  }
}
