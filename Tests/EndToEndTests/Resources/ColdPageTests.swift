import FetchedRecords
import RecordsAPI
import Testing

/// Pages of results that nobody watches, too large to be held for a page.
@Suite(.endToEnd) struct `A page of a large result` {
  private static let schema = """
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, rank INTEGER);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO item SELECT i, printf('N%05d', i * 7919 % 10007), i % 10 FROM n;
    CREATE INDEX itemByName ON item(name);
    CREATE TABLE other (id INTEGER PRIMARY KEY);
    """

  private static let queries = """
    items: {table: item, order: [name]}
    sorted: {table: item, order: [rank]}
    kept: {table: item, cache: true}
    few:
      sql: SELECT * FROM item WHERE id < :n ORDER BY id
      parameters: {n: {type: integer, default: 100}}
    first: {sql: SELECT * FROM item ORDER BY id LIMIT 5000}
    named:
      sql: SELECT id, name FROM item ORDER BY name, id
      section: "substr(name, 1, 2)"
    slow:
      sql: SELECT id FROM item WHERE length(hex(zeroblob(200000 + id))) > :n ORDER BY id
      parameters: {n: {type: integer, default: 1}}
    """

  private func serve(
    _ feeds: (inout FeedSettings) -> Void = { _ in }, statement: Duration = .seconds(60)
  ) throws -> ServerFixture {
    try ServerFixture(
      Self.schema, queries: Self.queries, feeds: feeds, limits: { $0.statement = statement })
  }

  private func page(
    _ fixture: ServerFixture, _ items: String, of query: String = "items"
  ) throws -> JSONValue {
    try fixture.get("/v1/queries/\(query)/records?\(items)").json
  }

  private func ids(_ page: JSONValue) -> [Int] {
    page["records"].elements.compactMap { $0["key"][0].int }
  }

  private func metric(_ fixture: ServerFixture, _ name: String) throws -> Int {
    let text = try fixture.get("/metrics").text
    let line = text.split(separator: "\n").first { $0.hasPrefix("didchange_\(name) ") }
    return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
  }

  @Test func `is that of a plain SELECT`() throws {
    let fixture = try serve()
    for (items, sql) in [
      ("limit=100", "LIMIT 100"), ("limit=7&offset=5000", "LIMIT 7 OFFSET 5000"),
      ("offset=9990", "LIMIT 100 OFFSET 9990"), ("limit=10000", ""),
    ] {
      let page = try page(fixture, items)
      let plain = try fixture.database.select("SELECT * FROM item ORDER BY name, id \(sql)")
      #expect(page["records"].elements.map { $0["record"] } == plain)
      #expect(page["numberOfRecords"] == 10_000)
      let end = (page["offset"].int ?? 0) + plain.count
      #expect((page["next"] == nil) == (end == 10_000))
    }
    for offset in [10_000, 20_000, Int.max] {
      let page = try page(fixture, "offset=\(offset)")
      #expect(page["records"] == [])
      #expect(page["offset"] == 10_000)
      #expect(page["next"] == nil)
    }
  }

