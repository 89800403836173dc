import Testing

@Suite(.endToEnd) struct `A large result` {
  private func serve(_ count: Int, textLength: Int) throws -> ServerFixture {
    try ServerFixture(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO t SELECT i, printf('%.*c', \(textLength), 'x') FROM n;
      CREATE TABLE other (id INTEGER PRIMARY KEY);
      """)
  }

  /// More than is written for all streams together.
  @Test func `of another shape comes to each stream as at its beginning`() throws {
    let fixture = try serve(20, textLength: 60_000)
    let writer = try fixture.writer()
    let followers = try ["", "", "?limit=10000"].map { try fixture.follow("t", $0) }
    let several = fixture.stream("/v1/events?query=other&query=t")
    for name in ["other", "t"] { #expect(try several.next()?.json["query"].string == name) }
    try writer.commit("ALTER TABLE t ADD COLUMN more DEFAULT 7")
    for follower in followers {
      try follower.expectSnapshot()
      #expect(follower.model.records.count == 20)
    }
    var last: ReceivedEvent?
    for name in ["other", "t"] {
      last = try several.next()
      #expect(last?.type == "snapshot")
      #expect(try last?.json["query"].string == name)
    }
    #expect(last?.carriesID == true)
    try writer.commit("UPDATE t SET more = 8 WHERE id = 3")
    for follower in followers { #expect(try follower.changes().count == 1) }
    #expect(try several.next()?.type == "willChange")
  }

  @Test func `is looked through for a key, also after a change`() throws {
    let fixture = try serve(6000, textLength: 1)
    let client = fixture.client()
    let path = "/v1/queries/t/records"
    let next = try #require(try client.get("\(path)?limit=1&offset=4999").json["next"].string)
    for key in [1, 6000] {
      #expect(try client.get("\(path)/\(key)").json["indexPath"][1].int == key - 1)
    }
    #expect(try client.get("\(path)/6001").status == 404)
    try fixture.writer().commit("DELETE FROM t WHERE id <= 1000")
    try eventually("the records are gone") {
      try client.get("\(path)?limit=1").json["numberOfRecords"].int == 5000
    }
    #expect(try client.get("\(path)/1").status == 404)
    #expect(try client.get("\(path)/6000").json["indexPath"][1].int == 4999)
    // Further from its place than records are looked for one by one.
    let page = try client.get("\(path)?limit=1&after=\(next)").json
    #expect(page["records"][0]["key"] == [5001])
    #expect(page["offset"] == 4000)
  }
}
