import GRDB
import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// Records of UNION ALL and of UNION, whichever of their SELECTs a changed row is in.
@Suite struct `Records of UNION` {
  private static let schema = """
    CREATE TABLE post (id INTEGER PRIMARY KEY, tag TEXT, score INTEGER, author INTEGER);
    CREATE TABLE note (id INTEGER PRIMARY KEY, word TEXT, weight INTEGER);
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE vacant (word TEXT, n INTEGER);
    CREATE TABLE keyed (word TEXT COLLATE NOCASE, n INTEGER, more INTEGER, PRIMARY KEY (word, n)) WITHOUT ROWID;
    CREATE INDEX postByAuthor ON post(author);
    CREATE VIEW feed(kind, id, text) AS
      SELECT 'post', id, tag FROM post UNION ALL SELECT 'note', id, word FROM note;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      INSERT INTO post SELECT i, 't' || (i % 7), i % 3, i % 10 FROM n;
    INSERT INTO note SELECT id, CASE id % 5 WHEN 0 THEN NULL ELSE 't' || (id % 9) END, id % 3 FROM post;
    INSERT INTO author SELECT id, 'a' || (id % 4) FROM post WHERE id < 10;
    INSERT INTO keyed SELECT 'k' || (id % 5), id, id % 4 FROM post WHERE id < 30;
    """

  private static let changes = [
    "UPDATE post SET tag = 't8' WHERE id = 3", "UPDATE post SET tag = 'T8' WHERE id = 4",
    "DELETE FROM post WHERE id = 10", "DELETE FROM note WHERE word = 't1' AND id > 10",
    "UPDATE note SET word = NULL, weight = 7 WHERE id = 11",
    "INSERT INTO post VALUES (90, '1', 1, 3), (91, 1, 1.0, 3), (92, 1.0, '1', 4)",
    "INSERT INTO note VALUES (90, x'31', 1), (91, NULL, NULL), (92, '', 2)",
    "UPDATE author SET name = 'a9' WHERE id = 3", "DELETE FROM author WHERE id = 5",
    "INSERT INTO author VALUES (0, 'a1')", "INSERT INTO vacant VALUES ('t1', 1)",
    "DELETE FROM post WHERE id = 60; INSERT INTO post VALUES (60, 't1', 2, 9)",
    "UPDATE post SET id = 600 WHERE id = 60", "UPDATE note SET id = -4 WHERE id = 7",
    "DELETE FROM vacant", "UPDATE post SET tag = 'only' WHERE id = 600",
    "DELETE FROM post WHERE tag = 'only'", "DELETE FROM note WHERE weight = 2 AND id < 30",
    "UPDATE keyed SET word = 'K1' WHERE word = 'k1' AND n < 12",
    "INSERT INTO keyed VALUES ('new', 1, 1)", "DELETE FROM keyed WHERE n = 4",
    "UPDATE keyed SET more = 9 WHERE word = 'NEW'", "UPDATE post SET author = NULL WHERE id < 3",
  ]

  private static let distinct = [
    "SELECT tag FROM post UNION SELECT word FROM note",
    "SELECT tag AS t, score AS n FROM post UNION SELECT word, weight FROM note ORDER BY n DESC, t",
    "SELECT tag, score FROM post UNION SELECT tag, score FROM post WHERE id > 20 ORDER BY 2",
    "SELECT word, n FROM vacant UNION SELECT tag, score FROM post",
    "SELECT tag, 'p' AS kind FROM post UNION ALL SELECT word, 'n' FROM note UNION SELECT name, 'a' FROM author",
    "SELECT name, tag FROM post JOIN author ON author.id = author UNION SELECT word, NULL FROM note",
    "SELECT p.tag, name FROM post p JOIN author a ON a.id = p.author UNION SELECT word, NULL FROM note ORDER BY tag, a.name",
    "SELECT name FROM author UNION SELECT a.tag FROM post a JOIN post b ON b.author = a.author AND b.id < 20",
    "SELECT lower(tag) AS t, CAST(score AS TEXT) AS s FROM post UNION SELECT word, '1' FROM note",
    "SELECT more, n FROM keyed UNION SELECT score, author FROM post",
    """
    SELECT tag FROM post WHERE EXISTS (SELECT 1 FROM author WHERE author.id = author)
    UNION SELECT word FROM note WHERE weight > 0
    """,
  ]

