import Foundation
import TestSupport
import Testing

/// What a server holds, and what becomes of what does not fit. A process each: what is held is counted
/// for a process.
@Suite(.endToEnd) struct `A server with little memory` {
  /// A server, and what is asked of it.
  private final class Served {
    let folder: TemporaryFolder
    let command: Command
    let client: HTTPClient
    let budget: Int

    init(budget: Int = 96 << 20, linger: Int = 600) throws {
      folder = try TemporaryFolder()
      self.budget = budget
      let database = try Database.make(
        folder.file("music.sqlite"), "\(Teams.schema) \(Self.games)", journal: .wal)
      let file = try folder.write(
        """
        database: \(database.path)
        limits: {memory: \(budget), resultBytes: \(budget / 3), readers: 2}
        timeouts: {linger: \(linger), statement: 25}
        \(Self.queries)
        """, to: "didchange.yaml")
      command = try Command.serve(["--config", file])
      client = HTTPClient(command.base)
    }

    private static let games = """
      CREATE TABLE game (player INTEGER, score INTEGER); CREATE INDEX "game by player" ON game (player);
      """

    private static let queries = """
      queries:
        players: {table: player, order: [id]}
        large:
          sql: |
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6 * :mib)
            SELECT i, hex(zeroblob(87381)) AS text FROM n WHERE :number > 0
          key: [i]
          parameters: {number: {type: integer}, mib: {type: integer, default: 6}}
        numbers:
          sql: |
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :n)
            SELECT i, hex(zeroblob(5000)) AS text FROM n
          key: [i]
          parameters: {n: {type: integer}}
        blob:
          sql: SELECT zeroblob(:n) AS bytes
          parameters: {n: {type: integer}}
        played:
          sql: |
            SELECT id, (SELECT count(*) FROM game WHERE game.player = player.id AND score >= :least) AS count
            FROM player
          key: [id]
          parameters: {least: {type: integer}}
        scores:
          sql: SELECT id, name, score, :number AS number, hex(zeroblob(2000)) AS text FROM player
          key: [id]
          parameters: {number: {type: integer}}
      """

    func metric(_ name: String) throws -> Int {
      let text = try client.get("/metrics").text
      let line = text.split(separator: "\n").first { $0.hasPrefix("didchange_\(name) ") }
      return try #require(line.flatMap { Int($0.dropFirst("didchange_\(name) ".count)) })
    }

