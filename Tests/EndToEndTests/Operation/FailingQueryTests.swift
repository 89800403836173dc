import Foundation
import TestSupport
import Testing

/// The log of a server of the players, of whom no section may come back.
@Suite(.endToEnd) struct `What is told of a query that fails` {
  private let folder: TemporaryFolder
  private let database: Database
  private let command: Command

  init() throws {
    folder = try TemporaryFolder()
    database = try .make(folder.file("music.sqlite"), Teams.schema, journal: .wal)
    let configuration = try folder.write(
      """
      database: music.sqlite
      queries:
        byScore: {sql: "SELECT id, team, score FROM player ORDER BY score", section: team}
        sums: {sql: "SELECT id, abs(score) AS size FROM player WHERE id > :least", key: [id],
          parameters: {least: {type: integer, default: 0}}}
      """, to: "didchange.yaml")
    command = try Command.serve(["--config", configuration])
  }

  @Test func `is told once when it begins and once when it ends`() throws {
    let follower = Follower(EventStream(command.base, "/v1/queries/byScore/events"))
    try follower.expectSnapshot()
    let client = HTTPClient(command.base)
    #expect(try client.get("/readyz").text == "ok\n")
    let writer = try ForeignWriter(database.path)
    try writer.commit("UPDATE player SET score = 70 WHERE id = 1")
    _ = try follower.failure()
    try command.waitForLog("the query byScore fails: record ")
    let ready = try client.get("/readyz")
    #expect(ready.status == 200)
    #expect(ready.text.hasPrefix("ok\nthe query byScore fails: record "))
    let metrics = try client.get("/metrics").text
    #expect(metrics.contains("didchange_query_failing{query=\"byScore\"} 1"))
    #expect(metrics.contains("didchange_query_failures_total{query=\"byScore\"} 1"))
    // No news.
    try writer.commit("UPDATE player SET score = 71 WHERE id = 1")
    #expect(try client.get("/v1/queries/byScore/records").status == 500)
    try writer.commit("UPDATE player SET score = 11 WHERE id = 1")
    _ = try follower.changesAfterFailures()
    let between = try command.waitForLog("the query byScore fails no longer")
    #expect(between == [])
    #expect(try client.get("/readyz").text == "ok\n")
  }

  /// Whoever asks again and again writes no log with it.
  @Test func `is told once where only first fetches fail`() throws {
    let client = HTTPClient(command.base)
    try database.execute("INSERT INTO player VALUES (100, 'Max', 'Red', -9223372036854775808)")
    for _ in 1...5 {
      #expect(try client.get("/v1/queries/sums/records").status == 500)
      #expect(try client.get("/v1/queries/sums/records?least=100").status == 200)
    }
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    let lines = try command.process.errors.rest().filter { $0.contains("the query sums fails") }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("integer overflow") == true)
    #expect(lines.first?.contains("sql=SELECT ") == true)
  }

  @Test func `is nothing where somebody explores, who is told`() throws {
    let command = try Command.serve([database.path, "--explore", "--log-format", "json"])
    let client = HTTPClient(command.base)
    let sql = "SELECT abs(-9223372036854775808) AS n"
    let name = try #require(
      try client.send("POST", Exploration.path(sql)).json["name"].string)
    #expect(try client.get("/v1/queries/\(name)/records").status == 400)
    #expect(try client.get("/readyz").text == "ok\n")
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    let lines = try command.process.errors.rest()
    #expect(lines.filter { $0.contains("overflow") || $0.contains("\"error\"") } == [])
  }
}
