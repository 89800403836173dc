import Foundation
import TestSupport
import Testing

/// What others could reach who should not.
@Suite(.endToEnd) struct `didchange serve keeps to itself` {
  private let folder: TemporaryFolder
  private let page: String
  private let database: Database

  init() throws {
    folder = try TemporaryFolder()
    page = folder.file("page")
    try FileManager.default.createDirectory(
      atPath: page + "/deep", withIntermediateDirectories: true)
    database = try .make(folder.file("music.sqlite"), Teams.schema, journal: .wal)
  }

  private func refusal(_ arguments: [String]) throws -> String {
    let result = try Command.run(["serve", "--port", "0", "--public", page] + arguments)
    #expect(result.exitCode == 1)
    #expect(result.output.isEmpty)
    return result.errors
  }

  @Test func `a database that could be downloaded`() throws {
    let inside = try Database.make(page + "/deep/music.sqlite", Teams.schema, journal: .wal)
    #expect(try refusal([inside.path]).contains("is in the folder of the page"))
    // By another name, it is still there.
    try folder.link("elsewhere.sqlite", to: inside.path)
    #expect(try refusal([folder.file("elsewhere.sqlite")]).contains("--public"))
    // The caches of its queries stand where its name does.
    try FileManager.default.createSymbolicLink(
      atPath: page + "/link.sqlite", withDestinationPath: database.path)
    #expect(try refusal([page + "/link.sqlite"]).contains("is in the folder of the page"))
  }

  @Test func `a configuration that could be downloaded, with its place and the database's`() throws
  {
    _ = try Database.make(page + "/music.sqlite", Teams.schema, journal: .wal)
    let text = "queries: {player: {table: player}}\ndatabase: music.sqlite\n"
    let file = page + "/didchange.yaml"
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    let lines = try refusal(["--config", file]).split(separator: "\n")
      .filter { $0.hasPrefix(file) }
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("\(file):1:1: this file is in the folder of the page") == true)
    #expect(lines.last?.hasPrefix("\(file):2:11: the database ") == true)
  }

  @Test func `no folder with a similar name`() throws {
    let beside = page + "2"
    try FileManager.default.createDirectory(atPath: beside, withIntermediateDirectories: true)
    let database = try Database.make(beside + "/music.sqlite", Teams.schema, journal: .wal)
    let command = try Command.serve([database.path, "--public", page])
    #expect(try HTTPClient(command.base).get("/music.sqlite").status == 404)
  }

  @Test(arguments: [
    (["--host", "0.0.0.0"], nil, true), (["--host", "::"], nil, true),
    (["--host", "0.0.0.0"], "hosts: [example.org]\n", false), ([], nil, false),
    (["--host", "127.0.0.2"], nil, false), (["--host", "localhost"], nil, false),
  ])
  func `what foreign pages could read, unless it warns`(
    arguments: [String], words: String?, warns: Bool
  ) throws {
    let file = try folder.write(
      "queries: {player: {table: player}}\n" + (words ?? ""), to: "didchange.yaml")
    let command = try Command(
      ["serve", "--port", "0", "--config", file, database.path] + arguments)
    #expect(try command.process.output.next()?.hasPrefix("listening on ") == true)
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    let warnings = try command.process.errors.rest().filter { $0.contains("DNS rebinding") }
    #expect(warnings.count == (warns ? 1 : 0), "\(warnings)")
    #expect(warnings.allSatisfy { $0.contains("warning") && $0.contains("hosts: [") })
  }

  @Test func `what a rollback journal costs`() throws {
    let database = try Database.make(
      folder.file("rollback.sqlite"), Teams.schema, journal: .delete)
    let command = try Command.serve([database.path])
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    let log = try command.process.errors.rest().joined(separator: "\n")
    #expect(log.contains("after each commit the whole file is read"), "\(log)")
    #expect(!log.contains("every commit means a refetch"))
  }
}
