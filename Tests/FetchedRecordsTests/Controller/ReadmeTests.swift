import FetchedRecords
import GRDB
import OrderedResults
import TestSupport
import Testing

/// README.md has the lines from `let controller` to `performFetch`; Tests/BrowserTests compares them.
@MainActor @Suite struct `The controller of the README` {
  @Test(.timeLimit(.minutes(1))) func `tells of a move`() async throws {
    let folder = try TemporaryFolder()
    let dbPool = try DatabasePool(path: folder.file("music.sqlite"))
    try await dbPool.write {
      try $0.execute(
        sql: """
          CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER DEFAULT 0);
          INSERT INTO player (name, team) VALUES ('Ada', 'Blue'), ('Barbara', 'Blue'), ('Cy', 'Red');
          """)
    }
    let (told, teller) = AsyncStream.makeStream(of: String.self)

    let controller = try FetchedRecordsController(
      dbPool, request: Player.order(Column("name")), sectionName: Column("team"))
    controller.trackChanges(
      willChange: { _ in teller.yield("willChange") },
      onChange: { controller, record, change in teller.yield("\(record.name): \(change)") },
      didChange: { _ in teller.yield("didChange") })
    try controller.performFetch()

    try await dbPool.write {
      try $0.execute(sql: "UPDATE player SET team = 'Red' WHERE name = 'Barbara'")
    }
    var events: [String] = []
    for await event in told.prefix(3) { events.append(event) }
    #expect(events.first == "willChange")
    #expect(events.last == "didChange")
    #expect(events[1].hasPrefix("Barbara: move"))
    #expect(controller.sections.map(\.numberOfRecords) == [1, 2])
  }
}
