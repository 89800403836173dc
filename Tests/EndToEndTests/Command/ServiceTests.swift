import CCurl
import Foundation
import TestSupport
import Testing

@Suite(.endToEnd) struct `The options of didchange serve` {
  private let folder: TemporaryFolder
  private let database: Database

  init() throws {
    folder = try TemporaryFolder()
    database = try .make(folder.file("music.sqlite"), Teams.schema, journal: .wal)
  }

  @Test func `write an access log`() throws {
    let command = try Command.serve(
      [database.path, "--access-log", "{method} {target} {status} {bytes} {route} <{agent}>"])
    let client = HTTPClient(command.base)
    let answer = try client.get("/v1/queries/player/records?limit=1", ["User-Agent: a\"b"])
    _ = try client.get("/v1/queries/none")
    let stream = EventStream(command.base, "/v1/queries/player/events")
    #expect(try stream.next()?.type == "snapshot")
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    let lines = try command.process.errors.rest().filter { $0.hasPrefix("GET ") }
    let query = "/v1/queries/{query}"
    #expect(
      lines.first
        == "GET /v1/queries/player/records?limit=1 200 \(answer.body.count) \(query)/records "
        + "<a\\x22b>")
    #expect(lines.dropFirst().first?.hasPrefix("GET /v1/queries/none 404 ") == true)
    #expect(lines.last?.hasPrefix("GET /v1/queries/player/events 200 ") == true)
    #expect(lines.count == 3)
  }

  @Test func `write an access log as JSON`() throws {
    let command = try Command.serve([database.path, "--access-log", "json"])
    _ = try HTTPClient(command.base).get("/healthz")
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    let line = try #require(
      try command.process.errors.rest().first { $0.hasPrefix("{\"time\"") })
    let json = try JSONValue(parsing: line)
    #expect(json["status"] == 200)
    #expect(json["target"] == "/healthz")
    #expect(json["client"] == "127.0.0.1")
  }

  @Test func `tell in the access log when a stream begins and when it ends`() throws {
    let command = try Command.serve([database.path, "--access-log", "{event} {route} {bytes}"])
    let stream = EventStream(command.base, "/v1/queries/player/events")
    #expect(try stream.next()?.type == "snapshot")
    try command.waitForLog("begin /v1/queries/{query}/events 0")
    stream.close()
    #expect(
      try command.line(with: "end /v1/queries/{query}/events ")?.hasSuffix(" 0") == false)
    _ = try HTTPClient(command.base).get("/v1/queries")
    try command.waitForLog("- /v1/queries ")
  }

  @Test func `write the log as JSON`() throws {
    let command = try Command.serve([database.path, "--log-format", "json"])
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    let lines = try command.process.errors.rest().map { try JSONValue(parsing: $0) }
    #expect(lines.contains { $0["message"].string?.hasPrefix("opened ") == true })
    #expect(
      lines.allSatisfy { line in
        line.names == ["time", "level", "logger", "message"] && line["level"] != .null
      })
  }

  @Test func `say where no page was found`() throws {
    let command = try Command.serve([database.path], under: ["env", "-C", folder.path])
    try command.waitForLog("there is no page, only the interface")
  }

  @Test func `listen on a Unix-domain socket`() throws {
    let path = folder.file("didchange.sock")
    for round in 1...2 {
      let command = try Command(["serve", database.path, "--socket", path])
      #expect(try command.process.output.next() == "listening on unix:\(path)")
      let client = HTTPClient("http://localhost", socketPath: path)
      #expect(try client.get("/v1/queries/player/records").json["numberOfRecords"] == 6)
      if round == 1 {
        // The next one finds what is left of it.
        try command.process.kill9()
        #expect(FileManager.default.fileExists(atPath: path))
      } else {
        command.process.signal(SIGTERM)
        #expect(try command.process.exitCode() == 0)
        #expect(!FileManager.default.fileExists(atPath: path))
      }
    }
  }

  /// More clients than the soft limit of the shell that starts it has room for.
  @Test func `need no ulimit`() throws {
    let shell = ["/bin/sh", "-c", "ulimit -Sn 64; exec \"$@\"", "sh"]
    let command = try Command.serve([database.path, "--log-level", "warning"], under: shell)
    let streams = (0..<100).map { _ in EventStream(command.base, "/v1/queries/player/events") }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
  }

  @Test func `tell where there is less room than connections`() throws {
    let shell = ["/bin/sh", "-c", "ulimit -n 64; exec \"$@\"", "sh"]
    let command = try Command.serve([database.path], under: shell)
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    let errors = try command.process.errors.rest().joined(separator: "\n")
    #expect(errors.contains("the system allows 64 open files"), "\(errors)")
  }

  @Test(arguments: [8, 12, 16, 20, 24])
  func `do not begin where too few files may be opened`(limit: Int) throws {
    let shell = ["/bin/sh", "-c", "ulimit -n \(limit); exec \"$@\"", "sh"]
    let command = try Command(["serve", "--port", "0", database.path], under: shell)
    #expect(try command.process.exitCode() == 1)
    let errors = try command.process.errors.rest().joined(separator: "\n")
    #expect(errors.contains("raise the limit with ulimit -n"), "\(errors)")
  }

  @Test func `are refused where they make no sense`() throws {
    for (arguments, part) in [
      (["--socket", "/tmp/a", "--port", "1"], "--socket stands instead"),
      (["--socket", "/" + String(repeating: "a", count: 200)], "at most 103"),
      (["--access-log", "{stats}"], "did you mean {status}?"),
    ] {
      let result = try Command.run(["serve", database.path] + arguments)
      #expect(result.exitCode == 64)
      #expect(result.errors.contains(part), "\(result.errors)")
    }
  }

  @Test func `name a database that is not there by what was typed`() throws {
    let path = folder.file("musik.sqlite")
    let result = try Command.run(["serve", path])
    #expect(result.exitCode == 1)
    #expect(result.errors.hasPrefix("there is no database \(path)"), "\(result.errors)")
  }

  @Test func `take limits from the configuration`() throws {
    let file = try folder.write(
      """
      database: music.sqlite
      limits: {targetLength: 300, connectionsPerAddress: 3, requestsInFlight: 1}
      timeouts: {idle: 10m}
      """, to: "didchange.yaml")
    let command = try Command.serve(["--config", file])
    let streams = (0..<3).map { _ in EventStream(command.base, "/v1/queries/player/events") }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    #expect(try HTTPClient(command.base).get("/healthz").status == 503)
    streams[0].close()
    try eventually("there is room again") {
      try HTTPClient(command.base).get("/healthz").status == 200
    }
    streams[1].close()
    try eventually("the target is too long") {
      let target = "/v1/queries/" + String(repeating: "a", count: 300)
      return try HTTPClient(command.base).get(target).status == 414
    }
  }

  /// So that its clients do not all come back at one moment.
  @Test func `tell each stream another time to come back`() throws {
    let command = try Command.serve([database.path])
    let streams = (0..<20).map { _ in EventStream(command.base, "/v1/queries/player/events") }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    var times: Set<Substring> = []
    for stream in streams {
      #expect(try stream.end() == CURLE_OK)
      let last = try #require(stream.text.firstMatch(of: /\n\nretry: (\d+)\n\n$/))
      times.insert(last.1)
    }
    #expect(times.count > 5)
  }
}
