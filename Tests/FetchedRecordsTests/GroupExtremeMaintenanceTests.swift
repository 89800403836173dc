import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// The rows of each group that have the greatest value.
@Suite struct `Records with the greatest value of their group` {
  private static func schema(isIndexed: Bool) -> String {
    """
    CREATE TABLE room (id INTEGER PRIMARY KEY, title TEXT);
    CREATE TABLE message (
      id INTEGER PRIMARY KEY, room INTEGER NOT NULL, thread INTEGER, text TEXT, at INTEGER NOT NULL);
    \(isIndexed ? "CREATE INDEX byRoom ON message (room, at); CREATE INDEX byThread ON message (thread, at);" : "")
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO message SELECT i, i % 40, nullif(i % 30, 3), 'text ' || i, i * 7 % 90 FROM n;
    INSERT INTO room SELECT id, 'Room ' || id FROM message WHERE id < 38;
    """
  }

  private static let changes = [
    "INSERT INTO message VALUES (301, 4, 5, 'new', 200)",
    "UPDATE message SET text = 'b' WHERE id = 301",
    "DELETE FROM message WHERE id = 301", "UPDATE message SET room = 7 WHERE id = 300",
    "UPDATE message SET id = 400 WHERE id = 12", "DELETE FROM message WHERE room = 9",
    "UPDATE message SET thread = NULL WHERE id IN (299, 298)",
    "UPDATE message SET at = 500 WHERE id IN (5, 35, 65)",
    "UPDATE message SET at = 0 WHERE id = 5", "UPDATE room SET title = 'A' WHERE id = 7",
    "DELETE FROM room WHERE id = 8", "INSERT INTO room VALUES (8, 'again')",
    "INSERT INTO message VALUES (401, 9, NULL, 'first', 3), (-5, 9, 4, 'second', 4)",
    "UPDATE message SET text = '' WHERE id = 400",
    "UPDATE message SET room = 99, thread = 99 WHERE id = 401",
    "DELETE FROM message WHERE id IN (SELECT max(id) FROM message GROUP BY room) AND room < 3",
  ]

  private static let queries = [
    "SELECT * FROM message WHERE id IN (SELECT max(id) FROM message GROUP BY room)",
    "SELECT * FROM message WHERE (thread, id) IN (SELECT thread, min(id) FROM message GROUP BY thread) ORDER BY text",
    "SELECT * FROM message WHERE id IN (SELECT max(id) FROM message GROUP BY thread) AND text <> ''",
    "SELECT m.text, s.room FROM message AS m JOIN (SELECT room, max(id) AS last FROM message WHERE text > '' GROUP BY room) AS s ON s.last = m.id",
    "SELECT m.* FROM message AS m WHERE id = (SELECT max(id) FROM message AS o WHERE o.thread IS m.thread)",
    "SELECT m.* FROM message AS m WHERE id = (SELECT id FROM message AS o WHERE o.room = m.room ORDER BY at DESC, id LIMIT 1)",
    "SELECT m.* FROM message AS m WHERE NOT EXISTS (SELECT 1 FROM message AS o WHERE o.room = m.room AND o.at > m.at)",
    "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY room ORDER BY id DESC) AS n FROM message) WHERE n = 1",
    """
    WITH ranked AS (SELECT row_number() OVER w AS place, message.* FROM message WHERE text <> 'b'
      WINDOW w AS (PARTITION BY thread ORDER BY at, id DESC))
    SELECT id, thread, text, place FROM ranked WHERE place = 1 AND at > 3 ORDER BY at
    """,
    """
    SELECT r.text, r.n, room.title FROM room JOIN (
      SELECT id, room, text, row_number() OVER (PARTITION BY room ORDER BY at DESC) AS n FROM message) AS r
    ON r.room = room.id WHERE r.n = 1
    """,
    "SELECT room, max(id), text FROM message GROUP BY room",
    "SELECT min(id) AS first, * FROM message WHERE text <> 'b' GROUP BY thread ORDER BY at DESC, first LIMIT 12",
    "SELECT thread, room % 2 AS odd, max(id) FROM message GROUP BY room, 1 ORDER BY max(id) DESC",
    "SELECT max(at) AS last, thread FROM message GROUP BY thread ORDER BY last DESC",
    "SELECT m.id, m.text FROM message AS m LEFT JOIN message AS o ON o.room = m.room AND o.id < m.id WHERE o.room IS NULL",
    """
    SELECT title, m.text, (SELECT count(*) FROM message AS o WHERE o.room = m.room) AS n FROM room AS r
    JOIN message AS m ON m.room = r.id WHERE m.id IN (SELECT max(id) FROM message GROUP BY room) ORDER BY m.at DESC
    """,
  ]

