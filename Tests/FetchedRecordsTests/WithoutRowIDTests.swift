import ChangeCapture
import GRDB
import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// https://www.sqlite.org/withoutrowid.html
@Suite struct `Tables WITHOUT ROWID` {
  private static let schema = """
    CREATE TABLE word (note INTEGER, text TEXT COLLATE NOCASE, part REAL, PRIMARY KEY (part DESC, text)) WITHOUT ROWID;
    CREATE INDEX wordByNote ON word(note);
    CREATE TABLE tag (name PRIMARY KEY, n INTEGER) WITHOUT ROWID;
    CREATE INDEX tagByNumber ON tag(n);
    CREATE TABLE post (id INTEGER PRIMARY KEY, tag, part REAL);
    CREATE INDEX postByTag ON post(tag);
    CREATE INDEX postByPart ON post(part);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO word SELECT i % 500, char(97 + i % 20) || i, i / 4.0 FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO tag SELECT CASE i % 3 WHEN 0 THEN i WHEN 1 THEN 'tag ' || i ELSE i + 0.5 END, i % 90 FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO post SELECT i, (SELECT name FROM tag WHERE n = i % 90 LIMIT 1), i % 50 FROM n;
    """

  private static let changes = [
    "INSERT INTO word VALUES (1, 'Ann', 3)", "UPDATE word SET text = 'ANN' WHERE text = 'ann'",
    "REPLACE INTO word VALUES (2, 'aNN', 3.0)", "UPDATE word SET part = 7.5 WHERE text = 'ann'",
    "DELETE FROM word WHERE text = 'ann'", "UPDATE word SET note = 9 WHERE part = 12.5",
    "INSERT INTO tag VALUES (1000, 3), (x'00', 4), ('', 5)", "REPLACE INTO tag VALUES (1000.0, 4)",
    "UPDATE tag SET name = '1000' WHERE name = 1000", "UPDATE tag SET n = 3 WHERE name = x'00'",
    "UPDATE post SET tag = '1000' WHERE id < 3",
    "DELETE FROM tag WHERE name IN ('1000', '', x'00')",
    "UPDATE tag SET n = n + 1 WHERE name < 4",
    "DELETE FROM tag WHERE name = (SELECT min(tag) FROM post)",
    "UPDATE post SET part = 2.5 WHERE id = 5", "DELETE FROM post WHERE id = 7",
  ]

  @Test(arguments: [
    "SELECT * FROM word",
    "SELECT note, upper(text) AS text FROM word WHERE note <> 2 ORDER BY note DESC",
    "SELECT name, n FROM tag ORDER BY n", "SELECT name FROM tag WHERE n > 4 LIMIT 5",
    "SELECT post.id, n FROM post LEFT JOIN tag ON name = tag",
    "SELECT post.id, n FROM post JOIN tag ON name = tag WHERE n > 3",
    "SELECT name, post.id AS post FROM tag LEFT JOIN post ON post.tag = name",
    "SELECT w.note, v.note AS other FROM word w LEFT JOIN word v ON v.part = w.note",
    "SELECT name FROM tag WHERE NOT EXISTS (SELECT 1 FROM post WHERE post.tag = name)",
    "SELECT id FROM post WHERE tag IN (SELECT name FROM tag WHERE n = 3)",
    "SELECT name, (SELECT count(*) FROM post WHERE post.tag = name) AS posts FROM tag",
    "SELECT s.id, s.n FROM (SELECT post.id, tag.n, part FROM post JOIN tag ON name = tag) s WHERE n > 1",
    "SELECT n, count(*) AS tags FROM tag GROUP BY n",
    "SELECT name, n, rank() OVER (PARTITION BY n ORDER BY name) AS place FROM tag",
  ])
  func `are followed by their primary keys`(sql: String) throws {
    let fixture = try Fixture(
      schema: Self.schema, queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    #expect(watched.snapshot.query.tracking.mode == .incremental)
    // The first change of each table may make what the others need.
    for table in [
      "word SET note = 8 WHERE part = 1", "tag SET n = 8 WHERE name = 3",
      "post SET part = 8 WHERE id = 9",
    ] {
      try fixture.write("UPDATE \(table)")
      fixture.refresh()
    }
    let before = fixture.refresher.statistics
    for change in Self.changes {
      guard sql.contains("LIMIT") else {
        try fixture.expect(watched, toShow: sql, after: change)
        continue
      }
      // Which of the rows without an order come first is not said.
      try fixture.write(change)
      fixture.refresh()
      let count = try fixture.writer.read { try Row.fetchAll($0, sql: sql).count }
      #expect(watched.snapshot.results.count == count, "\(change)")
    }
    let after = fixture.refresher.statistics
    // On a busy machine a first change may be brought in beside, and what it makes once more.
    #expect(after.refetches <= before.refetches + 1, "\(after.queries)")
    #expect(after.failures == 0)
  }
}
