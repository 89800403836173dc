import Testing

@Suite(.endToEnd) struct `Values` {
  /// Each is an SQL expression, and the JSON that it is.
  private static let values: [(sql: String, json: String)] = [
    ("0", "0"), ("-1", "-1"), ("9007199254740993", "9007199254740993"),
    ("9223372036854775807", "9223372036854775807"),
    ("-9223372036854775807 - 1", "-9223372036854775808"),
    ("NULL", "null"), ("1.5", "1.5"), ("-0.1", "-0.1"), ("3.0", "3.0"), ("1e300", "1e+300"),
    ("5e-324", "5e-324"), ("9e999", "null"), ("-9e999", "null"),
    ("'plain'", #""plain""#), ("''", #""""#), (#"'"\/'"#, #""\"\\/""#),
    ("char(1, 8, 9, 10, 12, 13, 31, 127)", #""\u0001\u0008\t\n\u000c\r\u001f"# + "\u{7F}\""),
    ("char(0x1F600, 0x2028, 0xE9)", "\"\u{1F600}\u{2028}\u{E9}\""),
    ("CAST(x'61ff62' AS TEXT)", "\"a\u{FFFD}b\""), ("CAST(x'c3' AS TEXT)", "\"\u{FFFD}\""),
    ("CAST(x'610062' AS TEXT)", #""a\u0000b""#),
    ("x''", #"{"base64":""}"#), ("x'00'", #"{"base64":"AA=="}"#),
    ("x'fbff'", #"{"base64":"+/8="}"#), ("x'666f6f'", #"{"base64":"Zm9v"}"#),
    ("datetime(0, 'unixepoch')", #""1970-01-01 00:00:00""#),
  ]

  private static var schema: String {
    "CREATE TABLE v (id INTEGER PRIMARY KEY, value);"
      + values.enumerated().map { "INSERT INTO v VALUES (\($0), \($1.sql));" }.joined()
  }

  @Test func `are written to the letter, in pages and in streams`() throws {
    let fixture = try ServerFixture(Self.schema, queries: "v: {table: v, fields: [id, value]}")
    let page = try fixture.get("/v1/queries/v/records")
    let stream = fixture.stream("/v1/queries/v/events")
    let snapshot = try stream.next()?.data ?? ""
    _ = try JSONValue(parsing: page.body)
    _ = try JSONValue(parsing: snapshot)
    for (id, value) in Self.values.enumerated() {
      let record = #"{"key":[\#(id)],"record":{"id":\#(id),"value":\#(value.json)}}"#
      #expect(page.text.contains(record), "\(value.sql) as \(record)")
      #expect(snapshot.contains(record), "\(value.sql) as \(record)")
    }
  }

  @Test func `change from each kind to each other, with their old values`() throws {
    let fixture = try ServerFixture("CREATE TABLE v (id INTEGER PRIMARY KEY, value);")
    let follower = try fixture.follow("v")
    let writer = try fixture.writer()
    try writer.commit("INSERT INTO v VALUES (1, 0)")
    _ = try follower.changes()
    let kinds = [
      ("1", "1"), ("NULL", "null"), ("'1'", #""1""#), ("x'31'", #"{"base64":"MQ=="}"#),
      ("1.5", "1.5"), ("9e999", "null"), ("2", "2"),
    ]
    var old = "0"
    for (sql, json) in kinds {
      try writer.commit("UPDATE v SET value = \(sql)")
      #expect(
        try follower.changes() == [
          #"change {"type":"update","indexPath":[0,0],"newIndexPath":[0,0],"key":[1],"changes":{"value":\#(old)},"record":{"id":1,"value":\#(json)}}"#
        ])
      old = json
    }
  }

  /// An event ends with an empty line: no text may make one.
  @Test func `cannot end an event or forge another`() throws {
    let fixture = try ServerFixture("CREATE TABLE v (id INTEGER PRIMARY KEY, value);")
    let follower = try fixture.follow("v")
    let writer = try fixture.writer()
    for forgery in ["char(10, 10) || 'event: didChange'", "char(13) || 'data: x' || char(13, 10)"] {
      try writer.commit("INSERT INTO v (value) VALUES (\(forgery) || char(0x2028, 0x85))")
      #expect(try follower.changes().count == 1)
    }
    let texts = follower.model.records.map { $0.values["value"].string }
    #expect(
      texts == ["\n\nevent: didChange\u{2028}\u{85}", "\rdata: x\r\n\u{2028}\u{85}"])
  }
}
