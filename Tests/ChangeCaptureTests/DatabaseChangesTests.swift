import Testing

@testable import ChangeCapture

@Suite struct DatabaseChangesTests {
  @Test func `joined changes are all of them, with all their reasons`() {
    var changes = DatabaseChanges.nothing
    #expect(changes.isNothing)
    changes.formUnion(.nothing)
    #expect(changes == .nothing)
    changes.formUnion(.everything(.commit))
    changes.formUnion(.nothing)
    changes.formUnion(.everything([.noFile, .firstLook]))
    #expect(changes.extent == .everything)
    #expect(changes.reasons.names == ["firstLook", "commit", "noFile"])
  }

  @Test func `joined tables have the rows of both, or are whole`() {
    var changes = DatabaseChanges.tables(["a": .rows([1, 5]), "b": .rows([1])])
    changes.formUnion(.tables(["a": .rows([2]), "b": .whole(.schema)], schemaChanged: true))
    changes.formUnion(.tables(["b": .rows([7]), "c": .rows([3])]))
    #expect(
      changes
        == .tables(
          ["a": .rows([1, 2, 5]), "b": .whole(.schema), "c": .rows([3])], schemaChanged: true))
    #expect(changes[table: "A"] == .rows([1, 2, 5]))
    #expect(changes[table: "d"] == nil)
    changes.formUnion(.everything(.commit))
    #expect(changes.extent == .everything)
    #expect(changes[table: "d"] != nil)
  }

  @Test func `tables of which many rows changed can be named as a whole`() {
    let changes = DatabaseChanges.tables([
      "a": .rows([1, 5]), "b": .rows([1, 2, 3]), "c": .whole(.schema),
    ])
    #expect(changes.naming(atMost: 3) == changes)
    #expect(
      changes.naming(atMost: 2)
        == .tables(["a": .rows([1, 5]), "b": .whole(.manyRows), "c": .whole(.schema)]))
    #expect(DatabaseChanges.nothing.naming(atMost: 0) == .nothing)
  }
}
