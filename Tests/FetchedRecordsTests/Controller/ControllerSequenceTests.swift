import GRDB
import Testing

@testable import FetchedRecords

private let byName = Player.order(Column("name"))

@Suite struct `The sequences of a controller` {
  @Test func `values begin with the present state and go on with each commit`() async throws {
    let world = try ControllerWorld()
    let controller = try world.controller(byName)
    // Nothing was fetched yet.
    var values = world.onQueue { controller.values }.makeAsyncIterator()
    #expect(try await values.next()?.count == 3)
    try world.write("DELETE FROM player WHERE id = 1")
    #expect(try await values.next()?.count == 2)
    var others = world.onQueue { controller.values }.makeAsyncIterator()
    #expect(try await others.next()?.count == 2)
  }

  @Test func `throw where the query fails, and not before what came before`() async throws {
    let world = try ControllerWorld()
    let controller = try world.controller(byName)
    var values = world.onQueue { controller.values }.makeAsyncIterator()
    var changeSets = world.onQueue { controller.changeSets }.makeAsyncIterator()
    try world.write("ALTER TABLE player RENAME TO person", settling: controller)
    #expect(try await values.next()?.count == 3)
    await #expect(throws: (any Error).self) { try await values.next() }
    #expect(try await values.next() == nil)
    #expect(try await changeSets.next()?.isReset == true)
    await #expect(throws: (any Error).self) { try await changeSets.next() }
    // Who asks again is told what is there.
    try world.write("ALTER TABLE person RENAME TO player", settling: controller)
    var others = world.onQueue { controller.values }.makeAsyncIterator()
    #expect(try await others.next()?.count == 3)
    try world.write("DELETE FROM player WHERE id = 1")
    #expect(try await others.next()?.count == 2)
  }

  @Test func `values throw what the first fetch throws`() async throws {
    let world = try ControllerWorld()
    let controller = try world.controller(byName)
    try world.write("ALTER TABLE player RENAME TO person")
    var values = world.onQueue { controller.values }.makeAsyncIterator()
    await #expect(throws: (any Error).self) { try await values.next() }
  }

  @Test func `of key paths leave out updates of other columns`() async throws {
    let world = try ControllerWorld()
    let controller = try world.controller(byName)
    try world.onQueue { try controller.performFetch() }
    var changeSets = world.onQueue { controller.changeSets(of: \.name) }.makeAsyncIterator()
    #expect(try await changeSets.next()?.isReset == true)
    try world.write("UPDATE player SET score = 77 WHERE id = 1", settling: controller)
    async let next = changeSets.next()
    try world.write("UPDATE player SET name = name || '!' WHERE id = 2")
    let changes = try #require(try await next)
    #expect(changes.recordChanges.map { changes.record(of: $0).id } == [2])
  }
}
