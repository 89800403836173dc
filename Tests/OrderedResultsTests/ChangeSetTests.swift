import Testing

@testable import OrderedResults

@Suite struct ChangeSetTests {
  static let plain = RecordLayout(columns: ["id", "name"], key: [0], keyIsUnique: true)
  static let teams = RecordLayout(
    columns: ["id", "name", "team"], key: [0], keyIsUnique: true, section: 2)

  // MARK: Within a section

  @Test func `no change, no event, and the results are the old ones`() throws {
    let old = try Results(Self.plain, [[1, "Arthur"], [2, "Barbara"]])
    let (new, changes) = try old.next(old.rows)
    #expect(changes.isEmpty)
    #expect(new.records.blocks[0] === old.records.blocks[0])
  }

  @Test func `a record whose columns differ in its place is updated`() throws {
    try expectChanges(
      Self.plain, from: [[1, "Arthur"], [2, "Barbara"]], to: [[1, "Arthur"], [2, "Bea"]],
      "update [0,1] -> [0,1] 2 name: 'Barbara'")
  }

  @Test func `records that shift because another came are not reported`() throws {
    try expectChanges(
      Self.plain, from: [[1, "Arthur"], [2, "Barbara"]],
      to: [[3, "Aaron"], [1, "Arthur"], [2, "Barbara"]],
      "insertion [0,0] 3")
  }

  @Test func `an update tells where the record was and where it is`() throws {
    try expectChanges(
      Self.plain, from: [[1, "Arthur"], [2, "Barbara"], [3, "Craig"]],
      to: [[2, "Bea"], [3, "Craig"]],
      "deletion [0,0] 1", "update [0,1] -> [0,0] 2 name: 'Barbara'")
  }

  @Test func `the first and the last record come and go`() throws {
    try expectChanges(
      Self.plain, from: [[1, "a"], [2, "b"], [3, "c"]], to: [[2, "b"]],
      "deletion [0,2] 3", "deletion [0,0] 1")
    try expectChanges(
      Self.plain, from: [[2, "b"]], to: [[1, "a"], [2, "b"], [3, "c"]],
      "insertion [0,0] 1", "insertion [0,2] 3")
  }

  @Test func `an empty result without sections keeps its one section`() throws {
    try expectChanges(Self.plain, from: [[1, "a"]], to: [], "deletion [0,0] 1")
    try expectChanges(Self.plain, from: [], to: [[1, "a"]], "insertion [0,0] 1")
    try expectChanges(Self.plain, from: [], to: [])
  }

  @Test func `a record that leaves its place moves`() throws {
    try expectChanges(
      Self.plain, from: [[1, "a"], [2, "b"], [3, "c"]], to: [[2, "b"], [3, "c"], [1, "a"]],
      "move [0,0] -> [0,2] 1")
    try expectChanges(
      Self.plain, from: [[1, "a"], [2, "b"], [3, "c"]], to: [[3, "c"], [1, "a"], [2, "b"]],
      "move [0,2] -> [0,0] 3")
  }

  @Test func `of two records that swap, the changed one moves`() throws {
    try expectChanges(
      Self.plain, from: [[1, "a"], [2, "b"]], to: [[2, "b"], [1, "z"]],
      "move [0,0] -> [0,1] 1 name: 'a'")
    try expectChanges(
      Self.plain, from: [[1, "a"], [2, "b"]], to: [[2, "z"], [1, "a"]],
      "move [0,1] -> [0,0] 2 name: 'b'")
  }

  @Test func `one unchanged record stays rather than many changed ones`() throws {
    try expectChanges(
      Self.plain, from: [[1, "a"], [2, "b"], [3, "c"], [4, "d"]],
      to: [[2, "B"], [3, "C"], [4, "D"], [1, "a"]],
      "move [0,3] -> [0,2] 4 name: 'd'", "move [0,2] -> [0,1] 3 name: 'c'",
      "move [0,1] -> [0,0] 2 name: 'b'")
  }

  // MARK: Across sections

  @Test func `moving a record to a new section inserts the section`() throws {
    // The example of `protocol.md` §4.
    try expectChanges(
      Self.teams, from: [[1, "Arthur", "Blue"], [2, "Barbara", "Blue"]],
      to: [[1, "Arthur", "Blue"], [2, "Barbara", "Red"]],
      "+ section 1 'Red'/R", "move [0,1] -> [1,0] 2 team: 'Blue'")
  }

  @Test func `moving the last record out of a section deletes the section`() throws {
    try expectChanges(
      Self.teams, from: [[1, "Arthur", "Blue"], [2, "Barbara", "Red"]],
      to: [[1, "Arthur", "Blue"], [2, "Barbara", "Blue"]],
      "- section 1 'Red'/R", "move [1,0] -> [0,1] 2 team: 'Red'")
  }

  @Test func `a record that changes its section moves even if its index path stays`() throws {
    try expectChanges(
      Self.teams, from: [[1, "Arthur", "Blue"], [2, "Barbara", "Blue"]],
      to: [[1, "Arthur", "Azure"], [2, "Barbara", "Blue"]],
      "+ section 0 'Azure'/A", "move [0,0] -> [0,0] 1 team: 'Blue'")
  }

  @Test func `a record may move into the section that takes its section's place`() throws {
    try expectChanges(
      Self.teams, from: [[1, "Arthur", "Blue"], [2, "Barbara", "Red"]],
      to: [[1, "Arthur", "Red"], [2, "Barbara", "Red"]],
      "- section 0 'Blue'/B", "move [0,0] -> [0,0] 1 team: 'Blue'")
  }

