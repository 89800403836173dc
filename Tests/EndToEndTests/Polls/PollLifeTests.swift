import CCurl
import Foundation
import RecordsAPI
import Testing

/// What long polls take, and when they let go of it.
@Suite(.endToEnd) struct `A long poll that waits` {
  private let path = "/v1/queries/players/changes"

  private func version(_ fixture: ServerFixture) throws -> String {
    try #require(try fixture.get("\(path)?snapshot=false").json["version"].string)
  }

  private func users(_ fixture: ServerFixture) throws -> [JSONValue] {
    try fixture.get("/v1/queries/players").json["controllers"].elements.map { $0["subscribers"] }
  }

  @Test func `lets go of all it holds when its client leaves`() throws {
    let fixture = try ServerFixture(
      Teams.schema, queries: Teams.query, feeds: { $0.linger = .milliseconds(1) })
    let version = try version(fixture)
    let polls = try (0..<20).map { index in
      try fixture.waitingPoll("\(path)?wait=60&after=\(version)", beside: index)
    }
    #expect(try users(fixture) == [20])
    for poll in polls { poll.close() }
    try eventually("nobody waits") { try fixture.waitingPolls() == 0 }
    try eventually("nothing is live") { try users(fixture) == [] }
  }

  /// Some clients close their half of the connection when they have asked (nc -N).
  @Test func `is answered at once where the client has closed its half`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    let version = try version(fixture)
    let port = try #require(fixture.base.split(separator: ":").last)
    let start = ContinuousClock.now
    let answer = try ChildProcess.run(
      "python3", ["-c", Self.halfClosing, String(port), "\(path)?wait=60&after=\(version)"])
    #expect(ContinuousClock.now - start < .seconds(30))
    #expect(answer.output.contains(#""events":[]}"#), "\(answer)")
    #expect(try fixture.waitingPolls() == 0)
  }

  private static let halfClosing = """
    import socket, sys
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    s.sendall(("GET %s HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" % sys.argv[2]).encode())
    s.shutdown(socket.SHUT_WR)
    while True:
        part = s.recv(65536)
        if not part: break
        sys.stdout.write(part.decode())
    """

  @Test func `counts as a stream, until it is answered`() throws {
    let fixture = try ServerFixture(
      Teams.schema, queries: Teams.query, feeds: { $0.streamsPerAddress = 1 })
    let version = try version(fixture)
    let waiting = try fixture.waitingPoll("\(path)?wait=60&after=\(version)")
    for refused in [path, "/v1/queries/players/events"] {
      let answer = try fixture.get(refused)
      answer.expectProblem(429, "\(refused)")
      #expect(answer.head["Retry-After"] != nil)
    }
    waiting.close()
    try eventually("its share is free") { try fixture.get(path).status == 200 }
    // Who is answered may ask again at once.
    let (poller, client) = (Poller("players"), fixture.client())
    for _ in 0..<200 { try poller.poll(client) }
  }

  @Test func `is answered when the server ends`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    let version = try version(fixture)
    let items = ["", "&limit=3", "&minInterval=60000"]
    let known = try items.map { item in
      try fixture.get("\(path)?snapshot=false\(item)").json["version"].string ?? ""
    }
    #expect(known[0] == version)
    let polls = try zip(items, known).enumerated().map { index, pair in
      try fixture.waitingPoll("\(path)?wait=60&after=\(pair.1)\(pair.0)", beside: index)
    }
    let start = ContinuousClock.now
    fixture.drain()
    #expect(ContinuousClock.now - start < exitLimit)
    for (poll, version) in zip(polls, known) {
      let answer = try poll.answer()
      #expect(answer.status == 200)
      #expect(try answer.json["events"] == [] && answer.json["version"].string == version)
      #expect(answer.head["Connection"] == "close")
    }
  }

  @Test func `ends soon with the process`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    let command = try Command.serve([fixture.path])
    let path = "/v1/queries/player/changes"
    let client = HTTPClient(command.base)
    let version = try #require(try client.get("\(path)?snapshot=false").json["version"].string)
    let polls = (0..<50).map { _ in
      EventStream(command.base, "\(path)?wait=60&after=\(version)")
    }
    try eventually("all wait") {
      try client.get("/metrics").text.contains("\ndidchange_polls 50\n")
    }
    let start = ContinuousClock.now
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    #expect(ContinuousClock.now - start < exitLimit)
    for poll in polls { #expect(try poll.answer().text.contains(#""events":[]}"#)) }
  }

  @Test func `is told by a status what keeps its query from being read`() throws {
    let queries = """
      byScore:
        sql: SELECT id, team, score FROM player ORDER BY score
        section: team
      """
    let fixture = try ServerFixture(Teams.schema, queries: queries)
    let writer = try fixture.writer()
    let (poller, client) = (Poller("byScore"), fixture.client())
    try poller.poll(client)
    let waiting = try fixture.waitingPoll(poller.url(wait: 60))
    // Blue, Green, Red, and then Blue again.
    try writer.commit("UPDATE player SET score = 70 WHERE id = 1")
    let answer = try waiting.answer()
    answer.expectProblem(500)
    #expect(answer.head["Cache-Control"] == "no-store")
    #expect(try answer.json["detail"].string?.contains("ORDER BY") == true)
    try client.get(poller.url(wait: 60)).expectProblem(500)
    try writer.commit("UPDATE player SET score = 11 WHERE id = 1")
    try eventually("the query is there again") {
      try client.get(poller.url(wait: 0)).status == 200
    }
    // What was wrong in between is over.
    let events = try poller.poll(client)["events"].elements
    #expect(!events.contains { $0["event"] == "fetchError" })
    #expect(poller.model.records.first?.values["score"] == 11)
  }

  @Test func `is sent a long result in pieces`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO item SELECT i, printf('%0500d', i) FROM n;
      """, queries: "items: {table: item}")
    let (poller, client) = (Poller("items"), fixture.client())
    let answer = try client.get(poller.url(wait: 0))
    #expect(answer.head["Transfer-Encoding"] == "chunked")
    try poller.take(answer)
    #expect(poller.model.records.count == 3000)
    // And with its length unknown to a client that knows no chunks.
    let old = try client.send("GET", "/v1/queries/items/changes", isHTTP10: true)
    try Poller("items").take(old)
    // The connection goes on.
    #expect(try poller.poll(client)["events"] == [])
    let writer = try fixture.writer()
    try writer.commit("UPDATE item SET text = 'x' WHERE id % 2")
    try eventually("the change is there") {
      try poller.poll(client)
      return poller.model.records.count { $0.values["text"] == "x" } == 1500
    }
  }
}
