import Dispatch
import FetchedRecords
import Foundation
import Locks
import RecordsAPI
import TestSupport
import Testing

/// One client's long query, and everybody else.
@Suite(.endToEnd) struct `A long query` {
  private static let queries = """
    players:
      table: player
      order: [id]
    endless:
      sql: |
        WITH RECURSIVE n(i) AS (SELECT :from UNION ALL SELECT i + 1 FROM n)
        SELECT count(*) AS count FROM n, player
      key: [count]
      parameters: {from: {type: integer, default: 1}}
    slow:
      sql: |
        SELECT id, score,
          (WITH RECURSIVE n(i) AS (SELECT score UNION ALL SELECT i + 1 FROM n LIMIT 100000)
           SELECT count(*) FROM n) AS count
        FROM player ORDER BY id
    medium:
      sql: |
        SELECT id, score,
          (WITH RECURSIVE n(i) AS (SELECT score UNION ALL SELECT i + 1 FROM n LIMIT 10000)
           SELECT count(*) FROM n) AS count
        FROM player ORDER BY id
    counted:
      sql: |
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :n)
        SELECT count(*) AS count FROM n
      key: [count]
      parameters: {n: {type: integer, default: 1}}
    large:
      sql: |
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :n)
        SELECT i FROM n
      key: [i]
      parameters: {n: {type: integer, default: 1}}
    found:
      sql: SELECT instr(hex(zeroblob(:n)), hex(zeroblob(:n / 3)) || '1') AS y
      key: [y]
      parameters: {n: {type: integer, default: 1}}
    rounded:
      sql: SELECT id, abs(:n) AS n FROM player
      parameters: {n: {type: integer, default: 1}}
    blob:
      sql: SELECT id, zeroblob(:n) AS bytes FROM player
      parameters: {n: {type: integer, default: 1}}
    """

  private func serve(
    statement: Duration = .seconds(60), resultRows: Int = 10_000, resultBytes: Int = 1 << 20
  ) throws -> ServerFixture {
    try ServerFixture(
      Teams.schema, queries: Self.queries, explores: true,
      service: { $0.crossOrigin = .everyone },
      limits: {
        $0.statement = statement
        $0.resultRows = resultRows
        $0.resultBytes = resultBytes
      })
  }

  /// A request that is answered some time.
  private final class Asked: Sendable {
    private let answer = Mutex<Result<HTTPClient.Answer, any Error>?>(nil)
    private let arrival = DispatchSemaphore(value: 0)

    init(_ base: String, _ path: String) {
      Thread.detachNewThread { [self] in
        let answer = Result { try HTTPClient(base).get(path) }
        self.answer.withLock { $0 = answer }
        arrival.signal()
      }
    }

    /// Whether the server has answered; a client that lost patience has no answer.
    var isAnswered: Bool {
      answer.withLock { answer in
        if case .success = answer { true } else { false }
      }
    }

    func wait() throws -> HTTPClient.Answer {
      arrival.wait()
      let answer = try #require(answer.withLock { $0 })
      return try answer.get()
    }
  }

  private func readersBusy(_ fixture: ServerFixture) throws -> Int {
    let text = try fixture.get("/metrics").text
    let match = try #require(text.firstMatch(of: /didchange_readers_busy ([0-9]+)/))
    return try #require(Int(match.1))
  }

  /// How often long work was put off for what may be short.
  private func timesPutOff(_ fixture: ServerFixture) throws -> Int {
    let text = try fixture.get("/metrics").text
    let match = try #require(text.firstMatch(of: /reason="putOff"} ([0-9]+)/))
    return try #require(Int(match.1))
  }

  private func waitUntilBusy(_ count: Int, _ fixture: ServerFixture) throws {
    let deadline = Date() + Double(patience)
    while true {
      let busy = try readersBusy(fixture)
      if count == 0 ? busy == 0 : busy >= count { return }
      try #require(Date() < deadline, "\(busy) readers at work, not \(count)")
    }
  }

