import Testing

@Suite(.endToEnd) struct `Keys in a URL` {
  @Test func `are percent-encoded values joined by commas`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE word (text TEXT PRIMARY KEY) WITHOUT ROWID;
      INSERT INTO word VALUES ('plain'), ('a,b'), ('a/b'), ('100%'), ('%2C'), ('é😀'), (''), (' '),
        ('1'), ('a?b#c'), ('..'), ('a+b'), ('null');
      CREATE TABLE pair (a TEXT, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
      INSERT INTO pair VALUES ('x,y', 1), ('x', 2), ('', 3), ('1', 1);
      """)
    let client = fixture.client()
    func key(_ path: String) throws -> JSONValue {
      let answer = try client.get("/v1/queries/\(path)")
      #expect(answer.status == 200, "\(path): \(answer.text)")
      return try answer.json["key"]
    }
    for (text, value) in [
      ("plain", "plain"), ("a%2Cb", "a,b"), ("a%2Fb", "a/b"), ("100%25", "100%"),
      ("%252C", "%2C"), ("%C3%A9%F0%9F%98%80", "é😀"), ("", ""), ("%20", " "), ("1", "1"),
      ("a%3Fb%23c", "a?b#c"), ("a+b", "a+b"), ("null", "null"), ("%70lain", "plain"),
    ] {
      #expect(try key("word/records/\(text)") == [.string(value)], "\(text)")
    }
    #expect(try key("pair/records/x%2Cy,1") == ["x,y", 1])
    #expect(try key("pair/records/x,2") == ["x", 2])
    #expect(try key("pair/records/,3") == ["", 3])
    #expect(try key("pair/records/1,1") == ["1", 1])
    for path in ["pair/records/x", "pair/records/x,y,1", "pair/records/x,3", "word/records/a,b"] {
      #expect(try client.get("/v1/queries/\(path)").status == 404, "\(path)")
    }
  }

  @Test func `tell types apart where a column does not`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE any (k PRIMARY KEY) WITHOUT ROWID;
      INSERT INTO any VALUES (1), ('1'), (1.5), ('1.5'), (x'31'), ('x'), (9007199254740993);
      """)
    let client = fixture.client()
    for (text, value) in [
      ("1", "1"), ("1.5", "1.5"), ("x", #""x""#), ("MQ==", #"{"base64":"MQ=="}"#),
    ] {
      let answer = try client.get("/v1/queries/any/records/\(text)")
      #expect(try answer.json["key"].description == "[\(value)]", "\(text)")
    }
    #expect(
      try client.get("/v1/queries/any/records/9007199254740993").json["record"]["k"].description
        == "9007199254740993")
  }

  @Test func `are no help where there are none`() throws {
    // What INTERSECT has made one record of is of no row, and may be of what is no column.
    let sql = "SELECT team FROM player INTERSECT SELECT team || '' FROM player ORDER BY team"
    let fixture = try ServerFixture(Teams.schema, queries: "teams:\n  sql: \(sql)\n")
    let answer = try fixture.get("/v1/queries/teams/records/Blue")
    #expect(answer.status == 404)
    #expect(try answer.json["detail"].string?.contains("index path") == true)
    // Records without a key come and go only.
    let follower = try fixture.follow("teams")
    try fixture.writer().commit("UPDATE player SET team = 'Black' WHERE team = 'Blue'")
    #expect(
      try follower.changes() == [
        #"change {"type":"deletion","indexPath":[0,0],"key":[],"record":{"team":"Blue"}}"#,
        #"change {"type":"insertion","newIndexPath":[0,0],"key":[],"record":{"team":"Black"}}"#,
      ])
    try fixture.expectTruth(follower, "teams", sql)
  }

  @Test func `that are steps of a path end with a comma`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE word (text TEXT PRIMARY KEY) WITHOUT ROWID;
      INSERT INTO word VALUES ('.'), ('..'), ('a'), ('a,'), ('..,');
      CREATE TABLE pair (a TEXT, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
      INSERT INTO pair VALUES ('x', ''), ('x', 'y');
      """)
    let client = fixture.client()
    for (path, key) in [
      ("word/records/.,", #"["."]"#), ("word/records/..,", #"[".."]"#),
      ("word/records/%2E%2E,", #"[".."]"#), ("word/records/a,", #"["a"]"#),
      ("word/records/a%2C", #"["a,"]"#), ("word/records/..%2C", #"["..,"]"#),
      ("pair/records/x,", #"["x",""]"#), ("pair/records/x,y,", #"["x","y"]"#),
      ("pair/records/x,,", #"["x",""]"#),
    ] {
      let answer = try client.get("/v1/queries/\(path)")
      #expect(answer.status == 200, "\(path): \(answer.text)")
      #expect(try answer.json["key"].description == key, "\(path)")
    }
    for path in ["word/records/a,,", "word/records/,a", "pair/records/x", "pair/records/x,y,,"] {
      #expect(try client.get("/v1/queries/\(path)").status == 404, "\(path)")
    }
  }
}