  private static let all = [
    "SELECT id, tag FROM post UNION ALL SELECT id, word FROM note ORDER BY 2",
    """
    SELECT p.id, a.name, p.tag AS t FROM post p JOIN author a ON a.id = p.author
    UNION ALL SELECT id, word, NULL FROM note ORDER BY name DESC, p.id DESC
    """,
    "SELECT tag, score FROM post UNION ALL SELECT tag, score FROM post",
    "SELECT 'k' AS kind, word, n FROM keyed UNION ALL SELECT 'p', tag, id FROM post ORDER BY n",
    "SELECT word FROM keyed WHERE more > 1 UNION ALL SELECT word FROM keyed UNION ALL SELECT word FROM note",
    """
    SELECT k.word, l.n FROM keyed k JOIN keyed l ON l.word = k.word AND l.n = k.n
    UNION ALL SELECT tag, id FROM post
    """,
    "SELECT post.id, name FROM post LEFT JOIN author ON author.id = author UNION ALL SELECT n, word FROM keyed",
  ]

  /// In a view, a CTE or a subquery of FROM.
  private static let within = [
    "SELECT * FROM feed",
    "SELECT id, text FROM feed WHERE kind = 'note' AND text > 't3' ORDER BY length(text), id DESC",
    "SELECT text, name FROM feed JOIN author ON author.id = feed.id ORDER BY name",
    "SELECT feed.id, name FROM feed LEFT JOIN author ON author.id = feed.id AND name <> 'a1' WHERE feed.id < 30",
    "SELECT DISTINCT text FROM feed WHERE id < 40",
    "SELECT id FROM feed f WHERE EXISTS (SELECT 1 FROM author WHERE author.id = f.id) ORDER BY text",
    "SELECT text FROM feed ORDER BY (SELECT name FROM author WHERE author.id = feed.id), text",
    "SELECT * FROM (SELECT tag FROM post UNION SELECT word FROM note) AS t WHERE tag <> 't2' ORDER BY length(tag)",
    """
    WITH words(w) AS (SELECT tag FROM post UNION SELECT word FROM note)
    SELECT w, upper(w) || '!' AS u FROM words WHERE length(w) < 3 ORDER BY u DESC
    """,
    "SELECT word, n FROM (SELECT word, n FROM keyed UNION ALL SELECT tag, score FROM post) WHERE n > 1",
  ]

  @Test(arguments: distinct + all + within)
  func `are what SQLite returns, row by row`(sql: String) throws {
    let (query, statistics) = try Fixture.following(sql, schema: Self.schema, Self.changes)
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    #expect(statistics.maintained > 4)
    // A first change makes what the others need; so many rows changed once that all were read.
    #expect(statistics.refetches <= 4, "\(statistics)")
  }

  private static let compared = [
    "SELECT tag FROM post EXCEPT SELECT word FROM note",
    "SELECT * FROM post EXCEPT SELECT * FROM post WHERE score > 1",
    "SELECT rowid AS r FROM author EXCEPT SELECT author FROM post WHERE score > 0 ORDER BY r",
    "SELECT score, tag FROM post INTERSECT SELECT weight, word FROM note ORDER BY tag DESC, 1",
    "SELECT id FROM author EXCEPT SELECT author FROM post WHERE score > 0 ORDER BY id DESC LIMIT 4",
    "SELECT author FROM post AS p WHERE tag > 't1' INTERSECT SELECT id FROM author ORDER BY p.author",
  ]

  @Test(arguments: compared)
  func `are compared with those of another SELECT by EXCEPT and INTERSECT`(sql: String) throws {
    let indexes = "CREATE INDEX byWord ON note (word); CREATE INDEX byTag ON post (tag);"
    let (query, statistics) = try Fixture.following(
      sql, schema: Self.schema + indexes, Self.changes)
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    // It is run as it was written.
    #expect(query.sql.contains("EXCEPT") || query.sql.contains("INTERSECT"))
    #expect(statistics.maintained > 4)
    #expect(statistics.refetches <= 4, "\(statistics)")
  }