    /// What the process has now (`VmRSS`), or had at most (`VmHWM`), in bytes (`man 5 proc`).
    func resident(_ name: String) throws -> Int {
      let path = "/proc/\(command.process.identifier)/status"
      let text = try String(contentsOfFile: path, encoding: .utf8)
      let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name) })
      return try #require(line.split { !$0.isNumber }.first.flatMap { Int($0) }) * 1024
    }

    func expectWithinBudget() throws {
      #expect(try metric("memory_bytes") <= budget + (4 << 20))
      // The rest is the program, SQLite, and the allocator.
      if !isSanitized { #expect(try resident("VmHWM") < 2 * budget + (96 << 20)) }
      #expect(try client.get("/v1/queries/players/records").status == 200)
    }

    func stream(_ path: String) -> EventStream { EventStream(command.base, path) }
  }

  @Test func `answers more distinct requests than it can hold the results of`() throws {
    let served = try Served()
    for number in 1...150 {
      let answer = try served.client.get("/v1/queries/large/records?limit=1&number=\(number)")
      #expect(answer.status == 200, "\(number): \(answer.text.prefix(300))")
    }
    // 150 results of 6 MiB, of which some fifteen fit in.
    let evictions = try served.metric("evictions_total")
    #expect((130...149).contains(evictions), "\(evictions)")
    try served.expectWithinBudget()
    #expect(try served.client.get("/readyz").status == 200)
  }

  @Test func `refuses a result that is too large by the limit's name`() throws {
    let served = try Served(budget: 16 << 20)
    for path in ["numbers/records?n=60000000&limit=1", "blob/records?n=900000000"] {
      let answer = try served.client.get("/v1/queries/\(path)")
      #expect(answer.status == 503, "\(path)")
      let detail = try answer.json["detail"].string ?? ""
      #expect(detail.contains("`limits: resultBytes`"), "\(path): \(detail)")
    }
    try served.expectWithinBudget()
  }

  @Test func `refuses what others leave no room for, until they go`() throws {
    let served = try Served()
    var streams: [EventStream] = []
    for number in 1...3 {
      let stream = served.stream("/v1/queries/large/events?number=\(number)&mib=28")
      #expect(try stream.head().status == 200)
      streams.append(stream)
    }
    #expect(try served.client.get("/readyz").status == 200)
    let refused = try served.client.get("/v1/queries/large/records?limit=1&number=4&mib=28")
    #expect(refused.status == 503)
    #expect(refused.head["Retry-After"] == "5")
    #expect(try refused.json["detail"].string?.contains("`limits: memory`") == true)
    #expect(try served.metric("memory_refusals_total") == 1)
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    // Whoever asks for little is still served.
    try served.expectWithinBudget()
    streams[0].close()
    try eventually("there is room for another") {
      try served.client.get("/v1/queries/large/records?limit=1&number=4&mib=28").status == 200
    }
    #expect(try served.client.get("/readyz").status == 200)
  }

  /// Each commit touches all records of each query; what is kept of that for streams that come back
  /// is more than there is room for.
  @Test func `forgets how it came to what it shows rather than pass its limit`() throws {
    let served = try Served(budget: 16 << 20)
    let follower = Follower(served.stream("/v1/queries/scores/events?number=0"))
    try follower.expectSnapshot()
    let others = try ChildProcess("python3", ["-c", Self.readers, served.command.port])
    #expect(try others.output.next() == "connected")
    let writer = try ForeignWriter(served.folder.file("music.sqlite"))
    var highest = 0
    for step in 1...100 {
      try writer.commit("UPDATE player SET score = \(step)")
      // Whoever has not read what is forgotten is sent a snapshot.
      while follower.model.records.first?.values["score"].int != step { _ = try follower.next() }
      highest = max(highest, try served.metric("memory_bytes"))
    }
    // Each of the thirty would have a log of 1 MiB by now.
    #expect(try served.metric("change_sets_total") > 2000)
    #expect(highest > 12 << 20)
    #expect(highest <= served.budget + (4 << 20))
    // All are in use, and nobody is refused.
    #expect(try served.metric("evictions_total") == 0)
    #expect(try served.metric("streams") == 31)
    try served.expectWithinBudget()
  }

  /// For each of them what leads changed rows to records takes more than a megabyte, and what is shown next to nothing.
  @Test(.slow) func `lets go of what only makes changes cheaper rather than refuse what is shown`()
    throws
  {
    let served = try Served(budget: 16 << 20)
    let writer = try ForeignWriter(served.folder.file("music.sqlite"))
    try writer.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
      INSERT INTO game SELECT i % 6 + 1, i FROM n;
      """)
    let followers = try (1...30).map { least in
      let follower = Follower(served.stream("/v1/queries/played/events?least=\(least)"))
      try follower.expectSnapshot()
      return follower
    }
    for step in 1...3 {
      try writer.commit("INSERT INTO game VALUES (1, 100000)")
      for follower in followers {
        let changes = try follower.changes()
        #expect(changes.count == 1, "\(step): \(changes)")
      }
    }
    let reasons = try served.client.get("/v1/queries/played").json["refreshes"]["fallbacks"]
    // Slowed down, they are put off in favour of each other, and run again for that reason.
    if !isSanitized { #expect((reasons["noMemory"].int ?? 0) > 0, "\(reasons)") }
    #expect(try served.metric("memory_aids_bytes") > 4 << 20)
    // A page of two megabytes has no room beside them.
    let page = try served.client.get("/v1/queries/numbers/records?n=200&limit=200")
    #expect(page.status == 200, "\(page.text.prefix(300))")
    #expect(try served.metric("memory_refusals_total") == 0)
    #expect(try served.client.get("/readyz").status == 200)
    try served.expectWithinBudget()
  }

  /// Thirty clients that read all that comes, and forget it.
  private static let readers = """
    import select, socket, sys
    port = int(sys.argv[1])
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(30)]
    for number, client in enumerate(clients, 1):
        target = "/v1/queries/scores/events?number=%d" % number
        client.sendall(("GET %s HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" % target).encode())
        while b"event: snapshot" not in client.recv(65536):
            pass
    print("connected", flush=True)
    while True:
        for client in select.select(clients, [], [])[0]:
            # The server has ended, perhaps before who would end this.
            if not client.recv(1 << 20):
                sys.exit()
    """

  @Test(.slow) func `gives back to the system what it holds no more`() throws {
    let served = try Served(linger: 1)
    #expect(try served.client.get("/v1/queries/players/records").status == 200)
    let before = try served.resident("VmRSS")
    let streams = (1...3).map { number in
      served.stream("/v1/queries/large/events?number=\(number)&mib=28")
    }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    #expect(try served.resident("VmRSS") > before + (64 << 20))
    for stream in streams { stream.close() }
    try eventually("what is free is given back") {
      try served.client.get("/healthz").status == 200
        && served.resident("VmRSS") < before + (24 << 20)
    }
  }
}
