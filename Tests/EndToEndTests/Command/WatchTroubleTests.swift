import Foundation
import TestSupport
import Testing

/// What is on the way to a server, and what the output goes to.
@Suite(.endToEnd) struct `didchange watch in trouble` {
  private static let path = "/v1/queries/players/events"

  private let teams: Teams

  init() throws { teams = try Teams() }

  /// Of a core, in the next two seconds.
  private func load(of watch: Command) throws -> Double {
    let before = try watch.processorTime()
    Thread.sleep(forTimeInterval: 2)
    return try (watch.processorTime() - before) / 2
  }

  @Test func `says that the server does not answer, and waits for little`() throws {
    let proxy = try CuttingProxy(teams.fixture.base)
    proxy.freeze(true)
    let watch = try Command(["watch", proxy.base + Self.path])
    #expect(try watch.process.errors.next() == "the server does not answer yet; waiting")
    #expect(try load(of: watch) < 0.1)
    try watch.process.kill9()
  }

  @Test func `shows what comes after a long wait`() throws {
    let proxy = try CuttingProxy(teams.fixture.base)
    proxy.freeze(true)
    let watch = try Command(["watch", proxy.base + Self.path])
    _ = try watch.process.errors.next()
    proxy.freeze(false)
    #expect(try watch.process.output.next()?.hasPrefix("players  6 records") == true)
    #expect(try load(of: watch) < 0.1)
    try watch.process.kill9()
  }

  @Test func `costs little behind a proxy that closes each connection`() throws {
    let server = try CannedServer { line in
      let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
      if line.hasPrefix("HEAD") { return (head, true) }
      return (head + "event: recovered\ndata: {\"query\":\"players\"}\n\n", false)
    }
    let watch = try Command(["watch", server.base + Self.path])
    #expect(try watch.process.output.next() == "  players can be read again")
    #expect(try load(of: watch) < 0.1)
    try watch.process.kill9()
  }

  @Test func `follows a server at an IPv6 address`() throws {
    let folder = try TemporaryFolder()
    let database = try Database.make(folder.file(), Teams.schema, journal: .wal)
    let server = try Command(["serve", database.path, "--port", "0", "--host", "::1"])
    let line = try #require(try server.process.output.next())
    let base = try #require(line.wholeMatch(of: /listening on (http:\/\/\[::1\]:[0-9]+)/)?.1)
    let watch = try Command(["watch", "\(base)/v1/queries/player/events"])
    #expect(try watch.process.output.next()?.hasPrefix("player  6 records") == true)
    try watch.process.kill9()
    try server.process.kill9()
    let gone = try Command.run(["watch", "\(base)/v1/queries/player/events"])
    #expect(gone.errors.contains("cannot be reached: [::1]:"), "\(gone.errors)")
  }

  @Test func `takes a scheme in capitals`() throws {
    let base = teams.fixture.base
    let watch = try Command([
      "watch", base.replacing("http://", with: "HTTP://") + Self.path,
    ])
    #expect(try watch.process.output.next()?.hasPrefix("players  6 records") == true)
    try watch.process.kill9()
  }

  @Test(arguments: ["0", "65536", "99999999999999999999"]) func `refuses a port that is none`(
    port: String
  ) throws {
    let result = try Command.run(["watch", "http://127.0.0.1:\(port)\(Self.path)"])
    #expect(result.exitCode == 64)
    #expect(
      result.errors.contains("\(port) is no port; they go from 1 to 65535"), "\(result.errors)")
  }

  @Test(arguments: ["Basic realm=x", "Digest realm=x, nonce=y", "Bearer", "Negotiate"])
  func `says that a password is wanted`(challenge: String) throws {
    let server = try CannedServer { _ in
      (
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n",
        false
      )
    }
    let result = try Command.run(["watch", server.base + Self.path])
    #expect(result.exitCode == 1)
    #expect(result.errors.contains("the server answers 401"), "\(result.errors)")
  }

  @Test(arguments: [">/dev/full", ">&-"]) func `ends where nothing can be written`(
    redirection: String
  ) throws {
    let url = teams.fixture.base + Self.path
    let watch = try Command(
      ["watch", url], under: ["sh", "-c", "exec \"$@\" \(redirection)", "sh"])
    #expect(try watch.process.exitCode() == 1)
    let words = try watch.process.errors.rest().joined()
    #expect(words.contains("standard output cannot be written: "), "\(words)")
  }
}
