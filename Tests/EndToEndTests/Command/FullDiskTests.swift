import Foundation
import TestSupport
import Testing

@Suite(
  .endToEnd,
  .enabled(
    if: SmallDisk.isAvailable, "a file system cannot be mounted here, not even in a namespace"))
struct `didchange serve, with no room for a cache` {
  private let folder: TemporaryFolder
  private let database: Database
  private let disk: SmallDisk
  private let configuration: String
  private let events = "/v1/queries/players/events"

  /// The database is elsewhere: its link is on the disk, and so are the caches beside it.
  init() throws {
    folder = try TemporaryFolder()
    database = try .make(folder.file("music.sqlite"), Teams.schema, journal: .wal)
    disk = try SmallDisk(at: folder.file("small"))
    _ = try disk.run("ln -s ../music.sqlite link.sqlite")
    configuration = try folder.write(
      """
      database: small/link.sqlite
      timeouts: {linger: 0}
      queries:
        players: {table: player, cache: true}
      """, to: "didchange.yaml")
  }

  private func serve() throws -> Command {
    try .serve(["--config", configuration], under: disk.command)
  }

  /// Follows the list from where a client was, through one commit; the list is let go after that.
  private func follow(
    _ command: Command, from model: ClientModel = ClientModel(), _ sql: String
  ) throws -> ClientModel {
    let options = EventStream.Options(lastEventID: model.version.isEmpty ? nil : model.version)
    let follower = Follower(EventStream(command.base, events, options), model: model)
    // Whoever has the present list goes on from it, whether or not it was let go meanwhile.
    if model.version.isEmpty { try follower.expectSnapshot() }
    #expect(try follower.stream.head().status == 200)
    try ForeignWriter(database.path).commit(sql)
    #expect(try follower.changes().count == 1)
    #expect(
      try database.select("SELECT * FROM player ORDER BY id")
        == follower.model.records.map(\.values))
    follower.stream.close()
    try eventually("the list is let go") {
      try HTTPClient(command.base).get("/metrics").text.contains("\ndidchange_controllers 0\n")
    }
    return follower.model
  }

  private func end(_ command: Command) throws {
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
  }

  @Test(.slow) func `says so once, goes on, and writes it when there is room again`() throws {
    try disk.fill()
    let first = try serve()
    var model = try follow(first, "UPDATE player SET score = 0 WHERE id = 1")
    try first.waitForLog("cannot write the cache")
    for score in 1...3 {
      model = try follow(first, "UPDATE player SET score = \(score) WHERE id = 1")
    }
    // What was begun is taken away again.
    #expect(try disk.run("ls") == "ballast\nlink.sqlite")
    try disk.makeRoom()
    model = try follow(first, "DELETE FROM player WHERE id = 1")
    #expect(try first.waitForLog("the cache can be written again") == [])
    try end(first)
    #expect(try disk.run("ls").contains("link.sqlite-fetched-players"))
    // A client goes on from what the cache has.
    let second = try serve()
    try ForeignWriter(database.path).commit("DELETE FROM player WHERE id = 2")
    let options = EventStream.Options(lastEventID: model.version)
    let resumed = Follower(EventStream(second.base, events, options), model: model)
    #expect(try resumed.changes().count == 1)
    #expect(resumed.model.records.map(\.key) == [[3], [4], [5], [6]])
    try disk.fill()
    try end(second)
    // The one that there was is whole, if older; who has the present list goes on from that.
    let third = try serve()
    var known = resumed.model
    known.ignoresCommits = true
    let anew = Follower(
      EventStream(third.base, events, .init(lastEventID: known.version)), model: known)
    #expect(try anew.stream.head().status == 200)
    try ForeignWriter(database.path).commit("DELETE FROM player WHERE id = 3")
    #expect(try anew.changes().count == 1)
    #expect(anew.model.records.map(\.key) == [[4], [5], [6]])
    #expect(try database.select("PRAGMA integrity_check").first?["integrity_check"] == "ok")
  }
}
