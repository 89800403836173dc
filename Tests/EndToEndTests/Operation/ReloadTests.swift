import CCurl
import Foundation
import TestSupport
import Testing

/// A server of the players whose configuration file changes under it.
final class ReloadedServer {
  let folder: TemporaryFolder
  let database: Database
  let command: Command
  let configuration: String

  init(_ text: String, _ arguments: [String] = [], files: [String: String] = [:]) throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    database = try .make(folder.file("music.sqlite"), Teams.schema, journal: .wal)
    for (name, text) in files { try folder.write(text, to: name) }
    configuration = try folder.write("database: music.sqlite\n" + text, to: "didchange.yaml")
    command = try Command.serve(
      ["--config", configuration] + arguments.map { $0.replacing("FOLDER", with: folder.path) })
  }

  /// Writes the file as an editor does that replaces it whole, and has it read.
  func reload(_ text: String, until line: String = "read the configuration again") throws {
    try folder.write("database: music.sqlite\n" + text, to: "didchange.yaml")
    try signal(until: line)
  }

  @discardableResult
  func signal(until line: String = "read the configuration again") throws -> [String] {
    command.process.signal(SIGHUP)
    return try command.waitForLog(line)
  }

  func follow(_ path: String) throws -> Follower {
    let follower = Follower(EventStream(command.base, path))
    try follower.expectSnapshot()
    return follower
  }

  func get(_ path: String, _ fields: [String] = []) throws -> HTTPClient.Answer {
    try HTTPClient(command.base).get(path, fields)
  }
}

@Suite(.endToEnd) struct `Reading the configuration again` {
  private static let players = "  players: {table: player, order: [name]}\n"