  @Test func `a section renamed is a deletion, an insertion, and moves`() throws {
    try expectChanges(
      Self.teams, from: [[1, "Arthur", "Blue"], [2, "Barbara", "Blue"], [3, "Craig", "Red"]],
      to: [[1, "Arthur", "Azure"], [2, "Barbara", "Azure"], [3, "Craig", "Red"]],
      "- section 0 'Blue'/B", "+ section 0 'Azure'/A", "move [0,1] -> [0,1] 2 team: 'Blue'",
      "move [0,0] -> [0,0] 1 team: 'Blue'")
  }

  @Test func `of two sections that swap, the one with fewer records goes and comes`() throws {
    let (red, blue) = ([3, "Craig", "Red"] as [Value], "Blue" as Value)
    try expectChanges(
      Self.teams, from: [[1, "Arthur", blue], [2, "Barbara", blue], red],
      to: [red, [1, "Arthur", blue], [2, "Barbara", blue]],
      "- section 1 'Red'/R", "+ section 0 'Red'/R", "move [1,0] -> [0,0] 3")
  }

  @Test func `sections are kept though all of their records are others`() throws {
    try expectChanges(
      Self.teams, from: [[1, "a", "Blue"], [2, "b", "Red"]],
      to: [[3, "c", "Blue"], [4, "d", "Red"]],
      "deletion [1,0] 2", "deletion [0,0] 1", "insertion [0,0] 3", "insertion [1,0] 4")
  }

  @Test func `a result with a section column has no section when it is empty`() throws {
    try expectChanges(
      Self.teams, from: [[1, "Arthur", "Blue"]], to: [], "- section 0 'Blue'/B",
      "deletion [0,0] 1")
    try expectChanges(
      Self.teams, from: [], to: [[1, "Arthur", "Blue"]], "+ section 0 'Blue'/B",
      "insertion [0,0] 1")
  }

  @Test func `events come in the order of the contract`() throws {
    try expectChanges(
      Self.teams,
      from: [
        [1, "a", "A"], [2, "b", "A"], [3, "c", "B"], [4, "d", "C"], [5, "e", "C"], [6, "f", "D"],
      ],
      to: [
        [7, "g", "0"], [1, "a!", "A"], [8, "h", "A"], [5, "e", "C"], [4, "d!", "C"],
        [3, "c", "E"], [9, "i", "F"],
      ],
      "- section 3 'D'/D", "- section 1 'B'/B", "+ section 0 '0'/0", "+ section 3 'E'/E",
      "+ section 4 'F'/F", "deletion [3,0] 6", "move [2,0] -> [2,1] 4 name: 'd'",
      "move [1,0] -> [3,0] 3 team: 'B'", "deletion [0,1] 2", "insertion [0,0] 7",
      "insertion [1,1] 8", "insertion [4,0] 9", "update [0,0] -> [1,0] 1 name: 'a'")
  }

  // MARK: Hidden columns

  static let ranked = RecordLayout(columns: ["id"], columnCount: 2, key: [0], keyIsUnique: true)

  @Test func `a record of which only hidden columns changed is not reported but kept`() throws {
    let new = try expectChanges(Self.ranked, from: [[1, 10], [2, 20]], to: [[1, 11], [2, 20]])
    #expect(new[0].value(1) == 11)
  }

  @Test func `a record that moves by a hidden column moves without changes`() throws {
    try expectChanges(
      Self.ranked, from: [[1, 10], [2, 20], [3, 30]], to: [[2, 20], [3, 30], [1, 40]],
      "move [0,0] -> [0,2] 1")
  }

  // MARK: Joining

  @Test func `two finished results are compared as if the rows had come`() throws {
    let first = try Results(Self.teams, [[1, "Arthur", "Blue"], [2, "Barbara", "Red"]])
    let second = try first.next([[1, "Art", "Blue"], [2, "Barbara", "Red"]]).results
    let third = try second.next([[1, "Art", "Blue"], [2, "Bea", "Red"]]).results
    let joined = third.changes(from: first)
    #expect(
      joined.text(Self.teams) == """
        update [0,0] -> [0,0] 1 name: 'Arthur'
        update [1,0] -> [1,0] 2 name: 'Barbara'
        """)
    try check(joined, from: first, to: third)
    #expect(first.changes(from: first).isEmpty)
  }

  @Test(arguments: [1, 10, 40], [2, 3, 5, 1000])
  func `records of blocks that move leave from the last to the first`(
    blockCount: Int, gap: Int
  ) throws {
    // Blocks of ten go before all others, the last of them first; records are gone everywhere.
    let rows = (0..<1000).map { [.integer($0), "a"] as [Value] }
    let moved = (0..<blockCount).map { (1000 - 20 * $0 - 10)..<(1000 - 20 * $0) }
    let isMoved = Set(moved.joined())
    let order = Array(moved.joined()) + (0..<1000).filter { !isMoved.contains($0) }
    let old = try Results(Self.plain, rows)
    let (new, changes) = try old.next(order.filter { $0 % gap != 1 }.map { rows[$0] })
    try check(changes, from: old, to: new)
    let departures = changes.recordChanges.filter { $0.oldPath != nil }.compactMap(\.oldPath?.item)
    #expect(departures == departures.sorted(by: >))
    #expect(departures.count == new.changes(from: old).recordChanges.count)
  }

  @Test func `changes that are read by position are those that are read in order`() throws {
    let old = try Results(Self.teams, (0..<40).map { [.integer($0), "a", .integer($0 / 5)] })
    let new = try old.next(
      (10..<50).map { [.integer($0), $0 % 3 == 0 ? "b" : "a", .integer($0 / 5)] })
    let inOrder = Array(new.changes.recordChanges)
    #expect(new.changes.recordChanges.indices.map { new.changes.recordChanges[$0] } == inOrder)
    #expect(
      ChangeSet(sectionChanges: new.changes.sectionChanges, recordChanges: inOrder) == new.changes)
  }
}
