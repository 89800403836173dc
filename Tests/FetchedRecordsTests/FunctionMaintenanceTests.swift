import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// Records of what `json_each` makes of a column.
@Suite struct `Records of a list in a column` {
  fileprivate static let schema = """
    CREATE TABLE post (id INTEGER PRIMARY KEY, title TEXT, tags TEXT NOT NULL, author INTEGER);
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, topics TEXT);
    CREATE TABLE tag (slug TEXT PRIMARY KEY NOT NULL, label TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
      INSERT INTO post SELECT i, 'Post ' || i,
        json_array('tag' || (i % 40), 'tag' || (i % 77), i % 60), i % 40 FROM n;
    INSERT INTO author SELECT id, 'Author ' || id, json_array(id, 'x') FROM post WHERE id < 12;
    CREATE VIEW postTag AS SELECT p.id AS post, author, t.value AS tag FROM post p, json_each(p.tags) t;
    INSERT INTO tag SELECT 'tag' || id, 'Label ' || id FROM post WHERE id < 30;
    """

  fileprivate static let changes = [
    "UPDATE post SET title = 'A' WHERE id = 4",
    "UPDATE post SET tags = json_array('tag3', 'tag3', 'new') WHERE id = 4",
    "UPDATE post SET tags = '[]' WHERE id = 5", "DELETE FROM post WHERE id BETWEEN 8 AND 10",
    "INSERT INTO post VALUES (200, 'B', '[\"new\", 2, true, 2.5]', 3), (201, 'C', '{\"a\": \"new\"}', 3)",
    "UPDATE post SET id = 202, author = 50 WHERE id = 201",
    "UPDATE author SET topics = '[1]' WHERE id = 3",
    "UPDATE author SET topics = NULL WHERE id = 4",
    "INSERT INTO author VALUES (50, 'D', '[50, 51]')",
    "UPDATE post SET tags = json_array('a', json_array(1, 2)) WHERE id = 6",
    "DELETE FROM author WHERE id = 2", "UPDATE post SET author = 3 WHERE id IN (20, 202)",
    "DELETE FROM post WHERE tags LIKE '%new%'",
  ]

  private static let queries = [
    "SELECT post.id, title, value AS tag FROM post, json_each(post.tags)",
    "SELECT p.id, t.value, t.key FROM post p JOIN json_each(p.tags) AS t ON t.value <> 'tag1' ORDER BY t.value, title DESC",
    "SELECT p.id, t.atom FROM post p LEFT JOIN json_tree(p.tags) t ON t.type = 'integer' WHERE p.id > 20",
    """
    SELECT a.name, p.title, t.value FROM author a JOIN post p ON p.author = a.id JOIN json_each(p.tags) t
    ORDER BY a.name, t.value
    """,
    """
    SELECT a.id, x.value AS topic, y.value AS tag
    FROM author a, json_each(a.topics) x, post p, json_each(p.tags) y WHERE p.author = a.id
    """,
    "SELECT value AS tag, count(*) AS n FROM post, json_each(tags) GROUP BY value ORDER BY n DESC, tag",
    "SELECT DISTINCT value FROM post, json_each(post.tags) WHERE title <> 'A' ORDER BY 1",
    "SELECT t.value, author, count(*) AS n, max(p.id) AS last FROM post p, json_each(p.tags) t GROUP BY 1, 2 HAVING last > 3",
    "SELECT p.id, count(*) AS n, max(t.key) AS last FROM post p JOIN json_each(p.tags) t GROUP BY p.id",
    "SELECT p.id, t.value, count(*) AS n FROM post p, json_each(p.tags) t GROUP BY p.id, t.value ORDER BY n, 1, 2",
    "SELECT p.id, t.value, count(*) OVER (PARTITION BY t.value) AS n FROM post p, json_each(p.tags) t",
    "SELECT p.id, t.value, rank() OVER (PARTITION BY p.id ORDER BY t.value) AS n FROM post p, json_each(p.tags) t",
    "SELECT p.id, t.value, (SELECT label FROM tag WHERE slug = t.value) AS label FROM post p, json_each(p.tags) t",
    "SELECT * FROM postTag WHERE tag <> 'tag2' ORDER BY tag, post",
    "SELECT tag, count(*) AS n FROM postTag GROUP BY tag ORDER BY n, tag",
    "SELECT a.name, t.tag FROM author a JOIN postTag t ON t.post = a.id ORDER BY a.name, tag",
    """
    SELECT a.name, t.value FROM author a LEFT JOIN post p ON p.id = a.id LEFT JOIN json_each(p.tags) t
    ORDER BY a.name, t.value
    """,
    """
    SELECT label, count(*) AS n FROM post p, json_each(p.tags) t JOIN tag ON tag.slug = t.value
    GROUP BY slug ORDER BY n DESC, label
    """,
    "SELECT id, title FROM post WHERE id IN (SELECT post FROM postTag WHERE tag = 'tag3')",
    "SELECT title, (SELECT count(*) FROM postTag t WHERE t.post = p.id) AS n FROM post p ORDER BY n, p.id",
    "SELECT n, value FROM (SELECT value, count(*) AS n FROM post, json_each(tags) GROUP BY value) WHERE n > 2",
    """
    SELECT post, tag, n FROM (
      SELECT p.id AS post, p.author, t.value AS tag, dense_rank() OVER (PARTITION BY p.author ORDER BY t.value) AS n
      FROM post p, json_each(p.tags) t) WHERE n < 4
    """,
    "SELECT p.id, p.title FROM json_each('[3, 4, 200, 5]') AS ids JOIN post p ON p.id = ids.value ORDER BY ids.key",
  ]