  /// Nobody knows of a query that it is long before it has run. But others of its statement were.
  @Test func `asked for by a crowd, lets what is another query go first`() throws {
    let fixture = try serve()
    let follower = try fixture.follow("medium")
    let crowd = 150
    let asked = (1...crowd).map {
      Asked(fixture.base, "/v1/queries/endless/records?from=\($0)")
    }
    try waitUntilBusy(4, fixture)
    try eventually("one of the crowd was long") { try timesPutOff(fixture) > 0 }
    let page = try fixture.get("/v1/queries/counted/records?n=100000")
    #expect(page.status == 200)
    try fixture.writer().commit("UPDATE player SET score = -1 WHERE id = 1")
    #expect(try follower.changes().count == 1)
    // Both came before all of the crowd had run for the first time.
    let count = try timesPutOff(fixture)
    #expect(count < crowd - 20)
    #expect(asked.allSatisfy { !$0.isAnswered })
  }

  @Test(arguments: [1, 6])
  func `holds up neither events nor short queries`(count: Int) throws {
    let fixture = try serve()
    let follower = try fixture.follow("players")
    let writer = try fixture.writer()
    let asked = (1...count).map {
      Asked(fixture.base, "/v1/queries/endless/records?from=\($0)")
    }
    // All readers, where there are enough of them.
    try waitUntilBusy(min(count, 4), fixture)
    for step in 1...20 {
      try writer.commit("UPDATE player SET score = -\(step) WHERE id = 1")
      let changes = try follower.changes()
      #expect(changes.count == 1)
      let short = try fixture.get("/v1/queries/large/records?n=\(step)")
      #expect(short.status == 200)
    }
    // Some milliseconds too long for the queue that follows commits: it needs a reader.
    let counted = try fixture.get("/v1/queries/counted/records?n=100000")
    #expect(counted.status == 200)
    // Nothing of this waited for any of them.
    let answered = asked.filter(\.isAnswered).count
    #expect(answered == 0)
    fixture.drain()
    for question in asked { _ = try? question.wait() }
  }

  /// What a function does by itself is not ended before it is over.
  @Test func `that is in one function holds up nothing either`() throws {
    let fixture = try serve(resultBytes: 8 << 20)
    let follower = try fixture.follow("players")
    let writer = try fixture.writer()
    let asked = Asked(fixture.base, "/v1/queries/found/records?n=520000")
    try waitUntilBusy(1, fixture)
    for step in 1...20 {
      try writer.commit("UPDATE player SET score = -\(step) WHERE id = 1")
      let changes = try follower.changes()
      #expect(changes.count == 1)
    }
    let beside = try fixture.get("/v1/queries/rounded/records?n=-7")
    #expect(beside.status == 200)
    #expect(try beside.json["records"][0]["record"]["n"] == 7)
    #expect(!asked.isAnswered)
    fixture.drain()
    _ = try? asked.wait()
  }

  /// A commit makes a function long that was short.
  @Test func `that somebody explores by holds up nothing either`() throws {
    let fixture = try serve()
    let follower = try fixture.follow("players")
    let writer = try fixture.writer()
    let sql = """
      SELECT id, CASE WHEN score > 1000 THEN instr(hex(zeroblob(260000 + score)), \
      hex(zeroblob(130000)) || '1') END AS y FROM player ORDER BY id
      """
    let explored = try fixture.follow(try fixture.exploration(sql))
    // Short so far, and row by row.
    try writer.commit("UPDATE player SET score = score + 1 WHERE id = 1")
    #expect(try follower.changes().count == 1)
    let start = ContinuousClock.now
    try writer.commit("UPDATE player SET score = 2000 WHERE id = 1")
    #expect(try follower.changes().count == 1)
    let own = ContinuousClock.now - start
    #expect(try explored.changes().count == 1)
    let others = ContinuousClock.now - start
    #expect(own * 4 < others, "\(own) and \(others)")
  }