  /// The result is so large that a page costs little beside it, however slow the machine is.
  @Test func `leaves nothing held`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
      INSERT INTO item SELECT i FROM n;
      """)
    let page = try page(fixture, "limit=1", of: "item")
    #expect(page["numberOfRecords"] == 300_000)
    #expect(try metric(fixture, "pages_read_total") == 1)
    #expect(try metric(fixture, "controllers") == 0)
    #expect(try metric(fixture, "records") == 0)
  }

  @Test(arguments: ["sorted", "kept", "few", "first", "named"])
  func `is one of a live result where the whole had to be read, or is small`(query: String) throws {
    let fixture = try serve()
    let answer = try fixture.get("/v1/queries/\(query)/records?limit=10")
    #expect(answer.status == 200)
    #expect(try answer.json["records"].elements.count == 10)
    #expect(try metric(fixture, "controllers") == 1)
  }

  @Test func `has the same version until a table of its query changes`() throws {
    let fixture = try serve()
    let writer = try fixture.writer()
    let path = "/v1/queries/items/records?limit=10"
    let first = try fixture.get(path)
    let tag = try #require(first.head["ETag"])
    #expect(try tag == "\"\(#require(first.json["version"].string).stateOfVersion)\"")
    // Another page has the version as well, other arguments and queries have others.
    #expect(try page(fixture, "offset=50")["version"] == first.json["version"])
    try writer.commit("INSERT INTO other VALUES (1)")
    #expect(try fixture.get(path, ["If-None-Match: \(tag)"]).status == 304)
    try writer.commit("UPDATE item SET rank = -1 WHERE name = 'N00001'")
    let changed = try fixture.get(path, ["If-None-Match: \(tag)"])
    #expect(changed.status == 200)
    #expect(try changed.json["version"] != first.json["version"])
    #expect(try changed.json["commit"].int ?? 0 > first.json["commit"].int ?? 0)
    try writer.commit("ALTER TABLE item ADD COLUMN more DEFAULT 1")
    let wider = try fixture.get(path).json
    #expect(wider["records"][0]["record"]["more"] == 1)
    #expect(try wider["version"] != changed.json["version"])
  }

  @Test func `shows one state for each version`() throws {
    let fixture = try serve()
    let writer = try fixture.writer()
    var states: [String: [JSONValue]] = [:]
    var committed: [[JSONValue]] = []
    for step in 1...40 {
      let table = step % 3 == 0 ? "other" : "item"
      try writer.commit("INSERT INTO \(table) (id) VALUES (\(-step))")
      let page = try page(fixture, "limit=5")
      let version = try #require(page["version"].string)
      let state = [page["numberOfRecords"], page["records"]]
      #expect(states.updateValue(state, forKey: version) ?? state == state)
      committed.append(
        try fixture.database.select("SELECT * FROM item ORDER BY name, id LIMIT 5"))
      // So many pages may make the result live, which shows each commit a moment later.
      #expect(committed.contains(page["records"].elements.map { $0["record"] }))
    }
    #expect(states.count > 1)
  }

  /// Whoever walks the pages misses none of the records that stay, and gets none of them twice.
  @Test func `is followed by the next, whatever came and went`() throws {
    let fixture = try serve()
    let writer = try fixture.writer()
    let all = try fixture.database.select("SELECT id FROM item ORDER BY name, id")
      .compactMap { $0["id"].int }
    var seen: [Int] = []
    var gone: Set<Int> = []
    var next: String?
    repeat {
      let page = try page(fixture, "limit=500" + (next.map { "&after=\($0)" } ?? ""))
      seen += ids(page)
      next = page["next"].string
      // Some come before everything, and some that were seen go: not the last, behind which it
      // goes on.
      let lost = seen.suffix(4).dropLast()
      gone.formUnion(lost)
      let rows = (1...(1 + seen.count % 9)).map { "(\(-1000 * seen.count - $0), 'A')" }
      try writer.commit(
        """
        INSERT INTO item (id, name) VALUES \(rows.joined(separator: ", "));
        DELETE FROM item WHERE id IN (\(lost.map(String.init).joined(separator: ", ")))
        """)
    } while next != nil
    #expect(seen == all)
  }

  @Test func `is followed by the next where its last record has gone far, or is no more`() throws {
    let fixture = try serve()
    let writer = try fixture.writer()
    let first = try page(fixture, "limit=10")
    let next = try #require(first["next"].string)
    let last = try #require(ids(first).last)
    try writer.commit("UPDATE item SET name = 'N05000x' WHERE id = \(last)")
    let behind = try fixture.database.select(
      """
      SELECT id FROM item WHERE (name, id) > ('N05000x', \(last)) ORDER BY name, id LIMIT 3
      """
    ).compactMap { $0["id"].int }
    #expect(ids(try page(fixture, "limit=3&after=\(next)")) == behind)
    try writer.commit("DELETE FROM item WHERE id = \(last)")
    #expect(try page(fixture, "limit=3&after=\(next)")["offset"] == 10)
  }

  @Test func `is followed by one of a live result, and the other way`() throws {
    let fixture = try serve { $0.linger = .zero }
    let writer = try fixture.writer()
    let plain = try fixture.database.select("SELECT id FROM item ORDER BY name, id LIMIT 40")
      .compactMap { $0["id"].int }
    let cold = try page(fixture, "limit=10")
    var follower: Follower? = try fixture.follow("items")
    let live = try page(fixture, "limit=10&after=\(#require(cold["next"].string))")
    #expect(ids(cold) + ids(live) == Array(plain[..<20]))
    #expect(cold["version"] != live["version"])
    try writer.commit("INSERT INTO item (id, name) VALUES (-1, 'A')")
    _ = try follower?.changes()
    let later = try page(fixture, "limit=10&after=\(#require(live["next"].string))")
    #expect(ids(later) == Array(plain[20..<30]))
    #expect(later["offset"] == 21)
    follower = nil
    try eventually("nothing live") { try metric(fixture, "controllers") == 0 }
    let reads = try metric(fixture, "pages_read_total")
    let last = try page(fixture, "limit=10&after=\(#require(later["next"].string))")
    #expect(ids(last) == Array(plain[30..<40]))
    #expect(try metric(fixture, "pages_read_total") == reads + 1)
  }

  @Test func `that is asked for again and again makes the result live`() throws {
    let fixture = try serve()
    try eventually("a live result") {
      #expect(try page(fixture, "limit=100&offset=9000")["records"].elements.count == 100)
      return try metric(fixture, "controllers") == 1
    }
  }

  @Test func `is ended when its time is over`() throws {
    let fixture = try serve(statement: .milliseconds(100))
    let answer = try fixture.get("/v1/queries/slow/records")
    #expect(answer.status == 503)
    #expect(try answer.json["detail"].string?.contains("`timeouts: statement`") == true)
  }

  @Test func `is ended when its client goes away`() throws {
    let fixture = try serve()
    let client = try ChildProcess("curl", ["-s", fixture.base + "/v1/queries/slow/records"])
    try eventually("a read") { try metric(fixture, "readers_busy") == 1 }
    try client.kill9()
    try eventually("its end") { try metric(fixture, "readers_busy") == 0 }
    #expect(try fixture.get("/metrics").text.contains(#"reads_ended_total{reason="abandoned"} 1"#))
  }
}
