import CCurl
import Foundation
import TestSupport
import Testing

@Suite(.endToEnd) struct `didchange serve` {
  private let folder: TemporaryFolder
  private let database: Database

  init() throws {
    folder = try TemporaryFolder()
    database = try .make(folder.file("music.sqlite"), Teams.schema, journal: .wal)
  }

  private func configuration(_ text: String) throws -> String {
    try folder.write(text, to: "didchange.yaml")
  }

  /// A server with far more to send than its only client, which does not read, has room for.
  private func serveDeafClient() throws -> (Command, EventStream) {
    try database.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO player SELECT i, printf('%01000d', i), 'Blue', i FROM n
      """)
    let command = try Command.serve([database.path])
    let deaf = EventStream(
      command.base, "/v1/queries/player/events", .init(hasSmallBuffer: true))
    deaf.pause()
    _ = try deaf.head()
    return (command, deaf)
  }

  /// What `serve` says where it does not start.
  private func refusal(_ arguments: [String], port: String = "0") throws -> String {
    let result = try Command.run(["serve", "--port", port] + arguments)
    #expect(result.exitCode == 1)
    #expect(result.output.isEmpty)
    return result.errors
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `prints one line, and ends all streams after a whole event`(signal: Int32) throws {
    let command = try Command.serve([database.path])
    let writer = try ForeignWriter(database.path)
    let streams = [
      "/v1/queries/player/events", "/v1/queries/player/events?limit=2",
      "/v1/queries/player/events?minInterval=60000", "/v1/events?query=player",
    ].map { EventStream(command.base, $0) }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    try writer.commit("UPDATE player SET score = score + 1")
    #expect(try streams[0].next()?.type == "willChange")
    let start = ContinuousClock.now
    command.process.signal(signal)
    #expect(try command.process.exitCode() == 0)
    #expect(ContinuousClock.now - start < exitLimit)
    for stream in streams {
      #expect(try stream.end() == CURLE_OK)
      #expect(stream.text.wholeMatch(of: /(?s)retry: \d+\n\n.*\n\nretry: \d+\n\n/) != nil)
    }
    #expect(try command.process.output.rest() == [])
  }

  @Test(arguments: ["critical", "error", "info", "trace"])
  func `serves until it is told to end, whatever it logs`(level: String) throws {
    let command = try Command.serve([database.path, "--log-level", level])
    let writer = try ForeignWriter(database.path)
    let stream = EventStream(command.base, "/v1/queries/player/events")
    #expect(try stream.next()?.type == "snapshot")
    try writer.commit("UPDATE player SET score = score + 1")
    while try stream.next()?.type != "didChange" {}
    #expect(command.process.isRunning)
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
  }

  /// While it is being written to all the time, and clients come and go.
  @Test func `ends soon whatever goes on`() throws {
    let command = try Command.serve([database.path])
    let writer = try ForeignWriter(database.path)
    let streams = (0..<20).map { _ in EventStream(command.base, "/v1/queries/player/events") }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    try writer.process.write(
      String(repeating: "UPDATE player SET score = score + 1 WHERE id = 1;\n", count: 20_000))
    while try streams[19].next()?.type != "didChange" {}
    let start = ContinuousClock.now
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    #expect(ContinuousClock.now - start < exitLimit)
    for stream in streams {
      #expect(try stream.end() == CURLE_OK)
      let ending = stream.text.suffix(1000).firstMatch(
        of: /\n\nevent: didChange\nid: .*\ndata: .*\n\nretry: \d+\n\n$/)
      #expect(ending != nil)
    }
  }

  @Test func `ends soon though a client does not read`() throws {
    let (command, deaf) = try serveDeafClient()
    defer { withExtendedLifetime(deaf) {} }
    let start = ContinuousClock.now
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    #expect(ContinuousClock.now - start < exitLimit)
  }

  /// What a function does by itself cannot be ended: here it would go on for years.
  @Test(.slow, arguments: ["declared", "given?n=60000000"])
  func `ends soon though SQLite is in a function`(query: String) throws {
    let sql = "SELECT instr(hex(zeroblob(%)), hex(zeroblob(20000000)) || '1') AS y"
    let file = try configuration(
      """
      database: music.sqlite
      limits: {memory: 2147483648}
      queries:
        players: {table: player, order: [id], cache: true}
        declared: {sql: "\(sql.replacing("%", with: "60000000"))", key: [y]}
        given: {sql: "\(sql.replacing("%", with: ":n"))", key: [y], parameters: {n: {type: integer}}}
      """)
    let command = try Command.serve(["--config", file])
    let stream = EventStream(command.base, "/v1/queries/players/events")
    #expect(try stream.next()?.type == "snapshot")
    let before = try command.processorTime()
    let parts = query.split(separator: "?")
    let path = "/v1/queries/\(parts[0])/records" + parts.dropFirst().map { "?\($0)" }.joined()
    let client = try ChildProcess("curl", ["-s", command.base + path])
    try eventually("SQLite is in the function") { try command.processorTime() > before + 0.5 }
    #expect(command.process.isRunning && client.isRunning)
    let start = ContinuousClock.now
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    #expect(ContinuousClock.now - start < exitLimit)
    #expect(try stream.end() == CURLE_OK)
    #expect(stream.text.wholeMatch(of: /(?s)retry: \d+\n\n.*\n\nretry: \d+\n\n/) != nil)
  }

  /// Its first fetch waits for a writer's lock, so that it begins when all streams have been told
  /// to end.
  @Test func `ends a stream that begins meanwhile`() throws {
    let database = try Database.make(
      folder.file("rollback.sqlite"), Teams.schema, journal: .delete)
    let command = try Command.serve([database.path])
    let writer = try ForeignWriter(database.path)
    try writer.run("BEGIN EXCLUSIVE")
    let stream = EventStream(command.base, "/v1/queries/player/events")
    let client = HTTPClient(command.base)
    try eventually("the stream has a connection") {
      try client.get("/metrics").text.contains("\ndidchange_connections 2\n")
    }
    command.process.signal(SIGTERM)
    try command.waitForLog("draining")
    try writer.run("COMMIT")
    #expect(try command.process.exitCode() == 0)
    // On a slow machine the lock may have been held for too long, or the request come too late.
    _ = try stream.end()
    if stream.text.hasPrefix("retry:") {
      #expect(try stream.end() == CURLE_OK)
      #expect(stream.text.wholeMatch(of: /(?s)retry: \d+\n\n.*\n\nretry: \d+\n\n/) != nil)
    }
  }

  /// Whoever has nothing better to do than to wait for two seconds may ask twice.
  @Test func `ends at once with a second signal`() throws {
    let (command, deaf) = try serveDeafClient()
    defer { withExtendedLifetime(deaf) {} }
    command.process.signal(SIGTERM)
    // The log says when the first one has arrived.
    try command.waitForLog("draining")
    command.process.signal(SIGINT)
    #expect(try command.process.exitCode() == 128 + Int(SIGINT))
  }

  @Test func `begins streams anew after a restart`() throws {
    let first = try Command.serve([database.path])
    let before = Follower(EventStream(first.base, "/v1/queries/player/events"))
    try before.expectSnapshot()
    first.process.signal(SIGTERM)
    #expect(try first.process.exitCode() == 0)
    try ForeignWriter(database.path).commit("DELETE FROM player WHERE id = 1")
    let second = try Command.serve([database.path])
    let after = Follower(
      EventStream(
        second.base, "/v1/queries/player/events", .init(lastEventID: before.model.version)))
    try after.expectSnapshot()
    #expect(after.model.records.map(\.key) == [[2], [3], [4], [5], [6]])
  }

  @Test func `serves the page, and nothing beside it`() throws {
    let page = folder.file("public")
    try folder.write("<!doctype html>", to: "public/index.html")
    try folder.write("export {}", to: "public/a.js")
    let command = try Command.serve([database.path, "--public", page])
    let client = HTTPClient(command.base)
    #expect(try client.get("/").text == "<!doctype html>")
    #expect(try client.get("/").head["Content-Type"]?.hasPrefix("text/html") == true)
    #expect(
      try client.get("/").head["Content-Security-Policy"]?.contains("frame-ancestors") == true)
    #expect(try client.get("/a.js").head["Content-Type"]?.hasPrefix("text/javascript") == true)
    for path in [
      "/../music.sqlite", "/%2e%2e/music.sqlite", "/..%2fmusic.sqlite", "/a.js/../../music.sqlite",
      "/music.sqlite", "//etc/passwd", "/a.js%00", "/no.html",
    ] {
      let answer = try client.get(path)
      #expect((400...404).contains(answer.status), "\(path): \(answer.status)")
    }
    #expect(try client.post("/").status == 405)
  }

  @Test func `serves the queries of its configuration`() throws {
    let file = try configuration("database: music.sqlite\nqueries:\n\(Teams.query.indented)")
    let command = try Command.serve(["--config", file])
    let client = HTTPClient(command.base)
    #expect(try client.get("/v1/queries/players/records").json["numberOfRecords"] == 6)
    let follower = Follower(EventStream(command.base, "/v1/queries/players/events"))
    try follower.expectSnapshot()
    try ForeignWriter(database.path, tool: .python3).commit("DELETE FROM player WHERE id = 4")
    #expect(try follower.changes().count == 2)
  }

  @Test func `says that a port is in use`() throws {
    let command = try Command.serve([database.path])
    let errors = try refusal([database.path], port: command.port)
    #expect(errors.contains("in use"), "\(errors)")
    #expect(errors.contains(command.port), "\(errors)")
    // And the first one is not disturbed.
    #expect(try HTTPClient(command.base).get("/healthz").status == 200)
  }

  @Test func `does not start with a configuration that has mistakes`() throws {
    let file = try configuration(
      """
      database: music.sqlite
      queries:
        players:
          tabel: player
        names:
          table: player
          order: [nam]
      """)
    let errors = try refusal(["--config", file])
    #expect(errors.contains("\(file):4:"), "\(errors)")
    #expect(errors.contains("table"), "\(errors)")
  }

  @Test func `does not start with a query that SQLite refuses`() throws {
    let file = try configuration(
      """
      database: music.sqlite
      queries:
        names:
          table: player
          order: [nam]
        missing:
          sql: SELECT * FROM playr
      """)
    let errors = try refusal(["--config", file])
    #expect(errors.contains("\(file):5:"), "\(errors)")
    #expect(errors.contains("name"), "\(errors)")
    #expect(errors.contains("\(file):7:"), "\(errors)")
  }

  @Test func `does not start without its files`() throws {
    for arguments in [[folder.file("no.sqlite")], ["--config", folder.file("no.yaml")]] {
      let errors = try refusal(arguments)
      #expect(errors.contains(arguments.last ?? ""), "\(errors)")
    }
    let text = try folder.write("this is no database, and long enough to be one", to: "text.sqlite")
    let errors = try refusal([text])
    #expect(!errors.contains("Fatal error"), "\(errors)")
    #expect(errors.contains("text.sqlite"), "\(errors)")
  }

  @Test(arguments: ForeignWriter.Tool.allCases)
  func `survives a writer that is killed`(tool: ForeignWriter.Tool) throws {
    let command = try Command.serve([database.path])
    let follower = Follower(EventStream(command.base, "/v1/queries/player/events"))
    try follower.expectSnapshot()
    let victim = try ForeignWriter(database.path, tool: tool)
    try victim.run("PRAGMA cache_size = 1; BEGIN IMMEDIATE; DELETE FROM player WHERE id < 4")
    try victim.process.kill9()
    try ForeignWriter(database.path).commit("UPDATE player SET score = 0 WHERE id = 1")
    #expect(
      try follower.changes() == [
        #"change {"type":"update","indexPath":[0,0],"newIndexPath":[0,0],"key":[1],"changes":{"score":10},"record":{"id":1,"name":"Ada","team":"Blue","score":0}}"#
      ])
  }

  @Test func `without a database moves by itself`() throws {
    let command = try Command.serve([])
    let client = HTTPClient(command.base)
    let queries = try client.get("/v1/queries").json["queries"].elements.compactMap {
      $0["name"].string
    }
    #expect(!queries.isEmpty)
    let stream = EventStream(
      command.base, "/v1/events?" + queries.map { "query=\($0)" }.joined(separator: "&"))
    var models: [String: ClientModel] = [:]
    var commits = 0
    while commits < 3 {
      let event = try #require(try stream.next())
      if event.type == "commit" {
        commits += 1
        continue
      }
      let name = try event.json["query"].string ?? ""
      var model = models[name] ?? ClientModel()
      model.isOneOfSeveral = true
      _ = try model.receive(event)
      models[name] = model
    }
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    #expect(try stream.end() == CURLE_OK)
  }
}