  @Test(arguments: queries)
  func `are read again, and no others`(sql: String) throws {
    let (_, statistics) = try Fixture.following(sql, schema: Self.schema, Self.changes)
    #expect(statistics.maintained > 5)
    #expect(statistics.refetches <= 5)
  }

  @Test func `are led to by the rows that their values name, or run again`() throws {
    let sql = """
      SELECT p.id, tag.label FROM post p, json_each(p.tags) t JOIN tag ON tag.slug = t.value \
      ORDER BY p.id, label
      """
    let (_, statistics) = try Fixture.following(
      sql, schema: Self.schema,
      Self.changes + ["UPDATE tag SET label = 'x' WHERE slug = 'tag3'", "DELETE FROM tag"])
    #expect(statistics.maintained > 5)
  }
}

extension `Records of a list in a column` {
  private static let guarded = [
    "SELECT t.value AS v, count(*) AS n FROM post p, json_each(p.tags) t WHERE p.id IN (SELECT post FROM ok) GROUP BY v",
    "SELECT json_extract(p.tags, '$[0]') AS v, count(*) AS n FROM post p WHERE p.id IN (SELECT post FROM ok) GROUP BY v",
    """
    SELECT p.id, t.value AS v FROM post p, json_each(p.tags) t
    WHERE p.id IN (SELECT post FROM ok) AND EXISTS (SELECT 1 FROM author a WHERE a.id = p.author)
    """,
  ]

  /// What leads rows to records has no condition that a subquery decides.
  @Test(arguments: guarded)
  func `are shown where a condition keeps what is no JSON from being read`(sql: String) throws {
    let schema = """
      CREATE TABLE ok (post INTEGER PRIMARY KEY);
      INSERT INTO ok SELECT id FROM post;
      INSERT INTO post VALUES (400, 'B', 'no JSON', 3);
      """
    _ = try Fixture.following(
      sql, schema: Self.schema + schema,
      [
        "UPDATE post SET tags = '[\"x\"]' WHERE id = 4",
        "UPDATE author SET name = 'm' WHERE id = 3",
        "DELETE FROM ok WHERE post = 7", "UPDATE post SET tags = '[1]' WHERE id = 400",
        "INSERT INTO ok VALUES (400)", "DELETE FROM author WHERE id = 4",
      ])
  }

  /// A column of a table that has a collation says nothing of what a function makes.
  @Test(arguments: [
    "SELECT post, tag FROM tagOf WHERE tag > 'tag2'",
    "SELECT tag, count(*) AS n FROM tagOf GROUP BY tag",
    "WITH ids AS (SELECT value, key FROM json_each('[4, 5, 9, 77]')) SELECT p.id FROM ids JOIN post p ON p.id = ids.value",
  ])
  func `are read again beside a collation`(sql: String) throws {
    let (_, statistics) = try Fixture.following(
      sql,
      schema: Self.schema.replacing("title TEXT", with: "title TEXT COLLATE NOCASE") + """
        CREATE VIEW tagOf AS SELECT p.id AS post, t.value AS tag FROM post p, json_each(p.tags) t;
        """, Self.changes)
    #expect(statistics.maintained > 5)
  }
}

/// Groups whose values are of no type: 1 and 1.0 would be one.
@Suite struct `Groups of what has no type` {
  private static let queries = [
    "SELECT json_extract(data, '$.kind') AS kind, count(*) AS n FROM event GROUP BY kind",
    "SELECT data ->> 'kind' AS kind, max(id) AS last FROM event GROUP BY 1 HAVING count(*) > 1",
    "SELECT DISTINCT any FROM event", "SELECT any, count(*) AS n FROM event GROUP BY any",
    "SELECT any + 1 AS more, count(*) AS n FROM event GROUP BY any + 1 ORDER BY n, more",
  ]

  @Test(arguments: queries)
  func `are row by row until one is a real number that equals an integer`(sql: String) throws {
    let changes = [
      "UPDATE event SET any = 17, data = '{\"kind\": 17}' WHERE id = 4",
      "DELETE FROM event WHERE any = 17",
      "INSERT INTO event VALUES (300, '{\"kind\": \"k3\"}', 'x')",
      "INSERT INTO event VALUES (301, '{\"kind\": 2.5}', 2.5)",
      "UPDATE event SET data = '{}', any = NULL WHERE id > 299",
    ]
    let schema = """
      CREATE TABLE event (id INTEGER PRIMARY KEY, data TEXT, any);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
        INSERT INTO event SELECT i, json_object('kind', 'k' || i % 50), i % 50 FROM n;
      """
    let (_, statistics) = try Fixture.following(sql, schema: schema, changes)
    #expect(statistics.maintained >= 4)

    let real = [
      "INSERT INTO event VALUES (400, '{\"kind\": 3.0}', 3.0)",
      "INSERT INTO event VALUES (401, '{\"kind\": \"k3\"}', 'y')",
      "DELETE FROM event WHERE id = 400",
    ]
    _ = try Fixture.following(sql, schema: schema, changes + real)
  }
}