  @Test func `is ended when its time is over`() throws {
    let fixture = try serve(statement: .milliseconds(200))
    let answer = try fixture.get("/v1/queries/endless/records")
    #expect(answer.status == 503)
    let detail = try answer.json["detail"].string ?? ""
    #expect(detail.contains("`timeouts: statement`"))
  }

  @Test(arguments: [[], ["-H", "Origin: https://other.example"]])
  func `is ended when its client goes away`(headers: [String]) throws {
    let fixture = try serve()
    let url = fixture.base + "/v1/queries/endless/records"
    let client = try ChildProcess("curl", ["-s", url] + headers)
    try waitUntilBusy(1, fixture)
    try client.kill9()
    try waitUntilBusy(0, fixture)
  }

  @Test func `goes on for others when one of its clients goes away`() throws {
    let fixture = try serve(statement: .seconds(3))
    let other = Asked(fixture.base, "/v1/queries/endless/records")
    try waitUntilBusy(1, fixture)
    let client = try ChildProcess("curl", ["-s", fixture.base + "/v1/queries/endless/sections"])
    try client.kill9()
    let short = try fixture.get("/v1/queries/players/records")
    #expect(short.status == 200)
    let busy = try readersBusy(fixture)
    #expect(busy == 1)
    let answer = try other.wait()
    #expect(answer.status == 503)
  }

  @Test func `does not hold up the end of the server`() throws {
    let fixture = try serve()
    let asked = (1...4).map { Asked(fixture.base, "/v1/queries/endless/records?from=\($0)") }
    try waitUntilBusy(2, fixture)
    let start = ContinuousClock.now
    fixture.drain()
    // A statement may run for a minute here.
    #expect(ContinuousClock.now - start < .seconds(20))
    for question in asked { _ = try? question.wait() }
  }

  @Test func `that is live shows the last commit, and others do not wait for it`() throws {
    let fixture = try serve()
    let fast = try fixture.follow("players")
    let slow = try fixture.follow("slow")
    let writer = try fixture.writer()
    for step in 1...30 {
      try writer.commit("UPDATE player SET score = \(step) WHERE id = 1")
      _ = try fast.changes()
    }
    while slow.model.records.first?.values["score"].int != 30 { _ = try slow.changes() }
  }

  @Test func `on a stream with others shows the same commit as they`() throws {
    let fixture = try serve()
    let writer = try fixture.writer()
    let stream = fixture.stream("/v1/events?query=players&query=slow")
    var models = ["players": ClientModel(), "slow": ClientModel()]
    var commits = 0
    func receive() throws -> String {
      let event = try #require(try stream.next())
      guard event.type != "commit" else { return event.type }
      let name = try #require(try event.json["query"].string)
      var model = try #require(models[name])
      model.isOneOfSeveral = true
      _ = try model.receive(event)
      models[name] = model
      return event.type
    }
    for _ in 1...2 {
      let type = try receive()
      #expect(type == "snapshot")
    }
    for step in 1...60 { try writer.commit("UPDATE player SET score = \(step) WHERE id = 1") }
    func score(_ name: String) -> Int? { models[name]?.records.first?.values["score"].int }
    while score("players") != 60 || score("slow") != 60 {
      while try receive() != "commit" {}
      commits += 1
      #expect(score("players") == score("slow"), "after \(commits) commits")
    }
  }

  @Test func `that returns too much is refused by the limit's name`() throws {
    let fixture = try serve(resultRows: 1000, resultBytes: 100_000)
    for (path, word) in [
      ("large/records?n=2000&limit=1", "`limits: resultRows`"),
      ("large/records?n=100000000&limit=1", "`limits: resultRows`"),
      ("blob/records?n=60000", "`limits: resultBytes`"),
      ("blob/records?n=900000000", "`limits: resultBytes`"),
    ] {
      let answer = try fixture.get("/v1/queries/\(path)")
      #expect(answer.status == 503, "\(path)")
      let detail = try answer.json["detail"].string ?? ""
      #expect(detail.contains(word), "\(path): \(detail)")
    }
    let fitting = try fixture.get("/v1/queries/large/records?n=1000")
    #expect(fitting.status == 200)
  }
}
