import Testing

@Suite(.endToEnd) struct `A page of comma-separated values` {
  private static let accept = "Accept: text/csv"

  @Test func `has a header, and quotes what must be`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE v (id INTEGER PRIMARY KEY, [a,"b"] TEXT, real REAL, done BOOLEAN, photo BLOB,
        tags JSON, icon BLOB);
      INSERT INTO v VALUES
        (1, 'plain', 1.5, 1, x'fbff', '{"a": 1}', x'00'),
        (2, '', 9e999, 0, NULL, 'no', NULL),
        (3, 'a,b "c"' || char(13, 10) || 'd', -0.5, 2, x'', '[]', NULL),
        (4, NULL, 3.0, NULL, '=1+1', ' @x', NULL),
        (5, CAST(x'61ff' AS TEXT), NULL, NULL, 'Grüße', '-1', NULL);
      """, queries: "v: {table: v, columns: {icon: {blob: image/png}}}")
    let answer = try fixture.get("/v1/queries/v/records", [Self.accept])
    #expect(answer.status == 200)
    #expect(answer.head["Content-Type"] == "text/csv; charset=utf-8; header=present")
    #expect(answer.head["Vary"] == "Accept")
    let lines = answer.text.split(separator: "\r\n", omittingEmptySubsequences: false)
    let digest = try #require(answer.text.firstMatch(of: /digest=([\w-]{22})/)).1
    #expect(
      lines == [
        #"id,"a,""b""",real,done,photo,tags,icon"#,
        #"1,plain,1.5,true,+/8=,"{""a"": 1}",records/1/icon?digest=\#(digest)"#,
        #"2,"",,false,,no,"#, #"3,"a,b ""c"""#, #"d",-0.5,2,,[],"#, "4,,3.0,,=1+1, @x,",
        "5,a\u{FFFD},,,Grüße,-1,", "",
      ])
  }

  @Test func `of one column has no empty line`() throws {
    let fixture = try ServerFixture(
      "CREATE TABLE v (a); INSERT INTO v VALUES (NULL), (1)")
    #expect(
      try fixture.get("/v1/queries/v/records", [Self.accept]).text == "a\r\n\"\"\r\n1\r\n")
  }

  @Test(arguments: [
    ("text/csv", true), ("text/*", true), ("application/json;q=0.5, text/csv", true),
    ("text/csv;q=0.9, application/json;q=0.8", true), ("text/csv, application/json", false),
    ("text/csv;q=0.5, application/json", false), ("*/*", false), ("text/csv;q=0.1, */*", false),
    ("application/json", false), ("text/html, */*;q=0.8", false),
  ])
  func `is given to who would rather have it`(accept: String, isTable: Bool) throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    let client = fixture.client()
    for path in ["records", "sections/0/records"] {
      // Whatever was asked for before.
      for _ in 1...2 {
        let answer = try client.get("/v1/queries/players/\(path)", ["Accept: \(accept)"])
        #expect(answer.status == 200)
        #expect(answer.head["Content-Type"]?.hasPrefix("text/csv") == isTable, "\(path)")
        #expect(answer.text.hasPrefix(isTable ? "id,name" : "{"))
        _ = try client.get("/v1/queries/players/\(path)")
      }
    }
    #expect(try client.get("/v1/queries/players", ["Accept: text/csv"]).status == 406)
  }

  @Test func `leads to the next one, and has a state of its own`() throws {
    let fixture = try ServerFixture(Teams.schema + Teams.others(20), queries: Teams.query)
    let client = fixture.client()
    let path = "/v1/queries/players/records"
    let json = try client.get(path)
    let table = try client.get("\(path)?limit=5", [Self.accept])
    #expect(table.head["ETag"] != json.head["ETag"])
    let tag = try #require(table.head["ETag"])
    #expect(
      try client.get("\(path)?limit=5", [Self.accept, "If-None-Match: \(tag)"]).status == 304)
    #expect(try client.get("\(path)?limit=5", ["If-None-Match: \(tag)"]).status == 200)
    var (rows, next) = ([Substring](), "?limit=5")
    while true {
      let answer = try client.get(path + next, [Self.accept])
      rows += answer.text.split(separator: "\r\n").dropFirst()
      guard let link = answer.head["Link"] else { break }
      next = String(try #require(link.wholeMatch(of: /<(\?[^>]+)>; rel="next"/)).1)
    }
    #expect(
      rows.map { $0.prefix { $0 != "," } }
        == (try json.json["records"].elements.map { "\($0["key"][0])"[...] }))
  }

  @Test func `is one of a result that nobody holds too`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE n (id INTEGER PRIMARY KEY, name TEXT);
      WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < 60000)
      INSERT INTO n SELECT x, 'N' || x FROM i;
      """)
    let answer = try fixture.get("/v1/queries/n/records?offset=40000&limit=2", [Self.accept])
    #expect(answer.text == "id,name\r\n40001,N40001\r\n40002,N40002\r\n")
    #expect(answer.head["Link"]?.contains("limit=2&after=") == true)
  }
}
