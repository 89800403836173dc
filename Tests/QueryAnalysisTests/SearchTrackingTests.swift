import GRDB
import Testing

@testable import QueryAnalysis

@Suite struct `Tracking of searches` {
  private static let schema = """
    CREATE TABLE post (id INTEGER PRIMARY KEY, title TEXT, author TEXT, at INTEGER);
    CREATE INDEX postByAuthor ON post(author);
    CREATE TABLE tag (post INTEGER, word TEXT);
    CREATE INDEX tagByPost ON tag(post);
    CREATE VIRTUAL TABLE text USING fts5(title, body, prefix = '2 3', tokenize = "porter ascii");
    CREATE VIRTUAL TABLE outside USING fts5(title, content = 'post', content_rowid = 'id');
    CREATE VIRTUAL TABLE contentless USING fts5(title, content = '');
    CREATE VIRTUAL TABLE older USING fts4(title);
    CREATE VIRTUAL TABLE place USING rtree(id, west, east);
    CREATE VIEW hit AS SELECT rowid AS doc, highlight(text, 0, '<', '>') AS mark, title FROM text;
    CREATE VIEW tagged AS
      SELECT id, at, text.rowid AS doc, (SELECT count(*) FROM tag WHERE tag.post = id) AS tags
      FROM post JOIN text ON text.rowid = id
      WHERE EXISTS (SELECT 1 FROM tag WHERE tag.post = text.rowid AND word <> text.title);
    """

  private func query(_ sql: String) throws -> Query {
    try DatabaseQueue().write { db in
      try db.execute(sql: Self.schema)
      let parameters = sql.contains(":q") ? [QueryParameter(name: "q", type: .text)] : []
      return try Query.analyzed(
        QueryDefinition(name: "q", form: .sql(sql), parameters: parameters), in: db)
    }
  }

  @Test(arguments: [
    "SELECT post.* FROM post JOIN text ON text.rowid = post.id WHERE text MATCH :q ORDER BY at DESC",
    "SELECT post.* FROM text, post WHERE text.rowid = post.id AND text = :q",
    "SELECT post.* FROM text(:q) AS t JOIN post ON post.id = t.rowid",
    "SELECT id, title FROM post WHERE id IN (SELECT rowid FROM text WHERE text MATCH :q)",
    "SELECT id FROM post WHERE id NOT IN (SELECT rowid FROM text WHERE text MATCH :q)",
    "SELECT id FROM post WHERE EXISTS (SELECT 1 FROM text(:q) AS t WHERE t.rowid = post.id)",
    "SELECT id, (SELECT snippet(text, 1, '', '', '…', 9) FROM text WHERE text MATCH :q AND rowid = id) AS s FROM post",
    "SELECT rowid, title, highlight(text, 0, '<b>', '</b>') AS t FROM text WHERE text MATCH :q ORDER BY rowid",
    "SELECT t.* FROM text AS t WHERE t.text MATCH :q AND t.title MATCH 'a' AND length(body) > 3",
    "SELECT title, body FROM text WHERE body LIKE '%x%' ORDER BY title",
    "SELECT post.id, text.body FROM post LEFT JOIN text ON text.rowid = post.id AND text MATCH :q",
    "SELECT author, count(*) AS n FROM post JOIN text ON text.rowid = id WHERE text MATCH :q GROUP BY author",
    "SELECT post.id, word FROM text JOIN post ON id = text.rowid JOIN tag ON tag.post = id WHERE text MATCH :q",
    "SELECT post.id, mark FROM hit JOIN post ON doc = post.id",
    "SELECT text.title FROM text WHERE text MATCH :q LIMIT 20 OFFSET 3",
    "SELECT id, (SELECT max(rowid) FROM text WHERE text MATCH :q AND rowid = id) AS m FROM post",
    "SELECT id, tags FROM tagged",
    "SELECT id, at, tags FROM tagged WHERE id IN (SELECT rowid FROM text WHERE text MATCH :q)",
    "SELECT post.id, word FROM post LEFT JOIN tag ON tag.post = id AND id IN (SELECT rowid FROM text WHERE text MATCH :q)",
    "SELECT post.id, text.title FROM post LEFT JOIN text ON text.rowid = post.id WHERE text.title IS NULL OR at > 3",
    "SELECT post.id, text.title FROM text RIGHT JOIN post ON text.rowid = post.id",
    "WITH found AS (SELECT rowid AS doc FROM text WHERE text MATCH :q) SELECT id FROM post WHERE id IN (SELECT doc FROM found)",
    "SELECT id, title FROM post WHERE id IN (SELECT rowid FROM text WHERE text MATCH :q) UNION ALL SELECT rowid, title FROM text WHERE text MATCH :q",
    "SELECT id, count(*) OVER (PARTITION BY author) AS n FROM post WHERE id IN (SELECT rowid FROM text WHERE text MATCH :q)",
  ])
  func `is row by row where FTS5 looks up the rowid`(sql: String) throws {
    let query = try query(sql)
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    let leads = try #require(query.plan).leads
    #expect(leads.allSatisfy { $0.isFollowed }, "\(query.tracking.reason)")
    #expect(leads.flatMap(\.followedTables).contains("text_content"))
  }

