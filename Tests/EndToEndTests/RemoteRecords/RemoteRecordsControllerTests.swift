import Foundation
import RecordsAPI
import Testing

@testable import FetchedRecordsClient

/// The Swift client on a real server, and a real database that another process writes to.
@Suite(.promptTasks, .endToEnd) struct `A remote controller` {
  struct Player: Decodable, Sendable, Equatable {
    var id: Int
    var name: String
    var team: String?
    var score: Int
  }

  private static let queries =
    Teams.query + """

      some: {table: player, where: "score >= :least", order: [name], parameters: {least: {type: integer}}}
      ordered: {table: player, orders: {name: [name], best: [score DESC]}}
      totals: {table: player, order: [name], alongside: {n: SELECT count(*) FROM player}}
      """

  private func fixture(_ words: String = "", heartbeat: Duration? = nil) throws -> ServerFixture {
    try ServerFixture(Teams.schema, queries: Self.queries, words: words) {
      if let heartbeat { $0.heartbeat = heartbeat }
    }
  }

  private func names(_ records: RemoteRecords<Player>) -> [[String]] {
    records.sections.map { $0.records.map(\.name) }
  }

  @Test func `shows the present state, and then what changes`() throws {
    let fixture = try fixture()
    let controller = RemoteRecordsController<Player>(try fixture.query("players"))
    let spectator = Spectator(controller)
    let first = try spectator.wait(for: "records") { $0.changes.first }
    #expect(first.isReset && first.recordChanges.isEmpty && first.old.isEmpty)
    #expect(names(first.new) == [["Ada", "Bob", "Cy"], ["Dan"], ["Eve", "Fay"]])
    #expect(first.new.sections.map(\.name) == ["Blue", "Green", "Red"])
    #expect(first.new.sectionIndexTitles == ["B", "G", "R"])
    let writer = try fixture.writer()
    try writer.commit(
      "UPDATE player SET team = 'Red' WHERE id = 4; UPDATE player SET score = 11 WHERE id = 1")
    let changes = try spectator.wait(for: "the change") { $0.changes.dropFirst().first }
    #expect(changes.sectionChanges == [.deletion(index: 1, name: .text("Green"))])
    #expect(
      changes.recordChanges == [
        .move(
          indexPath: [1, 0], newIndexPath: [1, 0], changes: ["team": .text("Green")]),
        .update(indexPath: [0, 0], newIndexPath: [0, 0], changes: ["score": .integer(10)]),
      ])
    #expect(changes.recordChanges.map { changes.record(of: $0).id } == [4, 1])
    #expect(names(changes.new) == [["Ada", "Bob", "Cy"], ["Dan", "Eve", "Fay"]])
    #expect(!changes.isReset && changes.new.commit > first.new.commit)
    try spectator.wait(until: "it is live") { $0.state == .live }
  }

  @Test func `shows what is read alongside`() throws {
    let fixture = try fixture()
    let spectator = Spectator(RemoteRecordsController<Player>(try fixture.query("totals")))
    try spectator.wait(until: "six") { $0.records.alongside == ["n": .integer(6)] }
    try fixture.writer().commit("DELETE FROM player WHERE id < 3")
    try spectator.wait(until: "four") { $0.records.alongside == ["n": .integer(4)] }
  }

  @Test @MainActor func `calls back as the library's does, on the main actor`() async throws {
    let fixture = try fixture()
    let players = RemoteRecordsController<Player>(try fixture.query("players"))
    var words: [String] = []
    players.trackResets { words.append("reset \($0.numberOfRecords)") }
    players.trackChanges(
      willChange: { words.append("will \($0[[0, 1]].name)") },
      onSectionChange: { words.append("section \($1)") },
      onChange: {
        words.append(
          "\($1.name) \($2.oldIndexPath ?? []) \($2.newIndexPath ?? []) of \($0.sections.count)")
      },
      didChange: { words.append("did \($0[[0, 1]].name)") })
    players.didChange { words.append("set \($1.recordChanges.count)") }
    #expect(players.state == .connecting && players.sections.isEmpty)
    func wait(for count: Int) async throws {
      let deadline = ContinuousClock.now + .seconds(patience)
      while words.count < count {
        guard .now < deadline else { throw TimedOut("\(words)") }
        await Task.yield()
      }
    }
    try await wait(for: 2)
    #expect(words == ["reset 6", "set 0"])
    try fixture.writer().commit("DELETE FROM player WHERE id = 2")
    try await wait(for: 6)
    #expect(
      words.dropFirst(2) == ["will Bob", "Bob [0, 1] [] of 3", "did Cy", "set 1"])
    #expect(players.sections.map(\.numberOfRecords) == [2, 1, 2])
    players.close()
    while players.state != .closed { await Task.yield() }
    #expect(players.numberOfRecords == 5)
  }

  @Test func `goes on to other parameters by the difference`() throws {
    let fixture = try fixture()
    let controller = RemoteRecordsController<Player>(
      try fixture.query("some"), parameters: ["least": 30])
    let spectator = Spectator(controller)
    try spectator.wait(until: "four") { $0.records.map(\.id) == [3, 4, 5, 6] }
    spectator.ask { $0.parameters = ["least": "10"] }
    spectator.ask { $0.parameters = ["least": "20"] }
    let changes = try spectator.wait(for: "another request") { $0.changes.dropFirst().first }
    #expect(!changes.isReset && changes.recordChanges == [.insertion(indexPath: [0, 0])])
    #expect(changes.new.map(\.id) == [2, 3, 4, 5, 6])
    try spectator.wait(until: "it is shown") { $0.shown?.parameters == ["least": "20"] }
    // The same records: no difference comes.
    spectator.ask { $0.parameters = ["least": "19"] }
    try spectator.wait(until: "it is shown") { $0.shown?.parameters == ["least": "19"] }
    #expect(spectator.read { $0.changes.count } == 2)
    try fixture.writer().commit("UPDATE player SET score = 19 WHERE id = 1")
    try spectator.wait(until: "it goes on") { $0.records.count == 6 }
    // One that is refused, and back.
    spectator.ask { $0.parameters = ["least": "many"] }
    try spectator.wait(until: "the refusal") { $0.state == .closed }
    #expect(spectator.read { $0.troubles.last?.status } == 400)
    spectator.ask { $0.parameters = ["least": "60"] }
    try spectator.wait(for: "its end") { $0.end }
    let other = Spectator(controller)
    try other.wait(until: "one") { $0.records.map(\.id) == [6] && $0.state == .live }
  }

  @Test func `goes on to another order and another window`() throws {
    let fixture = try fixture()
    let spectator = Spectator(
      RemoteRecordsController<Player>(try fixture.query("ordered?order=best"), window: 0..<2))
    try spectator.wait(until: "the best") { $0.records.map(\.id) == [6, 5] }
    #expect(spectator.read { $0.records.totalNumberOfRecords } == 6)
    spectator.ask { $0.window = 1..<4 }
    try spectator.wait(until: "the next") { $0.records.map(\.id) == [5, 4, 3] }
    spectator.ask {
      $0.order = nil
      $0.window = nil
    }
    try spectator.wait(until: "all by name") { $0.records.map(\.id) == [1, 2, 3, 4, 5, 6] }
  }

  @Test func `throws where the server refuses`() throws {
    let fixture = try fixture()
    for (query, status) in [("playrs", 404), ("some", 400), ("players?x=1", 400)] {
      let spectator = Spectator(RemoteRecordsController<Player>(try fixture.query(query)))
      let end = try spectator.wait(for: "its end") { $0.end }
      let error = #expect(throws: RemoteRecordsError.self) { try end.get() }
      #expect(
        error?.reason == .refused && error?.status == status && error?.detail.isEmpty == false)
      try spectator.wait(until: "it is closed") { $0.state == .closed }
    }
    let url = try #require(URL(string: "\(fixture.base)/v1/queries"))
    let spectator = Spectator(RemoteRecordsController<Player>(url))
    let end = try spectator.wait(for: "its end") { $0.end }
    #expect(#expect(throws: RemoteRecordsError.self) { try end.get() }?.reason == .address)
  }

  @Test func `throws where a record is none, and goes on with others`() throws {
    let fixture = try fixture()
    let writer = try fixture.writer()
    try writer.commit("UPDATE player SET score = 'many' WHERE id = 3")
    let controller = RemoteRecordsController<Player>(try fixture.query("players"))
    let spectator = Spectator(controller)
    let end = try spectator.wait(for: "its end") { $0.end }
    let error = #expect(throws: RemoteRecordsError.self) { try end.get() }
    #expect(error?.reason == .undecodable && error?.underlyingError is DecodingError)
    #expect(error?.description.contains("score") == true)
    try writer.commit("UPDATE player SET score = 3 WHERE id = 3")
    try spectator.wait(until: "it is live") { $0.state == .live }
    let other = Spectator(controller)
    try other.wait(until: "all") { $0.records.count == 6 }
    try fixture.writer().commit("INSERT INTO player VALUES (7, NULL, 'Red', 1)")
    #expect(throws: RemoteRecordsError.self) { try other.wait(for: "its end") { $0.end }.get() }
  }

  @Test func `ends where the query is gone`() throws {
    let text = "queries:\n  others: {table: player}\n"
    let server = try ReloadedServer(text + "  players: {table: player}\n")
    let url = try #require(URL(string: "\(server.command.base)/v1/queries/players"))
    let spectator = Spectator(
      RemoteRecordsController<Player>(url, settings: LinkSettings(longestWait: .milliseconds(20))))
    try spectator.wait(until: "it is live") { $0.state == .live }
    try server.reload(text)
    let end = try spectator.wait(for: "its end") { $0.end }
    #expect(throws: Never.self) { try end.get() }
    try spectator.wait(until: "it is closed") { $0.state == .closed }
    #expect(spectator.read { $0.records.count } == 6 && spectator.read(\.troubles).isEmpty)
  }

  @Test func `closes its stream when it is let go`() throws {
    let fixture = try fixture()
    func streams() throws -> Int {
      let text = try fixture.get("/metrics").text
      let line = text.split(separator: "\n").first { $0.hasPrefix("didchange_streams ") }
      return line.flatMap { Int($0.split(separator: " ")[1]) } ?? -1
    }
    do {
      let spectator = Spectator(RemoteRecordsController<Player>(try fixture.query("players")))
      try spectator.wait(until: "it is live") { $0.state == .live }
      try #require(try streams() == 1)
    }
    try eventually("the stream is closed") { try streams() == 0 }
  }

  @Test func `gives the bytes of a BLOB by its URL`() async throws {
    struct Pet: Decodable, Sendable {
      var id: Int
      var photo: RemoteBlob?
    }
    let fixture = try ServerFixture(
      "CREATE TABLE pet (id INTEGER PRIMARY KEY, photo BLOB); INSERT INTO pet VALUES (1, x'00FF10')",
      queries: "pets: {table: pet, columns: {photo: {blob: image/png}}}")
    let pets = RemoteRecordsController<Pet>(try fixture.query("pets"))
    let spectator = Spectator(pets)
    let blob = try spectator.wait(for: "the pet") { $0.records.first?.photo }
    #expect(try await pets.data(of: blob) == Data([0, 255, 16]))
    await #expect(throws: RemoteRecordsError.self) {
      try await pets.data(of: RemoteBlob(url: "records/2/photo", bytes: 1))
    }
    await #expect(throws: RemoteRecordsError.self) {
      try await pets.data(of: RemoteBlob(url: "http://example.org/x", bytes: 1))
    }
  }
}
