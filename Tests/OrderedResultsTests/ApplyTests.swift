import TestSupport
import Testing

@testable import OrderedResults

@Suite struct ApplyTests {
  static let layout = RecordLayout(
    columns: ["id", "team"], key: [0], keyIsUnique: true, section: 1)

  let old: Results
  let fourth = Record([4, "Red"])

  init() throws { old = try Results(Self.layout, [[1, "Blue"], [2, "Blue"], [3, "Red"]]) }

  func path(_ section: Int, _ item: Int) -> IndexPath { IndexPath(section: section, item: item) }

  func error(_ sections: [SectionChange] = [], _ records: RecordChange...) -> ApplyError? {
    do {
      let new = try PlainResults(old).applying(
        ChangeSet(sectionChanges: sections, recordChanges: records))
      Issue.record("applied: \(new)")
      return nil
    } catch { return error }
  }

  @Test func `a change set that moves more than it must is applied all the same`() throws {
    let new = try PlainResults(old).applying(
      ChangeSet(
        sectionChanges: [
          .deletion(section: 1, name: "Red", indexTitle: "R"),
          .deletion(section: 0, name: "Blue", indexTitle: "B"),
          .insertion(section: 0, name: "Green", indexTitle: "G"),
        ],
        recordChanges: [
          .move(from: path(1, 0), to: path(0, 2), old: old[2], new: old[2]),
          .deletion(at: path(0, 1), record: old[1]),
          .move(from: path(0, 0), to: path(0, 1), old: old[0], new: old[0]),
          .insertion(at: path(0, 0), record: fourth),
        ]))
    #expect(new.sections.map(\.name) == ["Green"])
    #expect(new.sections.map(\.indexTitle) == ["G"])
    #expect(new.sections.map(new.rows) == [[[4, "Red"], [1, "Blue"], [3, "Red"]]])
  }

  @Test func `records that are not there cannot be taken out`() {
    #expect(error([], .deletion(at: path(0, 2), record: old[0])) == .noRecord(at: path(0, 2)))
    #expect(error([], .deletion(at: path(2, 0), record: old[0])) == .noRecord(at: path(2, 0)))
    #expect(error([], .deletion(at: path(0, -1), record: old[0])) == .noRecord(at: path(0, -1)))
    #expect(error([], .deletion(at: path(0, 1), record: old[0])) == .otherRecord(at: path(0, 1)))
    #expect(
      error([], .move(from: path(0, 1), to: path(0, 0), old: old[0], new: old[0]))
        == .otherRecord(at: path(0, 1)))
  }

  @Test func `records cannot be put where there is no place`() {
    #expect(error([], .insertion(at: path(1, 2), record: fourth)) == .noPlace(at: path(1, 2)))
    #expect(error([], .insertion(at: path(2, 0), record: fourth)) == .noPlace(at: path(2, 0)))
    #expect(error([], .insertion(at: path(-1, 0), record: fourth)) == .noPlace(at: path(-1, 0)))
    #expect(
      error(
        [], .move(from: path(1, 0), to: path(0, 4), old: old[2], new: old[2]))
        == .noPlace(at: path(0, 4)))
  }

  @Test func `an update names a record that stays, and both of its places`() {
    let change = { (from: IndexPath, to: IndexPath, record: Record) in
      RecordChange.update(from: from, to: to, old: record, new: Record([2, "Azure"]))
    }
    #expect(error([], change(path(0, 2), path(0, 2), old[1])) == .noRecord(at: path(0, 2)))
    #expect(error([], change(path(0, 1), path(0, 1), old[0])) == .otherRecord(at: path(0, 1)))
    #expect(error([], change(path(0, 0), path(0, 1), old[1])) == .otherRecord(at: path(0, 1)))
    // A record that was just inserted is not one that stayed.
    #expect(
      error(
        [], .insertion(at: path(0, 0), record: fourth), change(path(0, 0), path(0, 0), fourth))
        == .noRecord(at: path(0, 0)))
  }

  @Test func `changes come in the order of the contract, and name a record once`() {
    let (first, second) = (
      RecordChange.deletion(at: path(0, 0), record: old[0]),
      RecordChange.deletion(at: path(0, 1), record: old[1])
    )
    #expect(error([], first, second) == .outOfOrder(path(0, 1)))
    #expect(error([], first, first) == .outOfOrder(path(0, 0)))
    let insertion = RecordChange.insertion(at: path(0, 0), record: fourth)
    #expect(error([], insertion, first) == .outOfOrder(path(0, 0)))
    #expect(error([], insertion, insertion) == .outOfOrder(path(0, 0)))
    let move = RecordChange.move(from: path(1, 0), to: path(0, 0), old: old[2], new: old[2])
    #expect(error([], move, insertion) == .outOfOrder(path(0, 0)))
  }

  @Test func `sections must be there, empty, and in order`() {
    let (red, blue) = (
      SectionChange.deletion(section: 1, name: "Red", indexTitle: "R"),
      SectionChange.deletion(section: 0, name: "Blue", indexTitle: "B")
    )
    let (first, second, third) = (
      RecordChange.deletion(at: path(0, 0), record: old[0]),
      RecordChange.deletion(at: path(0, 1), record: old[1]),
      RecordChange.deletion(at: path(1, 0), record: old[2])
    )
    #expect(error([red]) == .sectionNotEmpty(1, numberOfRecords: 1))
    #expect(error([blue], first) == .sectionNotEmpty(0, numberOfRecords: 1))
    #expect(error([blue, red], third, second, first) == .sectionOutOfOrder(1))
    #expect(error([red, red], third) == .sectionOutOfOrder(1))
    #expect(error([.deletion(section: 2, name: nil, indexTitle: "")]) == .noSection(2))
    #expect(error([.deletion(section: -1, name: nil, indexTitle: "")]) == .noSection(-1))
    #expect(error([.deletion(section: 1, name: "Red", indexTitle: "r")], third) == .otherSection(1))
    let green = SectionChange.insertion(section: 3, name: "Green", indexTitle: "G")
    #expect(error([green]) == .noPlaceForSection(3))
    let zero = SectionChange.insertion(section: 0, name: "0", indexTitle: "0")
    #expect(error([zero, zero]) == .sectionOutOfOrder(0))
    #expect(error([zero, red], third) == .sectionOutOfOrder(1))
    #expect(error([.insertion(section: -1, name: nil, indexTitle: "")]) == .sectionOutOfOrder(-1))
  }
}
