import GRDB
import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// Records that come and go by what a view, ON or WITH asks, and not by a change of their own row.
@Suite struct `Conditions within a query` {
  private static let schema = """
    CREATE TABLE post (id INTEGER PRIMARY KEY, author INTEGER, title TEXT);
    CREATE TABLE comment (id INTEGER PRIMARY KEY, post INTEGER, stars INTEGER);
    CREATE TABLE banned (author INTEGER);
    CREATE INDEX postByAuthor ON post(author);
    CREATE INDEX commentByPost ON comment(post);
    CREATE INDEX commentByStars ON comment(stars);
    CREATE INDEX bannedByAuthor ON banned(author);
    CREATE VIEW rated AS
      SELECT post.id, title, coalesce(stars, 0) AS stars FROM post
      LEFT JOIN comment ON comment.post = post.id;
    CREATE VIEW unrated AS
      SELECT post.id FROM post LEFT JOIN comment ON comment.post = post.id WHERE stars IS NULL;
    CREATE VIEW allowed AS
      SELECT id, author, title, (SELECT count(*) FROM comment WHERE post = post.id) AS answers
      FROM post WHERE NOT EXISTS (SELECT 1 FROM banned WHERE banned.author = post.author);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
      INSERT INTO post SELECT i, i % 7, 'title ' || i FROM n;
    INSERT INTO comment SELECT id, id, id % 3 FROM post WHERE id < 20;
    INSERT INTO banned VALUES (5);
    """

  @Test(arguments: [
    // What a LEFT JOIN leaves out is 0 here, and not NULL.
    "SELECT id, title FROM rated WHERE stars = 0",
    "SELECT id FROM unrated",
    "SELECT p.id, u.id AS unrated FROM post p JOIN unrated u ON u.id = p.id",
    "SELECT id, title, answers FROM allowed WHERE answers > 0",
    "SELECT c.id, a.title FROM comment c LEFT JOIN allowed a ON a.id = c.post AND a.answers = 1",
    "SELECT id FROM comment WHERE post IN (SELECT id FROM allowed WHERE answers > 1)",
    """
    SELECT p.id, c.id AS comment FROM post p LEFT JOIN comment c
    ON c.post = p.id AND NOT EXISTS (SELECT 1 FROM banned WHERE banned.author = p.author)
    """,
    """
    WITH fine AS (SELECT author FROM banned WHERE author > 2)
    SELECT id, (SELECT count(*) FROM fine WHERE fine.author = post.author) AS n FROM post
    WHERE author IN (SELECT author FROM fine) OR id < 9
    """,
    """
    SELECT p.id, d.id AS other FROM post p LEFT JOIN comment c ON c.post = p.id
    JOIN comment d ON d.post = c.stars
    """,
  ])
  func `lead what they read to the records`(sql: String) throws {
    let fixture = try Fixture(
      schema: Self.schema,
      queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    for change in [
      "UPDATE comment SET stars = stars WHERE id = 1", "INSERT INTO comment VALUES (40, 25, 5)",
      "DELETE FROM comment WHERE id = 40", "INSERT INTO comment VALUES (41, 25, 0), (42, 3, 9)",
      "DELETE FROM comment WHERE post = 25", "INSERT INTO banned VALUES (3), (6)",
      "UPDATE comment SET post = 27 WHERE id = 3", "UPDATE comment SET stars = 27 WHERE id = 3",
      "DELETE FROM banned WHERE author = 5", "UPDATE banned SET author = 4 WHERE author = 6",
      "UPDATE post SET author = 4 WHERE id = 27", "DELETE FROM post WHERE id = 2",
    ] {
      try fixture.expect(watched, toShow: sql, after: change)
    }
    #expect(fixture.refresher.statistics.maintained >= 4)
    #expect(fixture.refresher.statistics.refetches <= 2)
  }
}