  @Test func `leaves streams of what did not change, and their versions`() throws {
    let server = try ReloadedServer("queries:\n" + Self.players)
    let follower = try server.follow("/v1/queries/players/events")
    let version = follower.model.version
    try server.reload(
      "queries:\n" + Self.players + "  reds: {table: player, where: team = 'Red'}\n")
    #expect(try server.get("/v1/queries/reds/records").json["numberOfRecords"].int == 2)
    let writer = try ForeignWriter(server.database.path)
    try writer.commit("UPDATE player SET score = 11 WHERE id = 1")
    #expect(
      try follower.changes() == [
        #"change {"type":"update","indexPath":[0,0],"newIndexPath":[0,0],"key":[1],"#
          + #""changes":{"score":10},"record":{"id":1,"name":"Ada","team":"Blue","score":11}}"#
      ])
    #expect(follower.stream.text.contains(#""from":"\#(version)""#))
  }

  @Test func `tells the difference where a condition changed`() throws {
    let server = try ReloadedServer("queries:\n  players: {table: player, where: score > 50}\n")
    let follower = try server.follow("/v1/queries/players/events")
    try server.reload("queries:\n  players: {table: player, where: score > 40}\n")
    #expect(
      try follower.changes() == [
        #"change {"type":"insertion","newIndexPath":[0,0],"key":[5],"#
          + #""record":{"id":5,"name":"Eve","team":"Red","score":50}}"#
      ])
  }

  @Test func `sends a snapshot where the columns are others`() throws {
    let server = try ReloadedServer("queries:\n" + Self.players)
    let streams = try [
      "/v1/queries/players/events", "/v1/queries/players/events?offset=1&limit=2",
    ].map { try server.follow($0) }
    try server.reload("queries:\n  players: {table: player, fields: [id, score], order: [id]}\n")
    for follower in streams {
      try follower.expectSnapshot()
      #expect(follower.model.records.first?.values.member("name") == nil)
      #expect(follower.model.records.first?.values.member("score") != nil)
    }
  }

  @Test func `ends what is gone after a whole event, and answers 204 to who comes back`() throws {
    let server = try ReloadedServer(
      "queries:\n" + Self.players + "  reds: {table: player, where: team = 'Red'}\n")
    let paths = [
      "/v1/queries/reds/events", "/v1/queries/reds/events?limit=1",
      "/v1/events?query=players&query=reds",
    ]
    let streams = paths.map { EventStream(server.command.base, $0) }
    for stream in streams { _ = try stream.next() }
    let left = try server.follow("/v1/queries/players/events")
    try server.reload("queries:\n" + Self.players)
    for stream in streams {
      #expect(try stream.end() == CURLE_OK)
      #expect(stream.text.hasSuffix("\n\n"))
    }
    for path in paths {
      #expect(try server.get(path, ["Last-Event-ID: x.1"]).status == 204)
    }
    #expect(try server.get("/v1/queries/reds/records").status == 404)
    let writer = try ForeignWriter(server.database.path)
    try writer.commit("DELETE FROM player WHERE id = 1")
    #expect(try left.changes().count == 1)
  }

  @Test func `ends streams whose parameters are others, which come back`() throws {
    let query =
      "  players: {table: player, where: team = :team, "
      + "parameters: {team: {type: text, default: %}}}\n"
    let server = try ReloadedServer("queries:\n" + query.replacing("%", with: "Red"))
    let follower = try server.follow("/v1/queries/players/events")
    #expect(follower.model.records.count == 2)
    try server.reload("queries:\n" + query.replacing("%", with: "Green"))
    #expect(try follower.stream.end() == CURLE_OK)
    let after = try server.follow("/v1/queries/players/events")
    #expect(after.model.records.count == 1)
  }

  @Test(arguments: [
    ("queries:\n  players: {table: plaier}\n", "didchange.yaml:3:20: "),
    ("queries:\n  players: {table: player\n", "didchange.yaml:4:1: "),
    ("queries:\n  players: {tabel: player}\n", "didchange.yaml:3:13: "),
    ("", "didchange.yaml:1:1: "),
  ])
  func `leaves all as it was where there is a problem`(text: String, place: String) throws {
    let server = try ReloadedServer("queries:\n" + Self.players)
    let follower = try server.follow("/v1/queries/players/events")
    try server.folder.write(
      text.isEmpty ? "" : "database: music.sqlite\n" + text, to: "didchange.yaml")
    server.command.process.signal(SIGHUP)
    let line = try #require(
      try server.command.line(with: "the configuration stays as it was: "))
    #expect(line.contains(place))
    let writer = try ForeignWriter(server.database.path)
    try writer.commit("DELETE FROM player WHERE id = 1")
    #expect(try follower.changes().count == 1)
    // And goes on from there.
    try server.reload("queries:\n  others: {table: player}\n")
    #expect(try server.get("/v1/queries/others/records").status == 200)
  }

  @Test func `leaves all as it was where the file is gone or may not be read`() throws {
    let server = try ReloadedServer("queries:\n" + Self.players)
    try FileManager.default.removeItem(atPath: server.configuration)
    try server.signal(until: "didchange.yaml:1:1: there is no such file")
    #expect(try server.get("/v1/queries/players/records").status == 200)
  }

  @Test func `says what waits for a restart`() throws {
    let server = try ReloadedServer("queries:\n" + Self.players)
    try server.reload(
      "limits: {controllers: 7, readers: 2}\nqueries:\n" + Self.players,
      until: "`limits: readers, resultRows, resultBytes or memory` was changed, and is read at the")
    try server.command.waitForLog("`limits: controllers and what follows it` was changed")
    #expect(try server.get("/v1/queries/players/records").status == 200)
  }

  @Test func `goes by other hosts, origins and time-outs`() throws {
    let server = try ReloadedServer("queries:\n" + Self.players)
    let path = "/v1/queries/players/records"
    #expect(try server.get(path, ["Host: other.example"]).status == 200)
    try server.reload(
      "hosts: [127.0.0.1]\ncors: [\"https://a.example\"]\nqueries:\n" + Self.players)
    #expect(try server.get(path, ["Host: other.example"]).status == 421)
    let answer = try server.get(path, ["Origin: https://a.example"])
    #expect(answer.head["access-control-allow-origin"] == "https://a.example")
  }

  @Test func `writes an access log from then on`() throws {
    let server = try ReloadedServer("queries:\n" + Self.players)
    try server.reload("accessLog: \"{method} {route} now\"\nqueries:\n" + Self.players)
    _ = try server.get("/v1/queries")
    try server.command.waitForLog("GET /v1/queries now")
    try server.reload("accessLog: \"{method} {route} then\"\nqueries:\n" + Self.players)
    _ = try server.get("/v1/queries")
    try server.command.waitForLog("GET /v1/queries then")
  }

  @Test func `is asked for by didchange reload`() throws {
    let server = try ReloadedServer(
      "queries:\n" + Self.players, ["--pid-file", "FOLDER/didchange.pid"])
    let file = server.folder.file("didchange.pid")
    #expect(
      try String(contentsOfFile: file, encoding: .utf8) == "\(server.command.process.identifier)\n")
    try server.folder.write(
      "database: music.sqlite\nqueries: {others: {table: player}}", to: "didchange.yaml")
    #expect(try Command.run(["reload", "--pid-file", file]).exitCode == 0)
    try server.command.waitForLog("read the configuration again")
    #expect(try server.get("/v1/queries/others/records").status == 200)
    let process = "\(server.command.process.identifier)"
    #expect(try Command.run(["reload", "--pid", process]).exitCode == 0)
    try server.command.waitForLog("read the configuration again")
    let second = try Command.run(
      ["serve", "--port", "0", "--pid-file", file, server.database.path])
    #expect(second.exitCode == 1)
    #expect(second.errors.contains("another server, process \(process), has this file"))
    try server.command.process.kill9()
    let late = try Command.run(["reload", "--pid-file", file])
    #expect(late.exitCode == 1)
    #expect(late.errors.contains("no server has this file, which one left behind"))
  }

  @Test(arguments: [[], ["--pid", "0"], ["--pid", "1"], ["--pid", "-1"]])
  func `names one server`(arguments: [String]) throws {
    #expect(try Command.run(["reload"] + arguments).exitCode == 64)
  }

  /// How many signals a storm has.
  private static let signals =
    ProcessInfo.processInfo.environment["SIGHUPS"].flatMap { Int($0) } ?? 300

  /// Each of a storm of signals reads another configuration, half of them broken.
  @Test func `in a storm loses no commit and no stream, and does not grow`() throws {
    let server = try ReloadedServer("queries:\n" + Self.players)
    let followers = try (1...20).map { _ in try server.follow("/v1/queries/players/events") }
    let writer = try ForeignWriter(server.database.path)
    let rounds = Self.signals / 5
    var memory = 0
    for round in 1...rounds {
      if round == rounds / 3 { memory = try server.command.bytes("VmRSS") }
      let other =
        round.isMultiple(of: 2) ? "  half: {table: pla" : "  other\(round): {table: player}\n"
      try server.folder.write(
        "database: music.sqlite\nqueries:\n" + Self.players + other, to: "didchange.yaml")
      for _ in 0..<5 { server.command.process.signal(SIGHUP) }
      try writer.commit("INSERT INTO player VALUES (\(100 + round), 'New', 'Red', \(round))")
      for follower in followers { #expect(try follower.changes().count == 1) }
    }
    for follower in followers { #expect(follower.model.records.count == 6 + rounds) }
    let grown = try server.command.bytes("VmRSS") - memory
    #expect(grown < 8 << 20, "\(grown) bytes in \(rounds * 10 / 3) signals")
    #expect(server.command.process.isRunning)
  }
}