  @Test func `of plain tables need no memory of their own, and no first refetch`() throws {
    let sql = "SELECT id, tag FROM post UNION ALL SELECT id, word FROM note"
    let fixture = try Fixture(
      schema: Self.schema,
      queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    try fixture.expect(watched, toShow: sql, after: "UPDATE note SET word = 'new' WHERE id = 8")
    #expect(fixture.refresher.statistics.refetches == 0)
    #expect(fixture.refresher.statistics.maintained == 1)
  }

  /// A rowid has no collation of its own, so that of the first column that has one counts.
  @Test func `are in the order of the first collation that a SELECT has`() throws {
    let sql = "SELECT id AS x FROM note UNION ALL SELECT word FROM keyed ORDER BY x"
    let fixture = try Fixture(
      schema: Self.schema,
      queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    #expect(watched.snapshot.query.tracking.mode == .incremental)
    try fixture.expect(
      watched, toShow: sql, after: "INSERT INTO keyed VALUES ('B', 1, 1), ('a', 1, 1)")
    let texts = watched.snapshot.results.shown.flatMap(\.records).map { $0[0].text }
    #expect(try #require(texts.firstIndex(of: "a")) < #require(texts.firstIndex(of: "B")))
    #expect(fixture.refresher.statistics.refetches == 0)
  }

  @Test func `stay while one of several equal rows is left`() throws {
    let sql = "SELECT tag FROM post UNION SELECT word FROM note"
    let fixture = try Fixture(
      schema: """
        CREATE TABLE post (id INTEGER PRIMARY KEY, tag TEXT);
        CREATE TABLE note (id INTEGER PRIMARY KEY, word TEXT);
        INSERT INTO post VALUES (1, 'a'), (2, 'a'), (3, 'b');
        INSERT INTO note VALUES (1, 'a'), (2, NULL);
        """, queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    try fixture.expect(watched, toShow: sql, after: "INSERT INTO note VALUES (3, 'c')")
    for (change, count) in [
      ("DELETE FROM post WHERE id = 1", 4), ("UPDATE note SET word = 'b' WHERE id = 1", 4),
      ("DELETE FROM post WHERE id = 2", 3), ("DELETE FROM post WHERE id = 3", 3),
      ("DELETE FROM note WHERE id = 1", 2), ("UPDATE note SET word = NULL", 1),
      ("DELETE FROM note WHERE id = 2", 1), ("DELETE FROM note", 0),
    ] {
      _ = watched.takeEvents()
      try fixture.expect(watched, toShow: sql, after: change)
      #expect(watched.snapshot.results.count == count, "\(change)")
    }
    #expect(fixture.refresher.statistics.refetches == 1)
  }

  @Test func `are cut from the whole by LIMIT, and go in sections`() throws {
    let limited =
      "SELECT tag FROM post UNION SELECT word FROM note ORDER BY 1 DESC LIMIT 4 OFFSET 1"
    let sections = "SELECT tag, score FROM post UNION SELECT word, weight FROM note ORDER BY tag, 2"
    let fixture = try Fixture(
      schema: Self.schema,
      queries: .definitions([
        QueryDefinition(name: "limited", form: .sql(limited)),
        QueryDefinition(name: "sections", form: .sql(sections), section: "tag"),
      ]))
    let watched = [
      (try fixture.open("limited"), limited), (try fixture.open("sections"), sections),
    ]
    for change in Self.changes {
      try fixture.write(change)
      fixture.refresh()
      for (watched, sql) in watched {
        let expected = try fixture.writer.read { db in
          try Row.fetchAll(db, sql: sql).map { row in
            Array(row.databaseValues).map { Value($0).text }
          }
        }
        let shown = watched.snapshot.results.shown.flatMap(\.records).map { $0.map(\.text) }
        #expect(shown == expected, "\(change)")
      }
    }
    #expect(fixture.refresher.statistics.maintained > 20)
  }
}
