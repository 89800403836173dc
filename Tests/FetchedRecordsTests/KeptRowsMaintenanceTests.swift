import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// Records for which no index finds the rows of another table.
@Suite struct `Records of rows that no index finds` {
  private static let schema = """
    CREATE TABLE post (id INTEGER PRIMARY KEY, title TEXT, author INTEGER, code TEXT COLLATE NOCASE);
    CREATE TABLE comment (
      id INTEGER PRIMARY KEY, post INTEGER, author INTEGER, text TEXT, code TEXT COLLATE NOCASE);
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE label (code TEXT PRIMARY KEY, color TEXT) WITHOUT ROWID;
    CREATE TABLE reaction (
      code TEXT, post INTEGER, emoji TEXT, PRIMARY KEY (code, post DESC)) WITHOUT ROWID;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
      INSERT INTO comment SELECT i, i % 32, i % 7, 'text ' || (i % 11), 'c' || (i % 35) FROM n;
    INSERT INTO post SELECT id, 'Post ' || id, id % 5, 'C' || id FROM comment WHERE id < 41;
    INSERT INTO author SELECT id, 'Author ' || id FROM comment WHERE id < 6;
    INSERT INTO label SELECT 'c' || id, 'color ' || (id % 3) FROM comment WHERE id < 30;
    INSERT INTO reaction SELECT 'C' || (id % 9) || ' "\\ö\\n', id / 4, 'E' || (id % 11) FROM comment;
    """

  private static let changes = [
    "UPDATE comment SET text = 'A' WHERE id = 4", "UPDATE comment SET post = 7 WHERE id = 4",
    "UPDATE comment SET post = NULL, code = NULL WHERE id = 5",
    "INSERT INTO comment VALUES (200, 35, 3, 'B', 'C36'), (-3, 35, 3, NULL, 'c36')",
    "DELETE FROM comment WHERE post = 9", "UPDATE post SET id = 300 WHERE id = 3",
    "INSERT INTO post VALUES (3, 'Again', 4, 'c3')", "DELETE FROM post WHERE id = 12",
    "UPDATE comment SET id = 201 WHERE id = 7", "INSERT INTO comment VALUES (7, 2, 2, 'C', 'C1')",
    "UPDATE post SET code = 'c5', title = 'D' WHERE id = 6",
    "UPDATE comment SET code = 'C5' WHERE id IN (1, 2)", "UPDATE post SET code = NULL WHERE id = 5",
    "UPDATE comment SET post = '13', text = 'E' WHERE id = 20",
    "UPDATE comment SET post = 'x', code = 'x' WHERE id = 21",
    "UPDATE post SET author = 2 WHERE id = 9", "DELETE FROM author WHERE id = 2",
    "INSERT INTO author VALUES (2, 'F')", "UPDATE label SET color = 'G' WHERE code = 'c7'",
    "INSERT INTO label VALUES ('C36', 'H')",
    """
    DELETE FROM comment WHERE id = 200; INSERT INTO comment VALUES (200, 8, 1, 'I', 'c8');
    UPDATE post SET title = 'J' WHERE id = 35
    """,
    "DELETE FROM comment WHERE id IN (200, 201, -3)",
    "UPDATE reaction SET emoji = 'K' WHERE post = 5",
    "UPDATE OR REPLACE reaction SET post = 9 WHERE post = 6",
    "INSERT INTO reaction VALUES ('', 0, 'E1'), (' ', -1, NULL)",
    "UPDATE OR REPLACE reaction SET code = lower(code) WHERE post IN (3, 9)",
    "DELETE FROM reaction WHERE post = 4",
    "UPDATE OR REPLACE reaction SET code = 'L' WHERE post = 0",
    "INSERT OR REPLACE INTO reaction VALUES ('L', 0, 'E2')",
  ]

