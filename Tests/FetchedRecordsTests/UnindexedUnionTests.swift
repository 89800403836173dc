import GRDB
import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// Records of UNION ALL and of UNION whose other rows no index finds: which these may be is kept in memory.
@Suite struct `Records of UNION without an index` {
  private static let schema = """
    CREATE TABLE post (id INTEGER PRIMARY KEY, tag TEXT, score INTEGER);
    CREATE TABLE note (id INTEGER PRIMARY KEY, word TEXT, weight INTEGER);
    CREATE TABLE label (name TEXT, rank INTEGER, PRIMARY KEY (name, rank)) WITHOUT ROWID;
    CREATE VIEW feed(kind, id, text) AS
      SELECT 'post', id, tag FROM post UNION ALL SELECT 'note', id, word FROM note;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
      INSERT INTO post SELECT i, 't' || (i % 27), i % 13 FROM n;
    INSERT INTO note SELECT id, CASE id % 9 WHEN 0 THEN NULL ELSE 't' || (id % 31) END, id % 11 FROM post;
    INSERT INTO label SELECT 't' || (id % 40), id / 40 FROM post;
    """

  private static let changes = [
    "UPDATE post SET tag = 't8' WHERE id = 3", "UPDATE note SET word = 't9' WHERE id = 3",
    "UPDATE note SET word = NULL, weight = 7 WHERE id = 11", "DELETE FROM post WHERE id = 10",
    "DELETE FROM note WHERE word = 't1' AND id > 10", "UPDATE post SET id = -9 WHERE id = 20",
    "INSERT INTO post VALUES (90, '1', 1), (91, 'new', 1.0)", "DELETE FROM note WHERE id = 3",
    "INSERT INTO note VALUES (90, x'31', 1), (91, 'new', NULL), (92, '', 2)",
    "UPDATE note SET id = 900 WHERE id = 8", "UPDATE post SET score = 12 WHERE id = 5",
    "UPDATE label SET name = 't3', rank = 9 WHERE name = 't4' AND rank = 0",
    "INSERT INTO label VALUES ('new', 1)", "DELETE FROM label WHERE name = 't5'",
    "UPDATE note SET weight = 3 WHERE id = 40", "UPDATE post SET tag = 'new' WHERE id = 30",
    "DELETE FROM post WHERE id IN (90, 91)", "UPDATE note SET weight = 90 WHERE id = 12",
  ]

  private static let all = [
    "SELECT post.id, note.id AS other FROM post LEFT JOIN note ON note.word = post.tag UNION ALL SELECT id, weight FROM note",
    """
    SELECT id, (SELECT count(*) FROM note WHERE note.weight = post.score AND word > 't2') AS n FROM post
    UNION ALL SELECT id, (SELECT max(score) FROM post WHERE post.tag = note.word) FROM note ORDER BY 2, 1
    """,
    """
    SELECT post.id, note.id AS other FROM post JOIN note ON note.word = post.tag
    UNION ALL SELECT note.id, post.id FROM note LEFT JOIN post ON post.score = note.weight WHERE note.id < 50
    """,
    """
    SELECT rank, (SELECT count(*) FROM note WHERE note.word = label.name) AS n FROM label
    UNION ALL SELECT id, score FROM post LIMIT 40
    """,
  ]

  private static let distinct = [
    "SELECT tag, weight FROM post JOIN note ON note.word = post.tag UNION SELECT word, id FROM note",
    "SELECT tag, word FROM post LEFT JOIN note ON note.weight = post.score UNION SELECT word, NULL FROM note",
    "SELECT tag FROM post WHERE EXISTS (SELECT 1 FROM note WHERE note.word = tag) UNION SELECT name FROM label",
  ]

  private static let within = [
    "SELECT id, text, (SELECT count(*) FROM note n WHERE n.word = feed.text) AS n FROM feed WHERE kind > 'n'",
    "SELECT feed.id, n.id AS other FROM feed LEFT JOIN note n ON n.word = feed.text ORDER BY n.weight DESC",
    """
    SELECT t FROM (SELECT tag AS t FROM post UNION SELECT word FROM note) AS u
    WHERE EXISTS (SELECT 1 FROM note n WHERE n.word = u.t AND n.weight > 1)
    """,
  ]

  @Test(arguments: all + distinct + within)
  func `are what SQLite returns, row by row`(sql: String) throws {
    let (query, statistics) = try Fixture.following(sql, schema: Self.schema, Self.changes)
    #expect(query.tracking.mode == .incremental, "\(query.tracking.reason)")
    #expect(query.plan?.keptRows.isEmpty == false, "\(query.tracking.reason)")
    #expect(statistics.refetches <= 2, "\(statistics)")
    #expect(statistics.maintained > 12, "\(statistics)")
  }
}
