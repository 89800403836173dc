import Testing

@Suite(.endToEnd) struct `Section names` {
  private static let schema = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, s);
    INSERT INTO t VALUES (1, NULL), (2, 42), (3, 42.0), (4, 1.5), (5, ''), (6, 'éa'), (7, '😀x'),
      (8, 'ßa'), (9, x'4100'), (10, 'a/b c');
    """

  @Test func `may be any value, and their titles are text`() throws {
    let fixture = try ServerFixture(Self.schema, queries: "t: {table: t, section: s}")
    let sections = try fixture.get("/v1/queries/t/sections").json["sections"].elements
    let expected: [(name: String, title: String, count: Int)] = [
      ("null", "", 1), ("1.5", "1", 1), ("42", "4", 2), (#""""#, "", 1), (#""a/b c""#, "A", 1),
      (#""ßa""#, "SS", 1), (#""éa""#, "É", 1), (#""😀x""#, "😀", 1),
      (#"{"base64":"QQA="}"#, "A", 1),
    ]
    #expect(sections.map { $0["name"].description } == expected.map(\.name))
    #expect(sections.map { $0["indexTitle"].string } == expected.map(\.title))
    #expect(sections.map { $0["numberOfRecords"].int } == expected.map(\.count))
    let titles = try fixture.get("/v1/queries/t/sectionIndexTitles").json["sectionIndexTitles"]
    #expect(titles == ["", "1", "4", "A", "SS", "É", "😀"])
    // The stream's sections are the same.
    let follower = try fixture.follow("t")
    try fixture.writer().commit(
      "DELETE FROM t WHERE id IN (2, 9); UPDATE t SET s = 42 WHERE id = 4")
    _ = try follower.changes()
    try fixture.expectTruth(follower, "t", "SELECT * FROM t ORDER BY s, id")
  }

  @Test func `may have titles of their own`() throws {
    let fixture = try ServerFixture(
      Self.schema,
      queries: """
        t:
          table: t
          fields: [id]
          section: id / 4
          sectionIndexTitle: "'#' || (id / 4)"
        """)
    let follower = try fixture.follow("t")
    #expect(follower.model.sections.map(\.name) == [0, 1, 2])
    #expect(follower.model.sections.map(\.indexTitle) == ["#0", "#1", "#2"])
    let path = "/v1/queries/t/sectionIndexTitles"
    #expect(try fixture.get(path).json["sectionIndexTitles"] == ["#0", "#1", "#2"])
    #expect(try fixture.get("\(path)/%231").json["section"] == 1)
    #expect(try fixture.get("\(path)/%2F").json["section"] == 2)
    try fixture.writer().commit("INSERT INTO t VALUES (12, NULL)")
    #expect(
      try follower.changes() == [
        ##"sectionChange {"type":"insertion","section":3,"name":3,"indexTitle":"#3"}"##,
        #"change {"type":"insertion","newIndexPath":[3,0],"key":[12],"record":{"id":12}}"#,
      ])
  }

  /// Names that a collation takes for one are still two sections, and each comes once.
  @Test func `that differ in case only are two`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT COLLATE NOCASE);
      INSERT INTO t VALUES (1, 'a'), (2, 'A'), (3, 'b'), (4, 'a'), (5, 'A');
      """, queries: "t: {table: t, section: s}")
    let follower = try fixture.follow("t")
    #expect(follower.model.sections.map(\.name) == ["A", "a", "b"])
    try fixture.writer().commit("UPDATE t SET s = 'B' WHERE s = 'a' COLLATE BINARY")
    _ = try follower.changes()
    #expect(follower.model.sections.map(\.name) == ["A", "B", "b"])
    #expect(follower.model.records.map(\.key) == [[2], [5], [1], [4], [3]])
  }
}
