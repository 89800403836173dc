import CCurl
// Beside a module of C's own the compiler finds timespec's members here.
import CoreFoundation
import Foundation
import TestSupport
import Testing

@Suite(.endToEnd) struct `Under a service manager` {
  private let folder: TemporaryFolder
  private let database: Database

  init() throws {
    folder = try TemporaryFolder()
    database = try .make(folder.file("music.sqlite"), Teams.schema, journal: .wal)
  }

  @Test(arguments: [false, true])
  func `says when it is ready, reads its configuration again, and ends`(isAbstract: Bool) throws {
    let name = isAbstract ? "@didchange-\(UUID())" : folder.file("notify")
    let manager = try ManagerSocket(notifyingAt: name)
    let command = try Command.serve([database.path], under: ["env", "NOTIFY_SOCKET=\(name)"])
    #expect(try manager.receive() == "READY=1")
    command.process.signal(SIGHUP)
    let reloading = try manager.receive()
    let match = try #require(reloading.wholeMatch(of: /RELOADING=1\nMONOTONIC_USEC=(\d+)/))
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let time = try #require(Int(match.1))
    #expect(time <= now.tv_sec * 1_000_000 + now.tv_nsec / 1000)
    #expect(time > (now.tv_sec - 3600) * 1_000_000)
    #expect(try manager.receive() == "READY=1")
    command.process.signal(SIGTERM)
    #expect(try manager.receive() == "STOPPING=1")
    #expect(try command.process.exitCode() == 0)
  }

  @Test(arguments: ["/nowhere/notify", "@", "nothing", "/" + String(repeating: "x", count: 200)])
  func `serves where nobody is to be told`(name: String) throws {
    let command = try Command.serve([database.path], under: ["env", "NOTIFY_SOCKET=\(name)"])
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
  }

  @Test func `listens on the socket that it is handed`() throws {
    let socket = try ManagerSocket()
    let command = try Command.serve(
      [database.path], under: Command.activated, passing: socket.descriptor)
    #expect(command.base == "http://127.0.0.1:\(socket.port)")
    #expect(try HTTPClient(command.base).get("/v1/queries").status == 200)
  }

  @Test func `refuses what is no socket`() throws {
    let file = open(database.path, O_RDONLY)
    defer { close(file) }
    let command = try Command(
      ["serve", database.path], under: Command.activated, passing: file)
    #expect(try command.process.exitCode() == 1)
    let errors = try command.process.errors.rest().joined()
    #expect(errors.contains("LISTEN_FDS names descriptor 3, which is no socket that listens"))
  }

  /// A new program in the place of an old one, as a package does that is upgraded.
  @Test func `takes over 200 clients, of whom none is refused and none starts over`() throws {
    let socket = try ManagerSocket()
    let old = try Command.serve(
      [database.path], under: Command.activated, passing: socket.descriptor)
    let path = "/v1/queries/player/events"
    let before = (1...200).map { _ in Follower(EventStream(old.base, path)) }
    for follower in before { try follower.expectSnapshot() }
    old.process.signal(SIGTERM)
    for follower in before { #expect(try follower.stream.end() == CURLE_OK) }
    #expect(try old.process.exitCode() == 0)
    // They come back before the new one is there.
    let after = before.map { follower in
      Follower(
        EventStream(old.base, path, .init(lastEventID: follower.model.version)),
        model: follower.model)
    }
    let new = try Command.serve(
      [database.path], under: Command.activated, passing: socket.descriptor)
    for follower in after { #expect(try follower.stream.head().status == 200) }
    let writer = try ForeignWriter(database.path)
    try writer.commit("UPDATE player SET score = 0 WHERE id = 1")
    for follower in after { #expect(try follower.changes().count == 1) }
    #expect(new.process.isRunning)
  }
}
