import Foundation
import Testing

@Suite(.endToEnd) struct `Records and sections` {
  private let fixture: ServerFixture
  private let client: HTTPClient

  init() throws {
    fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    client = fixture.client()
  }

  private func get(_ path: String) throws -> JSONValue {
    try client.get("/v1/queries/players/\(path)").json
  }

  /// The resource without what names its version, which nobody can know beforehand.
  private func body(_ path: String) throws -> String {
    let json = try get(path)
    #expect(json["version"].string?.contains(".") == true)
    #expect(json["commit"].int != nil)
    guard case .object(let members) = json else { return "\(json)" }
    return JSONValue.object(members.filter { !["version", "commit"].contains($0.name) }).description
  }

  @Test func `are these`() throws {
    #expect(
      try body("sections")
        == #"{"numberOfRecords":6,"sections":[{"index":0,"name":"Blue","indexTitle":"B","numberOfRecords":3,"offset":0},{"index":1,"name":"Green","indexTitle":"G","numberOfRecords":1,"offset":3},{"index":2,"name":"Red","indexTitle":"R","numberOfRecords":2,"offset":4}]}"#
    )
    #expect(
      try get("sections/1").description
        == #"{"index":1,"name":"Green","indexTitle":"G","numberOfRecords":1,"offset":3}"#)
    #expect(
      try body("sections/2/records")
        == #"{"numberOfRecords":2,"offset":0,"records":[{"key":[5],"record":{"id":5,"name":"Eve","team":"Red","score":50}},{"key":[6],"record":{"id":6,"name":"Fay","team":"Red","score":60}}],"next":null}"#
    )
    #expect(
      try body("sections/0/records/2")
        == #"{"indexPath":[0,2],"key":[3],"record":{"id":3,"name":"Cy","team":"Blue","score":30}}"#)
    #expect(
      try body("records/5")
        == #"{"indexPath":[2,0],"key":[5],"record":{"id":5,"name":"Eve","team":"Red","score":50}}"#)
    #expect(
      try body("records?offset=3&limit=1")
        == #"{"numberOfRecords":6,"offset":3,"records":[{"key":[4],"record":{"id":4,"name":"Dan","team":"Green","score":40}}],"next":"#
        + "\(try get("records?offset=3&limit=1")["next"])}")
    #expect(
      try get("sectionIndexTitles").names == ["version", "sectionIndexTitles"])
    #expect(try get("sectionIndexTitles")["sectionIndexTitles"] == ["B", "G", "R"])
  }

  @Test func `come in pages`() throws {
    #expect(try get("records?offset=4")["records"].elements.count == 2)
    #expect(try get("records?offset=6")["records"] == [])
    #expect(try get("records?offset=6")["next"] == nil)
    #expect(try get("records?offset=1000000")["records"] == [])
    #expect(try get("records?limit=6")["next"] == nil)
    #expect(try get("sections/0/records?offset=1&limit=1")["records"][0]["key"] == [2])
    #expect(try get("sections/0/records?limit=3")["next"] == nil)
    let next = try get("sections/0/records?limit=1")["next"].string ?? ""
    let second = try get("sections/0/records?limit=1&after=\(next)")
    #expect(second["records"][0]["key"] == [2])
    #expect(second["offset"] == 1)
    for limit in 1...7 {
      let all = try client.allRecords("/v1/queries/players/records", limit: limit)
      #expect(all.records.map(\.key) == [[1], [2], [3], [4], [5], [6]])
    }
  }

  @Test(arguments: [
    "limit=0", "limit=-1", "limit=10001", "limit=x", "limit=", "limit=1.5",
    "limit=99999999999999999999", "offset=-1", "offset=x", "offset=99999999999999999999",
    "after=x", "after=", "after=%C3", "offset=1&after=x", "limit=1&limit=1", "before=x",
    "snapshot=false",
  ])
  func `refuse a page that cannot be`(items: String) throws {
    let answer = try client.get("/v1/queries/players/records?\(items)")
    #expect(answer.status == 400)
    #expect(answer.head["Content-Type"] == "application/problem+json")
    #expect(try answer.json["detail"].string?.isEmpty == false)
    #expect(try client.get("/v1/queries/players/records?limit=10000").status == 200)
  }

  @Test(arguments: [
    "sections/3", "sections/-1", "sections/00", "sections/+1", "sections/0/records/01",
    "sections/x", "sections/", "sections/99999999999999999999",
    "sections/3/records", "sections/0/records/3", "sections/0/records/-1", "sections/0/records/x",
    "records/7", "records/1,2", "records/x", "records/",
  ])
  func `that are not there are not found`(path: String) throws {
    let answer = try client.get("/v1/queries/players/\(path)")
    #expect(answer.status == 404)
    #expect(answer.head["Content-Type"] == "application/problem+json")
    #expect(try answer.json["detail"].string?.isEmpty == false)
  }

  /// `next` is opaque, but clients can make one up.
  @Test func `come in no page that was made up`() throws {
    for (plain, keys) in [
      ("x-1 9223372036854775807", 0), ("x-1 9223372036854775807 0 i99", 0), ("x-1 0 0 i2", 4),
      ("x-1 3", 3), ("x-1 0 0 i1,i2", 6), ("x-1 0 9223372036854775806 i2", 4),
      ("x-1 9223372036854775807 9223372036854775806 i2", 4), ("x-1 0 0 n", 6),
    ] {
      let token = Data(plain.utf8).base64EncodedString()
      let page = try get("records?after=\(token.replacing("=", with: ""))")
      #expect(page["records"].elements.count == keys, "\(plain)")
    }
  }

  @Test(arguments: ["x-1 0 i2", "x-1 0 -1 i2", "x-1 0 9223372036854775807 i2", "x-1 0 0 2"])
  func `are refused where the page before was made up wrongly`(plain: String) throws {
    let token = Data(plain.utf8).base64EncodedString().replacing("=", with: "")
    #expect(try client.get("/v1/queries/players/records?after=\(token)").status == 400)
  }

  @Test func `are found by the title of their section, downwards too`() throws {
    let fixture = try ServerFixture(
      "CREATE TABLE t (s); INSERT INTO t VALUES ('Red'), ('Green'), ('Blue')",
      queries: "t:\n  sql: SELECT s FROM t ORDER BY s DESC\n  section: s\n")
    for (title, section) in [
      ("Z", 0), ("R", 0), ("M", 1), ("G", 1), ("F", 2), ("B", 2), ("A", 2),
    ] {
      #expect(
        try fixture.get("/v1/queries/t/sectionIndexTitles/\(title)").json["section"].int
          == section, "\(title)")
    }
  }

  @Test func `are found by the title of their section`() throws {
    for (title, section) in [
      ("A", 0), ("B", 0), ("C", 1), ("G", 1), ("H", 2), ("R", 2), ("Z", 2), ("%C3%89", 2),
    ] {
      #expect(
        try get("sectionIndexTitles/\(title)").description == #"{"section":\#(section)}"#,
        "\(title)")
    }
    try fixture.writer().commit("DELETE FROM player")
    try eventually("no section") { try get("sections")["sections"] == [] }
    #expect(try client.get("/v1/queries/players/sectionIndexTitles/A").status == 404)
    #expect(try get("sectionIndexTitles")["sectionIndexTitles"] == [])
  }

  /// Records that share a key are told apart by their order.
  @Test func `are walked to the end where keys repeat and records come before them`() throws {
    let fixture = try ServerFixture(
      "CREATE TABLE item (k INTEGER, rank REAL, n INTEGER);"
        + (1...30).map { "INSERT INTO item VALUES (1, 0, \($0));" }.joined(),
      queries: "items:\n  sql: SELECT k, n FROM item ORDER BY rank, n\n  key: [k]\n")
    let follower = try fixture.follow("items")
    let writer = try fixture.writer()
    var seen: [Int] = []
    var next: String?
    for step in 1...6 {
      let path = "/v1/queries/items/records?limit=5" + (next.map { "&after=\($0)" } ?? "")
      let page = try fixture.get(path).json
      seen += page["records"].elements.compactMap { $0["record"]["n"].int }
      next = page["next"].string
      // Further than a page is long.
      let rows = (1...9).map { "(\(-100 * step - $0), \(-step), 0)" }.joined(separator: ", ")
      try writer.commit("INSERT INTO item VALUES \(rows)")
      _ = try follower.changes()
    }
    #expect(seen == Array(1...30))
    #expect(next == nil)
  }

  /// Whoever walks the pages while records come and go before them misses none of the records that
  /// stay, and gets none of them twice.
  @Test func `are walked whole while they change`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, rank REAL);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO item SELECT i, i FROM n;
      """, queries: "items: {table: item, order: [rank]}")
    let follower = try fixture.follow("items")
    let writer = try fixture.writer()
    var seen: [Int] = []
    var next: String?
    var step = 0
    repeat {
      let path = "/v1/queries/items/records?limit=10" + (next.map { "&after=\($0)" } ?? "")
      let page = try fixture.get(path).json
      seen += page["records"].elements.compactMap { $0["key"][0].int }
      next = page["next"].string
      step += 1
      // One comes before everything and one goes that was seen: offsets shift to and fro.
      try writer.commit(
        """
        INSERT INTO item VALUES (\(1000 + 2 * step), \(-step)), (\(1001 + 2 * step), \(-step) - 0.5);
        DELETE FROM item WHERE id = \(step * 10 - 5)
        """)
      _ = try follower.changes()
    } while next != nil
    #expect(seen == Array(1...200))
    try fixture.expectTruth(follower, "items", "SELECT * FROM item ORDER BY rank, id")
  }
}