  @Test(arguments: [
    """
    SELECT post.id, title, (SELECT count(*) FROM comment WHERE comment.post = post.id) AS n
    FROM post ORDER BY n DESC, post.id
    """,
    "SELECT id, (SELECT max(text) FROM comment WHERE post = p.id AND author < 5) AS t FROM post p",
    "SELECT id, (SELECT sum(author) FROM comment c WHERE p.code = c.code) AS s FROM post p ORDER BY id LIMIT 5",
    """
    SELECT id FROM post WHERE EXISTS (SELECT 1 FROM comment c WHERE c.post = post.id AND c.text > 'text 3')
    """,
    "SELECT id FROM post WHERE NOT EXISTS (SELECT 1 FROM comment c WHERE c.code = post.code)",
    "SELECT id, title FROM post WHERE id IN (SELECT post FROM comment WHERE text > 'text 4')",
    "SELECT id FROM post WHERE code IN (SELECT code FROM comment GROUP BY code HAVING count(*) > 2)",
    "SELECT post.id, text FROM post LEFT JOIN comment ON comment.post = post.id ORDER BY text, comment.id",
    "SELECT post.id AS p, comment.id AS c FROM post JOIN comment ON post.code = comment.code",
    "SELECT p.id AS p, c.id AS c, d.id AS d FROM post p, comment c, comment d WHERE c.post = p.id AND d.code = p.code AND d.text <> c.text",
    "SELECT a.id, b.id AS other FROM comment a JOIN comment b ON b.text = a.text AND b.id <> a.id AND b.post = a.post",
    """
    SELECT post.id, comment.id AS c, name FROM post LEFT JOIN comment ON comment.post = post.id
    LEFT JOIN author ON author.id = comment.author
    """,
    "SELECT post.id, count(c.id) AS n, max(text) AS t FROM post LEFT JOIN comment c ON c.post = post.id GROUP BY post.id",
    "SELECT post.author, count(*) AS n FROM post JOIN comment c ON c.post = post.id GROUP BY post.author",
    "SELECT DISTINCT title FROM post JOIN comment c ON c.post = post.id WHERE text > 'text 3'",
    """
    SELECT color, (SELECT count(*) FROM comment WHERE comment.code = l.code COLLATE NOCASE) AS n
    FROM label l WHERE color <> 'color 1'
    """,
    """
    SELECT id, (SELECT count(*) FROM comment c WHERE c.post = p.id
      AND EXISTS (SELECT 1 FROM author WHERE author.id = c.author)) AS n FROM post p
    """,
    "SELECT comment.id, title FROM post RIGHT JOIN comment ON post.code = comment.code",
    "SELECT id, author, rank() OVER (PARTITION BY author ORDER BY title, id) AS r, (SELECT count(*) FROM comment WHERE post = post.id) AS n FROM post",
    "WITH p AS (SELECT id, title, (SELECT count(*) FROM comment WHERE post = post.id) AS n FROM post) SELECT * FROM p WHERE n > 1",
    "SELECT id, (SELECT json_group_array(text) FROM (SELECT text FROM comment WHERE post = post.id ORDER BY text DESC, id)) AS t FROM post",
    "SELECT id, (SELECT json_group_array(text) FROM comment c WHERE (c.post = post.id AND author > 1)) AS t FROM post",
    "SELECT id, (SELECT group_concat(emoji, ' ') FROM (SELECT emoji FROM reaction WHERE post = p.id ORDER BY code)) AS e FROM post p",
    "SELECT post.id, emoji FROM post JOIN reaction ON reaction.post = post.id ORDER BY emoji, reaction.code, post.id",
    "SELECT post.id, count(reaction.code) AS n FROM post LEFT JOIN reaction ON (reaction.post = post.id) GROUP BY post.id",
    "SELECT id FROM post WHERE EXISTS (SELECT 1 FROM reaction r WHERE r.post = post.id AND r.emoji > 'E3')",
    "SELECT emoji, count(*) AS n, max(code) AS c, sum(post) AS s FROM reaction GROUP BY emoji",
    "SELECT DISTINCT emoji FROM reaction WHERE post > 2",
    "SELECT DISTINCT b.code FROM reaction a JOIN reaction b ON a.emoji = b.emoji AND a.post <> b.post WHERE a.post = 5",
    "SELECT a.code, a.post, b.code AS c, b.post AS p FROM reaction a JOIN reaction b ON b.emoji = a.emoji",
    "SELECT emoji, post, row_number() OVER (PARTITION BY emoji ORDER BY post, code) AS n FROM reaction",
  ])
  func `are those that SQLite returns`(sql: String) throws {
    _ = try Fixture.following(sql, schema: Self.schema, Self.changes)
  }