  /// Each room is shown with its last message.
  private static let besideQueries = [
    "SELECT r.*, m.text FROM room AS r LEFT JOIN message AS m ON m.id = (SELECT max(o.id) FROM message AS o WHERE o.room = r.id)",
    "SELECT r.*, m.text FROM room AS r JOIN message AS m ON (SELECT max(id) FROM message WHERE room = r.id) = m.id ORDER BY m.id DESC",
    """
    SELECT r.title, m.text, m.at FROM room AS r LEFT JOIN message AS m ON m.text <> 'b' AND m.id =
    (SELECT o.id FROM message AS o WHERE o.room = r.id AND o.at > 10 ORDER BY o.at DESC, o.id LIMIT 1) ORDER BY m.at
    """,
    """
    SELECT r.*, m.text, s.n FROM room AS r
    LEFT JOIN (SELECT room, max(id) AS last, count(*) AS n FROM message GROUP BY room) AS s ON s.room = r.id
    LEFT JOIN message AS m ON m.id = s.last
    """,
    """
    SELECT r.*, m.text, (SELECT count(*) FROM message AS u WHERE u.room = r.id AND u.at > 50) AS unread
    FROM room AS r LEFT JOIN message AS m ON m.id = (SELECT max(o.id) FROM message AS o WHERE o.room = r.id)
    WHERE r.id < 30 ORDER BY m.id DESC LIMIT 10
    """,
    "SELECT r.*, m.text, max(m.id) AS last FROM room AS r LEFT JOIN message AS m ON m.room = r.id GROUP BY r.id",
    "SELECT title, min(m.id), m.text FROM message AS m JOIN room AS r ON r.id = m.room AND m.at > 20 GROUP BY r.id ORDER BY m.at",
    "SELECT title, max(at) AS last, min(at) FROM room AS r LEFT JOIN message AS m ON m.room = r.id AND text <> 'b' GROUP BY r.id ORDER BY last DESC",
    "SELECT title, max(at) AS last FROM room AS r, message AS m WHERE m.room = r.id GROUP BY r.id ORDER BY max(at) DESC, r.id LIMIT 10",
    """
    SELECT r.id, m.text, (SELECT count(*) FROM message AS o WHERE o.thread = m.thread) AS n
    FROM room AS r, message AS m WHERE m.id = (SELECT min(o.id) FROM message AS o WHERE o.room = r.id)
    """,
    """
    SELECT r.title, count(m.id) AS n, max(m.text) AS text FROM room AS r
    LEFT JOIN message AS m ON m.id = (SELECT max(o.id) FROM message AS o WHERE o.room = r.id) GROUP BY r.title
    """,
  ]

  @Test(arguments: besideQueries, [false, true])
  func `are read again where they stand beside another row`(sql: String, isIndexed: Bool) throws {
    let (query, statistics) = try Fixture.following(
      sql, schema: Self.schema(isIndexed: isIndexed), Self.changes)
    if isIndexed {
      #expect(query.plan != nil)
      #expect(statistics.refetches <= 3)
      #expect(statistics.maintained > 10)
    }
  }

  @Test(arguments: queries, [false, true])
  func `are read again where a row of the group changed`(sql: String, isIndexed: Bool) throws {
    let fixture = try Fixture(
      schema: Self.schema(isIndexed: isIndexed),
      queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    for change in Self.changes { try fixture.expect(watched, toShow: sql, after: change) }
    if isIndexed {
      #expect(fixture.refresher.statistics.refetches <= 3)
      #expect(fixture.refresher.statistics.maintained > 10)
    }
  }

  /// Several rows of a group have the greatest value.
  private static let tied = [
    "SELECT room, max(at), text FROM message GROUP BY room",
    "SELECT thread, id, min(at), text FROM message WHERE text <> '' GROUP BY thread ORDER BY at, text",
    "SELECT room, max(at) AS text, text AS body FROM message GROUP BY room",
    "SELECT r.id, title, max(m.at), m.text FROM room AS r LEFT JOIN message AS m ON m.room = r.id GROUP BY r.id ORDER BY m.at DESC",
    "SELECT r.title, max(m.at) AS last, m.text FROM message AS m JOIN room AS r ON r.id = m.room GROUP BY m.room",
    "SELECT r.id, min(m.at), m.id AS message FROM room AS r CROSS JOIN message AS m ON r.id = m.thread AND m.text <> '' GROUP BY r.id",
  ]

  /// Of which no index has the groups, or SQLite may read it from its end.
  private static let uncertain = [
    "SELECT *, max(at) FROM message GROUP BY room, thread",
    "SELECT room, max(at), text FROM message GROUP BY room ORDER BY room DESC",
  ]

  private static let tiedChanges = [
    "UPDATE message SET at = 600 WHERE room IN (5, 11, 17) OR thread IN (5, 6)",
    "UPDATE message SET text = 'ties' WHERE at = 600 AND id > 90",
    "DELETE FROM message WHERE id IN (SELECT min(id) FROM message WHERE at = 600 GROUP BY room)",
    "UPDATE message SET at = 1 WHERE thread IN (6, 7)",
    "UPDATE message SET id = -id WHERE id % 7 = 1",
    "UPDATE message SET text = text || '!' WHERE id < -100",
  ]

  @Test(arguments: tied + uncertain, [false, true])
  func `are those that SQLite shows where several have the value`(
    sql: String, isIndexed: Bool
  ) throws {
    let fixture = try Fixture(
      schema: Self.schema(isIndexed: isIndexed),
      queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    let isCertain = isIndexed && !Self.uncertain.contains(sql)
    #expect(watched.snapshot.query.tracking.mode == (isCertain ? .incremental : .refetch))
    for change in Self.changes + Self.tiedChanges {
      try fixture.expect(watched, toShow: sql, after: change)
    }
  }

  /// As all rows of large groups would lead to all others.
  @Test func `are followed in groups of any size`() throws {
    let sql = "SELECT * FROM message WHERE id IN (SELECT max(id) FROM message GROUP BY room)"
    let fixture = try Fixture(
      schema: """
        CREATE TABLE message (id INTEGER PRIMARY KEY, room INTEGER, text TEXT);
        CREATE INDEX byRoom ON message (room);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
          INSERT INTO message SELECT i, i % 8, 'text ' || i FROM n;
        """, queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    for number in 1...5 {
      try fixture.expect(
        watched, toShow: sql,
        after: "INSERT INTO message (room, text) VALUES (\(number), 'new \(number)')")
    }
    #expect(fixture.refresher.statistics.refetches <= 1)
  }
}
