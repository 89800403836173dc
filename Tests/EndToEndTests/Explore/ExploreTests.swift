import Foundation
import HTTPServer
import Testing

@Suite(.endToEnd) struct `Exploring` {
  private static let names = "SELECT id, name FROM player WHERE score > 15 ORDER BY name"

  /// 2^40 SELECTs, when SQLite has written it out.
  private static let huge =
    "WITH a0 AS (SELECT 1 AS x)"
    + (1...40).map { ", a\($0) AS (SELECT x FROM a\($0 - 1) WHERE x IN a\($0 - 1))" }.joined()
    + " SELECT x FROM a40"

  private func serve() throws -> ServerFixture {
    try ServerFixture(Teams.schema, queries: Teams.query, explores: true)
  }

  @Test func `makes a live query of a SELECT`() throws {
    let fixture = try serve()
    let answer = try fixture.explore(Self.names).json
    let name = try #require(answer["name"].string)
    #expect(name.wholeMatch(of: /explore:[A-Za-z0-9_-]{22}/) != nil)
    #expect(answer["url"].string == "queries/\(name)")
    let follower = try fixture.follow(name)
    #expect(follower.keys == [[2], [3], [4], [5], [6]])
    try fixture.writer().commit("UPDATE player SET score = 16 WHERE id = 1")
    #expect(
      try follower.changes() == [
        #"change {"type":"insertion","newIndexPath":[0,0],"key":[1],"record":{"id":1,"name":"Ada"}}"#
      ])
    let encoded = name.replacing(":", with: "%3A")
    #expect(try fixture.get("/v1/queries/\(encoded)/records/1").json["record"]["name"] == "Ada")
    let both = fixture.stream("/v1/events?query=players&query=\(encoded)")
    #expect(try both.next()?.type == "snapshot")
    #expect(try both.next()?.type == "snapshot")
  }

  @Test func `tells how a query is tracked, and what a commit costs`() throws {
    let fixture = try serve()
    let described = { (sql: String) in
      try fixture.get("/v1/queries/\(try fixture.exploration(sql))").json
    }
    let rows = try described(Self.names)
    #expect(rows["tracking"] == "incremental")
    #expect(rows["commits"][0]["tables"] == ["player"])
    #expect(rows["commits"][0]["cost"] == "search")
    #expect(rows["commits"][0]["detail"].string?.hasPrefix("a search for each changed row") == true)
    #expect(rows["plan"].elements.isEmpty == false)
    let whole = try described("SELECT name FROM player EXCEPT SELECT team || '' FROM player")
    #expect(whole["tracking"] == "refetch")
    #expect(whole["trackingReason"].string?.isEmpty == false)
    #expect(whole["commits"][0]["cost"] == "everything")
  }

  @Test func `gives the same SELECT the same name, and lists none`() throws {
    let fixture = try serve()
    let name = try fixture.exploration(Self.names)
    #expect(try fixture.exploration("\n \(Self.names)\t") == name)
    #expect(try fixture.exploration(Self.names + ", id") != name)
    let list = try fixture.get("/v1/queries").json
    #expect(list["queries"].elements.map { $0["name"] } == ["players"])
    #expect(list["explore"] == .bool(true))
    #expect(try !fixture.get("/metrics").text.contains("explore:"))
    let interface = try fixture.get("/v1/openapi.json")
    #expect(!interface.text.contains("explore:"))
    #expect(try interface.json["paths"]["/v1/explore"]["post"]["parameters"][0]["name"] == "sql")
  }

  @Test(
    arguments: [
      ("SELECT nam FROM player", #"1:8: no such column: nam; did you mean "name"?"#),
      ("SELECT name\r\nFROM plaier", "2:6: no such table: plaier; did you mean "),
      ("SELECT name\nFROM plaier", #"2:6: no such table: plaier; did you mean "player"?"#),
      ("SELECT name FORM player", #"1:18: near "player": syntax error; "#),
      ("DELETE FROM player", #"1:1: this statement begins with "DELETE": it is no SELECT; "#),
      ("PRAGMA journal_mode", #"1:1: this statement begins with "PRAGMA""#),
      ("SELECT 1; SELECT 2", "1:1: there is more than one statement; "),
      ("SELECT :a, 1 AS b", "1:9: the parameter :a is not declared; write a value"),
      ("SELECT ?", "1:1: a parameter has no name; write a value"),
      ("SELECT 1 AS a, 2 AS a", "1:1: two result columns are named a; "),
      ("SELECT fts3_tokenizer('simple')", "1:1: fts3_tokenizer() tells addresses"),
      (Self.huge, "1:1: it is too large to be explored: "),
      (" ", "1:1: this statement is empty: it is no SELECT; "),
    ] as [(String, String)])
  func `says where it is no SELECT that fits`(sql: String, detail: String) throws {
    let fixture = try serve()
    let answer = try fixture.explore(sql)
    answer.expectProblem(400)
    #expect(try answer.json["detail"].string?.hasPrefix(detail) == true, "\(answer.text)")
  }

  @Test func `takes a SELECT, and nothing else`() throws {
    let fixture = try serve()
    let client = fixture.client()
    try client.post("/v1/explore").expectProblem(400)
    try client.post(Exploration.path("SELECT 1") + "&limit=1").expectProblem(400)
    #expect(try client.get(Exploration.path("SELECT 1")).status == 405)
    try fixture.get("/v1/queries/explore:0123456789abcdef").expectProblem(404)
  }

  @Test func `is off unless the server was told`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    let answer = try fixture.explore(Self.names)
    answer.expectProblem(404)
    #expect(try answer.json["detail"].string?.contains("--explore") == true)
    #expect(try fixture.get("/v1/queries").json.member("explore") == nil)
    #expect(try fixture.get("/v1/openapi.json").json["paths"].member("/v1/explore") == nil)
  }

  @Test func `goes on when the schema changes`() throws {
    let fixture = try serve()
    let name = try fixture.exploration("SELECT * FROM player ORDER BY id")
    let follower = try fixture.follow(name)
    let writer = try fixture.writer()
    try writer.commit("ALTER TABLE player ADD COLUMN note TEXT")
    try follower.expectSnapshot()
    #expect(follower.model.records.first?.values.member("note") == .null)
    try writer.commit("ALTER TABLE player RENAME TO gone")
    #expect(try follower.failure()["status"] == 500)
    try writer.commit("ALTER TABLE gone RENAME TO player; DELETE FROM player WHERE id = 1")
    #expect(try follower.changesAfterFailures().count == 1)
  }

  @Test func `goes by the schema of now though nothing of it is live`() throws {
    let fixture = try serve()
    let name = try fixture.exploration("SELECT * FROM player ORDER BY id")
    try fixture.writer().commit("ALTER TABLE player ADD COLUMN note TEXT")
    let first = try fixture.get("/v1/queries/\(name)/records/1").json["record"]
    #expect(first.member("note") == .null)
    #expect(first["name"] == "Ada")
  }

  @Test func `is looked at in turns between commits when the schema changes`() throws {
    let fixture = try serve()
    let sql = { (number: Int) in
      // Some 50 ms each.
      "SELECT p0.id + \(number) AS n FROM player p0"
        + (1..<20).map { " JOIN player p\($0) ON p\($0).id = p\($0 - 1).id" }.joined()
    }
    let explored = try (0..<12).map { try fixture.follow(try fixture.exploration(sql($0))) }
    let follower = try fixture.follow("players")
    let writer = try fixture.writer()
    let start = ContinuousClock.now
    try writer.commit("CREATE TABLE other (id); DELETE FROM player WHERE id = 6")
    _ = try follower.changes()
    try writer.commit("UPDATE player SET score = 0 WHERE id = 1")
    _ = try follower.changes()
    let own = ContinuousClock.now - start
    for follower in explored { while try follower.changes().isEmpty {} }
    let all = ContinuousClock.now - start
    #expect(own * 2 < all, "\(own) and \(all)")
  }

  /// They prepare, and fail when they run.
  @Test(
    arguments: [
      ("SELECT load_extension('nothing')", "not authorized"),
      ("SELECT abs(-9223372036854775808) AS n", "integer overflow"),
      ("SELECT name FROM player LIMIT 'x'", "datatype mismatch"),
      ("SELECT body FROM note WHERE note MATCH 'a AND'", "fts5: syntax error"),
      ("SELECT json_extract(name, '$') AS n FROM player", "malformed JSON"),
    ] as [(String, String)])
  func `says where SQLite cannot do what a SELECT says`(sql: String, detail: String) throws {
    let fixture = try ServerFixture(
      Teams.schema + "CREATE VIRTUAL TABLE note USING fts5(body);", queries: Teams.query,
      explores: true)
    let answer = try fixture.get("/v1/queries/\(try fixture.exploration(sql))/records")
    answer.expectProblem(400)
    let told = try answer.json["detail"].string ?? ""
    #expect(told.contains(detail), "\(told)")
    #expect(told.hasSuffix("mend the SELECT so that SQLite can run it"), "\(told)")
  }

  @Test func `makes no value longer than a mebibyte`() throws {
    let fixture = try serve()
    let read = { (sql: String) in
      try fixture.get("/v1/queries/\(try fixture.exploration(sql))/records")
    }
    #expect(try read("SELECT length(zeroblob(1000000)) AS n").status == 200)
    let answer = try read("SELECT length(hex(zeroblob(1000000))) AS n")
    answer.expectProblem(503)
    #expect(try answer.json["detail"].string?.contains("1048576 bytes") == true)
  }

  @Test func `keeps sixteen, of which the one goes that was not asked for longest`() throws {
    let fixture = try serve()
    let sql = { (number: Int) in "SELECT id + \(number) AS n FROM player" }
    let names = try (0..<16).map { try fixture.exploration(sql($0)) }
    let isThere = { (name: String) in try fixture.get("/v1/queries/\(name)").status == 200 }
    // The first is streamed, the second asked for.
    let follower = try fixture.follow(names[0], "?limit=3")
    #expect(try fixture.exploration(sql(1)) == names[1])
    _ = try fixture.exploration(sql(16))
    #expect(try fixture.get("/v1/queries/\(names[2])/records").status == 404)
    #expect(try isThere(names[1]) && isThere(names[3]))
    try fixture.writer().commit("DELETE FROM player WHERE id = 1")
    #expect(try follower.changes().count == 2)
    #expect(
      try fixture.get("/v1/queries/\(names[2])/events", ["Last-Event-ID: x.1"]).status == 204)
  }

  @Test func `says that all are in use`() throws {
    let fixture = try serve()
    let sql = { (number: Int) in "SELECT id + \(number) AS n FROM player" }
    var followers = try (0..<16).map { try fixture.follow(try fixture.exploration(sql($0))) }
    let answer = try fixture.explore(sql(16))
    answer.expectProblem(503)
    #expect(answer.head["Retry-After"] != nil)
    #expect(try answer.json["detail"].string?.contains("16 explored queries") == true)
    // What is wrong needs no place, and what is there has one.
    try fixture.explore("SELECT nothing").expectProblem(400)
    #expect(try fixture.explore(sql(3)).status == 200)
    followers.removeLast().stream.close()
    try eventually("one is not streamed any more") {
      try fixture.explore(sql(16)).status == 200
    }
    try fixture.writer().commit("DELETE FROM player WHERE id = 1")
    for follower in followers { #expect(try follower.changes().count == 1) }
  }
}