  @Test(arguments: [
    "SELECT id, (SELECT count(*) FROM comment WHERE comment.post = post.id) AS n FROM post",
    "SELECT id FROM post WHERE EXISTS (SELECT 1 FROM comment WHERE comment.post = post.id)",
    "SELECT id FROM post WHERE id IN (SELECT post FROM comment WHERE text > 'text 4')",
    "SELECT post.id, text FROM post LEFT JOIN comment ON comment.post = post.id",
    "SELECT post.id, comment.id AS c FROM post JOIN comment ON post.code = comment.code",
    "SELECT post.id, count(c.id) AS n FROM post LEFT JOIN comment c ON c.post = post.id GROUP BY post.id",
    "SELECT id, (SELECT json_group_array(text) FROM (SELECT text FROM comment WHERE post = post.id ORDER BY id)) AS t FROM post",
    "SELECT id, (SELECT max(emoji) FROM reaction WHERE reaction.post = post.id) AS e FROM post",
    "SELECT post.id, count(r.code) AS n FROM post LEFT JOIN reaction r ON r.post = post.id GROUP BY post.id",
    "SELECT emoji, count(*) AS n FROM reaction GROUP BY emoji",
  ])
  func `are read again, and no others`(sql: String) throws {
    let (query, statistics) = try Fixture.following(sql, schema: Self.schema, Self.changes)
    let concerning = Self.changes.count { change in
      query.tables.contains { change.contains(" \($0) ") }
    }
    #expect(statistics.refetches <= 3)
    #expect(statistics.maintained >= concerning / 2)
  }

  /// Rows that a list names may come in another order than all.
  @Test(arguments: [
    "SELECT id, (SELECT body FROM falling f WHERE f.post = p.id ORDER BY k LIMIT 1) AS b FROM p",
    "SELECT id, (SELECT body || max(k) FROM falling f WHERE f.post = p.id) AS b FROM p",
    "SELECT id, (SELECT body || a FROM falling f WHERE f.post = p.id ORDER BY k DESC, a) AS b FROM p",
    "SELECT id, (SELECT body || a FROM rising f WHERE f.post = p.id ORDER BY k DESC LIMIT 1) AS b FROM p",
    "SELECT id, (SELECT group_concat(body) FROM rising f WHERE f.post = p.id) AS b FROM p",
    "SELECT id, (SELECT group_concat(body) FROM falling f WHERE f.post = p.id) AS b FROM p",
    "SELECT id, (SELECT body FROM numbered f WHERE f.post = p.id ORDER BY k DESC LIMIT 1) AS b FROM p",
    "SELECT id, (SELECT max(k) || body FROM numbered f WHERE f.post = p.id) AS b FROM p",
    "SELECT id, (SELECT hex(max(a)) FROM any WHERE post = p.id) AS m FROM p",
    "SELECT post, count(*) AS n, max(k) AS k FROM any GROUP BY post",
  ])
  func `are as SQLite would find them, whatever their keys`(sql: String) throws {
    let columns = "post INTEGER, body TEXT, k INTEGER"
    let schema = """
      CREATE TABLE p (id INTEGER PRIMARY KEY, title TEXT);
      CREATE TABLE falling (a INTEGER, b INTEGER, \(columns), PRIMARY KEY (a DESC, b)) WITHOUT ROWID;
      CREATE TABLE rising (a TEXT, b INTEGER, \(columns), PRIMARY KEY (a, b)) WITHOUT ROWID;
      CREATE TABLE numbered (a INTEGER, b INTEGER, \(columns));
      CREATE INDEX numberedByK ON numbered (k);
      CREATE TABLE any (a, b, post INTEGER, k INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
        INSERT INTO falling SELECT i % 4, i, i * 7 % 30, 'b' || i, i % 3 FROM n;
      INSERT INTO rising SELECT a, b, post, body, k FROM falling;
      INSERT INTO numbered SELECT a, b, post, body, k FROM falling ORDER BY b * 31 % 120;
      INSERT INTO any SELECT a, b, post, k FROM falling;
      INSERT INTO p SELECT DISTINCT post, 'p' || post FROM falling;
      """
    let changes = [
      "UPDATE p SET title = title || '!' WHERE id IN (3, 6, 9)",
      "UPDATE falling SET k = 1 WHERE post = 6; UPDATE rising SET k = 1 WHERE post = 6",
      "UPDATE numbered SET k = 1 WHERE post = 6; UPDATE p SET title = 'A' WHERE id < 7",
      "UPDATE falling SET post = 8 WHERE post = 7; UPDATE rising SET post = 8 WHERE post = 7",
      "UPDATE numbered SET post = 8 WHERE post = 7; UPDATE p SET title = 'B' WHERE id > 7",
      "INSERT INTO any VALUES (5.0, 'x', 3, 1), (9223372036854775807, -9223372036854775808, 3, 2)",
      "UPDATE any SET k = 4 WHERE post = 3; UPDATE any SET k = 5 WHERE post = 5",
      "INSERT INTO any VALUES (1.5, x'00', 3, 7), ('a' || char(0), 'ü', 4, 8)",
      "UPDATE any SET k = 6 WHERE post IN (3, 4)", "DELETE FROM any WHERE typeof(b) <> 'integer'",
      "UPDATE any SET post = 3 WHERE post = 4",
    ]
    _ = try Fixture.following(sql, schema: schema, changes)
  }