  /// Whoever writes to an index of another table's rows.
  @Test(arguments: [
    (
      "SELECT post.* FROM post JOIN outside ON outside.rowid = post.id WHERE outside MATCH :q ORDER BY at DESC",
      ["outside_data", "outside_docsize", "post"]
    ),
    (
      "SELECT id, title FROM post WHERE id IN (SELECT rowid FROM outside WHERE outside MATCH :q)",
      ["outside_data", "outside_docsize", "post"]
    ),
    (
      "SELECT rowid, highlight(outside, 0, '<b>', '</b>') AS t FROM outside WHERE outside MATCH :q ORDER BY rowid",
      ["outside_data", "outside_docsize", "post"]
    ),
    (
      "SELECT author, count(*) AS n FROM post JOIN outside AS t ON t.rowid = id WHERE t.outside MATCH :q GROUP BY author",
      ["outside_data", "outside_docsize", "post"]
    ),
  ])
  func `is row by row where the index tells which documents changed`(
    sql: String, followed: [String]
  ) throws {
    let query = try query(sql)
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    let plan = try #require(query.plan)
    #expect(plan.leads.allSatisfy { $0.isFollowed }, "\(query.tracking.reason)")
    #expect(Set(plan.followedTables).sorted() == followed)
  }

  @Test func `needs no contributions where rows are joined by their rowids`() throws {
    for sql in [
      "SELECT at FROM post JOIN text ON text.rowid = post.id WHERE text MATCH :q",
      "SELECT at FROM post WHERE id IN (SELECT rowid FROM text WHERE text MATCH :q)",
    ] {
      let plan = try #require(try query(sql).plan)
      #expect(plan.contributions.isEmpty)
      #expect(plan.leads.map(\.table) == ["post", "text"])
      #expect(plan.leads.allSatisfy { $0.isOwner })
    }
  }

  @Test(arguments: [
    (
      "SELECT rowid, title FROM text WHERE text MATCH :q ORDER BY rank",
      "the rank of a row depends on every row of text"
    ),
    (
      "SELECT rowid FROM text('a') ORDER BY bm25(text, 2.0)",
      "bm25() may depend on every row of text"
    ),
    (
      "SELECT id, (SELECT max(t.rank) FROM tag WHERE post = id) AS r FROM post JOIN text('a') AS t ON t.rowid = id",
      "the rank of a row depends on every row of text"
    ),
    ("SELECT rowid, text FROM text", "text is no value: search for something in it by MATCH"),
    ("SELECT rowid, text = 'a' AS t FROM text", "text is no value: search for something in it"),
    ("SELECT rowid FROM text WHERE text LIKE 'a%'", "text is no value"),
    ("SELECT rowid FROM contentless('a')", "contentless keeps no documents"),
    ("SELECT title FROM older WHERE older MATCH :q", "older is a virtual table"),
    ("SELECT id FROM place", "place is a virtual table"),
  ])
  func `runs again where more than rows decide`(sql: String, reason: String) throws {
    let tracking = try query(sql).tracking
    #expect(tracking.mode == .refetch)
    #expect(tracking.reason.hasPrefix(reason), "\(tracking.reason)")
  }

  @Test(arguments: [
    ("fts5(a, tokenize = 'own 1')", "what its tokenizer own makes of a text is not known"),
    ("fts5(a, tokenize = 'porter own')", "what its tokenizer own makes of a text is not known"),
    ("fts5(a, tokenize = \"unicode61 tokenchars 'own'\")", nil),
    ("fts5(a, tokenize = porter, detail = none, columnsize=0, prefix='2 3')", nil),
    ("fts5(a, cont = 'post')", "its option cont is not known"),
    ("fts5(a, content = post, content_rowid = ID)", nil),
    ("fts5(a, content = \"post\", content_rowid = oid)", nil),
    (
      "fts5(a, content = post, content_rowid = at)",
      "odd has the documents of post, but not under its rowids"
    ),
    ("fts5(a, content = hit)", "odd has the documents of hit, but not under its rowids"),
    ("fts5(a, content = word)", "odd has the documents of word, but not under its rowids"),
    (
      "fts5(a, content = post, content_rowid = id, columnsize = 0)",
      "odd does not tell which documents it has: it needs columnsize = 1"
    ),
    ("\"FTS5\"(content, rank2, title UNINDEXED)", nil),
  ])
  func `an option that is not known is a reason to run again`(
    module: String, reason: String?
  ) throws {
    try DatabaseQueue().write { db in
      try db.execute(sql: Self.schema)
      try db.execute(sql: "CREATE TABLE word (word TEXT PRIMARY KEY) WITHOUT ROWID")
      try db.execute(
        sql: """
          PRAGMA writable_schema = ON;
          INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
          VALUES ('table', 'odd', 'odd', 0, ?)
          """, arguments: ["CREATE VIRTUAL TABLE odd USING \(module)"])
      let table = try #require(SearchTable("ODD", SchemaFacts(db: db)))
      #expect(table.lack == reason)
    }
  }

  @Test func `knows the tables that a virtual one reads`() throws {
    let query = try query("SELECT post.id FROM post JOIN text ON text.rowid = id")
    #expect(query.tables == ["post", "text"])
    #expect(
      Set(query.storage) == [
        "text_config", "text_content", "text_data", "text_docsize", "text_idx",
      ])
  }
}
