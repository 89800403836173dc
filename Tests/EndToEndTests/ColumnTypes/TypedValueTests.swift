import Testing

@Suite(.endToEnd) struct `Values of typed columns` {
  /// Each is a column's type, an SQL expression, and the JSON that it is.
  private static let values: [(type: String, sql: String, json: String)] = [
    ("boolean", "0", "false"), ("boolean", "1", "true"), ("boolean", "NULL", "null"),
    ("boolean", "2", "2"), ("boolean", "'true'", #""true""#), ("boolean", "1.0", "1.0"),
    ("date", "'2024-02-29'", #""2024-02-29""#), ("date", "'2023-02-29'", #""2023-02-29""#),
    ("date", "'2024-02-29 12:30'", #""2024-02-29T12:30:00Z""#),
    ("date", "1709164800", #""2024-02-29""#), ("date", "1709164801", #""2024-02-29T00:00:01Z""#),
    ("date", "2460369.5", #""2024-02-29""#), ("date", "-1", #""1969-12-31T23:59:59Z""#),
    ("date", "'tomorrow'", #""tomorrow""#), ("date", "NULL", "null"),
    ("datetime", "'2024-02-29'", #""2024-02-29T00:00:00Z""#),
    ("datetime", "'2024-02-29 12:30:01'", #""2024-02-29T12:30:01Z""#),
    ("datetime", "'2024-02-29T12:30:01.250'", #""2024-02-29T12:30:01.250Z""#),
    ("datetime", "'2024-02-29 12:30:01+05:30'", #""2024-02-29T12:30:01+05:30""#),
    ("datetime", "'2024-02-29 24:00'", #""2024-02-29 24:00""#),
    ("datetime", "'12:30'", #""12:30""#), ("datetime", "0", #""1970-01-01T00:00:00Z""#),
    ("datetime", "julianday('2024-02-29 12:30:01.25')", #""2024-02-29T12:30:01.250Z""#),
    ("datetime", "1709164800.5", #""2024-02-29T00:00:00.500Z""#),
    ("datetime", "1709164800000", "1709164800000"), ("datetime", "x'00'", #"{"base64":"AA=="}"#),
    ("json", "' [1, {\"a\" : null}] '", #"[1,{"a":null}]"#), ("json", "char(10) || '7'", "7"),
    ("json", "'\"text\"'", #""text""#), ("json", "'not'", #""not""#), ("json", "''", #""""#),
    ("json", "'{\"a\":1,}'", #""{\"a\":1,}""#), ("json", "12", "12"), ("json", "NULL", "null"),
    ("raw", "1", "1"),
  ]

  private static let fields = values.indices.map { "c\($0)" }

  private static var query: String {
    let types = values.indices.map { "c\($0): \(values[$0].type)" }.joined(separator: ", ")
    return "v: {table: v, columns: {\(types)}}"
  }

  private static func row(_ id: Int, _ values: [String]) -> String {
    "INSERT INTO v VALUES (\(id), \(values.joined(separator: ", ")));"
  }

  private static var schema: String {
    "CREATE TABLE v (id INTEGER PRIMARY KEY, \(fields.joined(separator: ", ")));"
  }

  private static var record: String {
    let members = values.indices.map { "\"c\($0)\":\(values[$0].json)" }
    return #""record":{"id":1,\#(members.joined(separator: ","))}"#
  }

  @Test func `look alike in pages, records, snapshots, changes, long polls and lines`() throws {
    let fixture = try ServerFixture(
      Self.schema + Self.row(0, Self.values.map { _ in "x'00'" }), queries: Self.query)
    let follower = try fixture.follow("v")
    let lines = fixture.stream(
      "/v1/queries/v/events", .init(fields: ["Accept: application/x-ndjson"]))
    let version = follower.model.version
    let writer = try fixture.writer()
    try writer.commit(Self.row(1, Self.values.map(\.sql)))
    #expect(try follower.changes()[0].hasSuffix(Self.record + "}"))
    for path in [
      "records", "records/1", "sections/0/records", "sections/0/records/1",
      "changes?after=\(version)",
    ] {
      let answer = try fixture.get("/v1/queries/v/\(path)")
      _ = try answer.json
      #expect(answer.text.contains(Self.record), "\(path): \(answer.text)")
    }
    #expect(try fixture.stream("/v1/queries/v/events").next()?.data.contains(Self.record) == true)
    try eventually("the record in \(lines.text)") { lines.text.contains(Self.record) }
    // What was is written as what is.
    try writer.commit("UPDATE v SET \(Self.fields.map { "\($0) = x'01'" }.joined(separator: ", "))")
    let old = Self.values.indices.map { "\"c\($0)\":\(Self.values[$0].json)" }.joined(
      separator: ",")
    #expect(try follower.changes()[1].contains(#""changes":{\#(old)}"#))
  }

  @Test func `of keys and sections are as they are stored`() throws {
    let fixture = try ServerFixture(
      "CREATE TABLE v (done BOOLEAN PRIMARY KEY); INSERT INTO v VALUES (1)",
      queries: "v: {table: v, section: done}")
    let page = try fixture.get("/v1/queries/v/records").text
    #expect(page.contains(#"{"key":[1],"record":{"done":true}}"#), "\(page)")
    #expect(try fixture.get("/v1/queries/v/records/1").status == 200)
    #expect(try fixture.get("/v1/queries/v/sections").text.contains(#""name":1"#))
  }
}

@Suite(.endToEnd) struct `Types that tables declare` {
  private static let schema = """
    CREATE TABLE task (id INTEGER PRIMARY KEY, done BOOLEAN, born DATE, at DATETIME, seen TIMESTAMP,
      tags JSON, note TEXT);
    CREATE VIEW open AS SELECT id, done, at FROM task WHERE NOT done;
    INSERT INTO task VALUES (1, 0, '2024-02-29', '2024-02-29 12:00:00', 1709164800, '["a"]', '[]');
    """
  private static let typed =
    #""record":{"id":1,"done":false,"born":"2024-02-29","at":"2024-02-29T12:00:00Z","seen":1709164800,"tags":["a"],"note":"[]"}"#
  private static let raw =
    #""record":{"id":1,"done":0,"born":"2024-02-29","at":"2024-02-29 12:00:00","seen":1709164800,"tags":"[\"a\"]","note":"[]"}"#

  @Test func `hold without a word, through views too, and never say what a number means`() throws {
    let fixture = try ServerFixture(Self.schema)
    #expect(try fixture.get("/v1/queries/task/records").text.contains(Self.typed))
    let view = try fixture.get("/v1/queries/open/records").text
    #expect(view.contains(#""record":{"id":1,"done":false,"at":"2024-02-29T12:00:00Z"}"#))
    let task = try fixture.get("/v1/queries").json["queries"][1]
    #expect(task["name"].string == "task")
    #expect(
      "\(task["columnTypes"])"
        == #"{"done":"boolean","born":"date","at":"datetime","seen":"datetime","tags":"json"}"#)
  }

  @Test func `are turned off for a column, a query, and all`() throws {
    let fixture = try ServerFixture(
      Self.schema,
      queries: """
        all: {table: task}
        none: {table: task, columns: raw}
        some: {table: task, columns: {done: raw, at: raw, tags: raw}}
        """)
    #expect(try fixture.get("/v1/queries/all/records").text.contains(Self.typed))
    #expect(try fixture.get("/v1/queries/none/records").text.contains(Self.raw))
    #expect(try fixture.get("/v1/queries/some/records").text.contains(Self.raw))
    let off = try ServerFixture(
      Self.schema, queries: "all: {table: task}\nsome: {table: task, columns: {done: boolean}}",
      words: "columns: raw\n")
    #expect(try off.get("/v1/queries/all/records").text.contains(Self.raw))
    let some = try off.get("/v1/queries/some/records").text
    #expect(some.contains(Self.raw.replacing(#""done":0"#, with: #""done":false"#)), "\(some)")
  }

  @Test func `name another state than the values as they are stored`() throws {
    let fixture = try ServerFixture(
      Self.schema, queries: "a: {table: task, columns: declared}")
    let raw = try ServerFixture(Self.schema, queries: "a: {table: task, columns: raw}")
    let again = try ServerFixture(Self.schema, queries: "a: {table: task}")
    let path = "/v1/queries/a/records"
    let tag = try #require(try fixture.get(path).head["ETag"])
    #expect(try again.get(path).head["ETag"] == tag)
    #expect(try raw.get(path, ["If-None-Match: \(tag)"]).status == 200)
    #expect(try again.get(path, ["If-None-Match: \(tag)"]).status == 304)
  }

  @Test func `follow the schema with a snapshot`() throws {
    let fixture = try ServerFixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER)")
    let writer = try fixture.writer()
    try writer.commit("INSERT INTO t VALUES (1, 1)")
    let stream = fixture.stream("/v1/queries/t/events")
    #expect(try stream.next()?.data.contains(#""a":1"#) == true)
    try writer.commit("ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN a BOOLEAN DEFAULT 1")
    var last = try stream.next()
    while last?.type != "snapshot" || last?.data.contains(#""a":"#) != true {
      last = try stream.next()
    }
    #expect(last?.data.contains(#""a":true"#) == true)
  }
}