  @Test func `are found by an index once there is one`() throws {
    let sql = "SELECT id, (SELECT count(*) FROM comment c WHERE c.post = post.id) AS n FROM post"
    let fixture = try Fixture(
      schema: Self.schema,
      queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    for change in Self.changes.prefix(3) { try fixture.expect(watched, toShow: sql, after: change) }
    #expect(watched.snapshot.query.plan?.keptRows.count == 1)
    try fixture.expect(
      watched, toShow: sql, after: "CREATE INDEX commentByPost ON comment (post)")
    #expect(watched.snapshot.query.plan?.keptRows.isEmpty == true)
    for change in Self.changes.dropFirst(3) {
      try fixture.expect(watched, toShow: sql, after: change)
    }
  }

  @Test func `are read with all where an owner has most of them`() throws {
    let sql = "SELECT id, (SELECT count(*) FROM b WHERE b.a = a.id) AS n FROM a"
    let fixture = try Fixture(
      schema: """
        CREATE TABLE a (id INTEGER PRIMARY KEY);
        CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER);
        INSERT INTO a VALUES (1), (2);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
          INSERT INTO b SELECT i, 1 FROM n;
        """, queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    for id in 1...4 {
      try fixture.expect(watched, toShow: sql, after: "UPDATE b SET a = 2 WHERE id = \(id)")
    }
    #expect(fixture.refresher.statistics.maintained == 0)
  }
}

/// Pairs of numbers.
@Suite struct `Paired numbers` {
  @Test func `are those that were put in and not taken out`() {
    var random = RandomSource(seed: RandomSource.seed)
    var pairs = PairedNumbers()
    var expected: Set<[Int64]> = []
    for step in 0..<20_000 {
      let first = Int64(random.number(0...800))
      let second = Int64(random.number(-20...20)) &* 0x1234_5678_9abc_def
      if random.once(in: 5) {
        let seconds = expected.filter { $0[0] == first }.map { $0[1] }.sorted()
        #expect(pairs.take(first) == seconds, "seed \(RandomSource.seed), step \(step)")
        for second in seconds { expected.remove([first, second]) }
      } else {
        #expect(pairs.insert(first, second) == expected.insert([first, second]).inserted)
      }
      guard step % 500 == 0 else { continue }
      #expect(pairs.count == expected.count)
      let firsts = expected.filter { $0[1] == second }.map { $0[0] }.sorted()
      #expect(pairs.firsts(of: second) == firsts, "seed \(RandomSource.seed), step \(step)")
    }
  }

  @Test func `take no more than 64 bytes each`() {
    var pairs = PairedNumbers()
    for number in 0..<100_000 as Range<Int64> {
      _ = pairs.insert(number, (number % 10_000) &* 0x9e37_79b9_7f4a_7c1)
    }
    #expect(pairs.size < 64 * pairs.count)
    #expect(pairs.size > 32 * pairs.count)
  }
}
