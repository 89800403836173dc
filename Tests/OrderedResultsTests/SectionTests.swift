import Testing

@testable import OrderedResults

@Suite struct SectionTests {
  static let layout = RecordLayout(
    columns: ["id", "team"], key: [0], keyIsUnique: true, section: 1)
  static let titled = RecordLayout(
    columns: ["id", "team", "title"], key: [0], keyIsUnique: true, section: 1, sectionIndexTitle: 2)

  @Test func `NULL, empty and names that differ in case are different sections`() throws {
    let results = try Results(
      Self.layout, [[1, nil], [2, ""], [3, "a"], [4, "A"], [5, .blob([])], [6, .blob([97])]])
    try results.checkInvariants()
    #expect(
      results.sections.map(\.name) == [nil, "", "a", "A", .blob([]), .blob([97])] as [Value])
    #expect(results.sections.map(\.indexTitle) == ["", "", "A", "A", "", "A"])
    #expect(results.sections.map(\.offset) == [0, 1, 2, 3, 4, 5])
  }

  @Test func `1 and 1.0 are one section, named by the integer, and '1' is another`() throws {
    let rows: [[Value]] = [[1, 1], [2, 1.0], [3, 1], [4, "1"], [5, 1.5], [6, 0], [7, -0.0]]
    let results = try Results(Self.layout, rows)
    try results.checkInvariants()
    #expect(results.sections.map(\.name) == [1, "1", 1.5, 0] as [Value])
    #expect(results.sections.map(\.numberOfRecords) == [3, 1, 1, 2])
    #expect(results.rows == rows)
  }

  @Test func `a section whose name changes from 1 to 1.0 is kept`() throws {
    try expectChanges(
      Self.layout, from: [[1, 1], [2, 1]], to: [[1, 1.0], [2, 1.0]],
      "update [0,0] -> [0,0] 1 team: 1", "update [0,1] -> [0,1] 2 team: 1")
  }

  @Test(
    arguments: [
      ("Blue", "B"), ("éclair", "É"), ("ßtrasse", "SS"), ("🇫🇷 x", "🇫🇷"), (42, "4"), (-3, "-"),
      (2.5, "2"), (nil, ""), ("", ""), (.text([0xFF, 0x41]), "\u{FFFD}"),
    ] as [(Value, String)])
  func `the index title is the first character of the name, upper-cased`(
    name: Value, title: String
  ) throws {
    #expect(try Results(Self.layout, [[1, name]]).sections[0].indexTitle == title)
  }

  @Test func `a title column gives the title of the section's first record`() throws {
    let results = try Results(
      Self.titled, [[1, "x", "First"], [2, "x", "Second"], [3, "y", nil], [4, "z", 7]])
    #expect(results.sections.map(\.indexTitle) == ["First", "", "7"])
  }

  @Test func `a section whose index title changes is deleted and inserted`() throws {
    try expectChanges(
      Self.titled, from: [[1, "x", "X"], [2, "x", "X"], [3, "y", "Y"]],
      to: [[1, "x", "Z"], [2, "x", "X"], [3, "y", "Y"]],
      "- section 0 'x'/X", "+ section 0 'x'/Z", "move [0,1] -> [0,1] 2",
      "move [0,0] -> [0,0] 1 title: 'X'")
  }

  @Test func `losing its first record can change a section's index title`() throws {
    try expectChanges(
      Self.titled, from: [[1, "x", "X"], [2, "x", "Z"]], to: [[2, "x", "Z"]],
      "- section 0 'x'/X", "+ section 0 'x'/Z", "move [0,1] -> [0,0] 2", "deletion [0,0] 1")
  }

  @Test func `a section that comes back after another is refused, with the record`() throws {
    let rows: [[Value]] = [[1, "Blue"], [2, "Red"], [7, "Blue"], [8, "Red"]]
    let expected = SectionError(name: "Blue", offset: 2, key: [7], firstOffset: 0)
    #expect(throws: expected) { try Results(Self.layout, rows) }
    let old = try Results(Self.layout, [[1, "Blue"], [2, "Red"], [3, "Red"]])
    #expect(throws: expected) { try old.next(rows) }
    #expect(throws: SectionError(name: "Blue", offset: 2, key: [1], firstOffset: 0)) {
      try old.next([[4, "Blue"], [2, "Red"], [1, "Blue"]])
    }
  }

  @Test func `many sections of one record each are kept through one change`() throws {
    let rows = (0..<1000).map { [.integer($0), .text("team \($0)")] as [Value] }
    var changed = rows
    changed.remove(at: 500)
    try expectChanges(
      Self.layout, from: rows, to: changed, "- section 500 'team 500'/T", "deletion [500,0] 500")
  }
}
