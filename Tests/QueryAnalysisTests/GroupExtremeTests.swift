import OrderedResults
import Testing

@testable import QueryAnalysis

/// Rows that have the greatest, or the least, value of their group.
@Suite struct `Rows with the greatest value of their group` {
  private static let schema = """
    ;
    CREATE TABLE room (id INTEGER PRIMARY KEY, title TEXT);
    CREATE TABLE message (
      id INTEGER PRIMARY KEY, room INTEGER NOT NULL, thread INTEGER, text TEXT, at INTEGER NOT NULL, price REAL);
    CREATE INDEX messageByRoom ON message (room, at);
    CREATE INDEX messageByThread ON message (thread, price);
    CREATE TABLE tag (name TEXT NOT NULL PRIMARY KEY, room INTEGER NOT NULL);
    CREATE TABLE word (name TEXT COLLATE NOCASE, room INTEGER NOT NULL, key INTEGER, PRIMARY KEY (name COLLATE BINARY));
    CREATE VIEW newest AS SELECT room, max(id) AS id FROM message GROUP BY room;
    """

  private func plan(_ sql: String) throws -> IncrementalPlan {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)), Self.schema)
    return try #require(query.plan, "\(query.tracking.reason)")
  }

  @Test(arguments: [
    "SELECT * FROM message WHERE id IN (SELECT max(id) FROM message GROUP BY room)",
    "SELECT * FROM message WHERE (room, id) IN (SELECT room, max(id) FROM message GROUP BY room)",
    "SELECT * FROM message WHERE text > 'a' AND id IN (SELECT min(m.id) FROM message AS m WHERE price > 2 GROUP BY m.room)",
  ])
  func `are looked for in a list`(sql: String) throws {
    try expectOneValueIsRead(plan(sql))
  }

  @Test(arguments: [
    "SELECT m.* FROM message AS m JOIN (SELECT room, max(id) AS last FROM message GROUP BY room) AS s ON s.room = m.room AND s.last = m.id",
    "SELECT m.text, last FROM message AS m JOIN (SELECT room, max(id) AS last FROM message GROUP BY room) AS s ON last = m.id ORDER BY m.at DESC NULLS LAST, last DESC",
    "SELECT message.text, s.room, last AS id FROM (SELECT room, max(id) AS last FROM message GROUP BY 1) AS s JOIN message ON last = message.id",
    "WITH s(a, b) AS (SELECT room, max(id) FROM message GROUP BY room) SELECT m.* FROM message AS m, s WHERE b = m.id",
    "SELECT m.text, n.id AS newest FROM newest AS n JOIN message AS m ON m.id = n.id",
  ])
  func `are joined with groups`(sql: String) throws {
    try expectOneValueIsRead(plan(sql))
  }

  @Test(arguments: [
    "SELECT * FROM message AS m WHERE id = (SELECT max(o.id) FROM message AS o WHERE o.room = m.room)",
    "SELECT * FROM message AS m WHERE (SELECT max(id) FROM message AS o WHERE m.room IS o.room) = m.id",
    "SELECT * FROM message AS m WHERE NOT EXISTS (SELECT 1 FROM message AS o WHERE o.room = m.room AND o.id > m.id)",
    "SELECT m.* FROM message AS m LEFT JOIN message AS o ON m.id < o.id AND o.room = m.room WHERE o.id IS NULL",
  ])
  func `are compared with the others`(sql: String) throws {
    try expectOneValueIsRead(plan(sql))
  }

  @Test(arguments: [
    "SELECT room, max(id), text FROM message GROUP BY room",
    "SELECT *, max( id ) AS last FROM message WHERE text > 'a' GROUP BY room ORDER BY at DESC",
    "SELECT m.room AS r, min(m.id), substr(text, 1, 80) AS start FROM message AS m GROUP BY r ORDER BY min(m.id) DESC, start LIMIT 3",
  ])
  func `are shown of groups`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)), Self.schema)
    let plan = try #require(query.plan, "\(query.tracking.reason)")
    try expectOneValueIsRead(plan)
    // A group has another row as soon as there is a greater one, and stays what it is unless that is shown.
    #expect(query.layout.keyNames == [sql.contains("*") ? "id" : "room"])
    #expect(query.sql.contains("GROUP BY"))
  }

  /// In an aggregate a name is that of a column, and as a term of ORDER BY first that of a result column.
  @Test(arguments: [
    "SELECT room AS id, max(id) AS m, text FROM message GROUP BY room ORDER BY max(id)",
    "SELECT title AS mid, max(m.id) AS m FROM room AS r JOIN message AS m ON m.room = r.id GROUP BY r.id ORDER BY max(m.id)",
  ])
  func `are ordered by their value, whatever else has its name`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)), Self.schema)
    #expect(query.plan?.records.beforeKeys.contains("(SELECT max(") == true)
    #expect(query.sql.contains("ORDER BY 2"), "\(query.sql)")
  }

  @Test func `are read by an index that is known by its whole name`() throws {
    let sql = "SELECT thread, max(at), text FROM message GROUP BY thread"
    for (columns, isOne) in [("thread, at", true), ("thread, text, at", false)] {
      let index = "CREATE INDEX \"messageByThread x\" ON message (\(columns));"
      let schema = Self.schema.replacing("CREATE INDEX messageByThread ON", with: "-- ") + index
      let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)), schema)
      #expect(query.plan?.records.beforeKeys.contains("LIMIT 1") == isOne, "\(columns)")
    }
  }

  @Test(arguments: [
    "SELECT room, max(at) FROM message GROUP BY room",
    "SELECT room, max(price) AS p FROM message WHERE text > '' GROUP BY 1 ORDER BY p DESC",
    "SELECT min(at), room || '' AS r, room FROM message GROUP BY room ORDER BY 1",
    "SELECT room, max(at), text FROM message GROUP BY room",
    "SELECT *, min(at) AS first FROM message WHERE text > 'a' GROUP BY room",
    "SELECT room, max(at) FROM message GROUP BY room ORDER BY text",
  ])
  func `are any of several of which the value alone is shown`(sql: String) throws {
    let plan = try plan(sql)
    #expect(plan.records.beforeKeys.contains("LIMIT 1"), "\(plan.records.beforeKeys)")
  }

  @Test(arguments: [
    "SELECT r.id, title, max(m.id), m.text FROM room AS r LEFT JOIN message AS m ON m.room = r.id GROUP BY r.id",
    "SELECT title, m.text, m.at AS time, max(m.id) AS last FROM room AS r JOIN message AS m ON m.room = r.id WHERE text > 'a' AND title > 'b' GROUP BY r.id ORDER BY last DESC",
    "SELECT title, text, min(message.id) FROM message, room WHERE room.id = room GROUP BY room.id",
    "SELECT title, max(at) AS last FROM room LEFT JOIN message ON message.room = room.id AND thread > 3 GROUP BY room.id ORDER BY last",
    "SELECT title, min(at), max(at) AS last FROM room JOIN message ON message.room = room.id GROUP BY title, 1, room.id ORDER BY max(at) DESC",
    "SELECT title, m.at, max(at) AS last, text FROM room LEFT JOIN message AS m ON m.room = room.id GROUP BY room.id",
    "SELECT r.title, p.title AS other, max(m.at) AS last FROM room AS r JOIN room AS p ON p.id = r.id JOIN message AS m ON m.room = r.id GROUP BY r.id",
  ])
  func `may be joined with what is grouped by`(sql: String) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)), Self.schema)
    let plan = try #require(query.plan, "\(query.tracking.reason)")
    let records = plan.records.beforeKeys
    #expect(!records.contains("GROUP BY"), "\(records)")
    let isFound = ["(SELECT max(", "(SELECT min(", "LIMIT 1"].contains(where: records.contains)
    #expect(isFound, "\(records)")
    #expect(query.sql.contains("GROUP BY"))
    #expect(query.layout.keyNames.count == (sql.contains("title, 1") ? 2 : 1))
  }

  /// The row with the greatest key is one, in whatever order a group's rows are read.
  @Test(arguments: [
    (
      "SELECT r.title, max(m.id) AS last, m.text, m.price FROM message AS m JOIN room AS r ON r.id = m.room GROUP BY r.title",
      true
    ),
    (
      "SELECT m.price, max(m.id), r.title FROM message AS m JOIN room AS r ON r.id = m.room GROUP BY m.price / 2",
      true
    ),
    (
      "SELECT CAST(m.price AS INTEGER) AS p, max(m.id), r.title FROM message AS m JOIN room AS r ON r.id = m.room GROUP BY p",
      true
    ),
    // Of a room with several messages, or of none.
    (
      "SELECT m.text, max(r.id), r.title FROM message AS m JOIN room AS r ON r.id = m.room GROUP BY r.title",
      false
    ),
    (
      "SELECT r.title, max(m.id), m.text FROM room AS r LEFT JOIN message AS m ON m.room = r.id GROUP BY r.title",
      false
    ),
    (
      "SELECT r.title, max(m.id), m.text FROM message AS m JOIN room AS r ON r.id = m.room GROUP BY r.title HAVING count(*) > 1",
      false
    ),
    (
      "SELECT r.title, max(m.at), m.text FROM message AS m JOIN room AS r ON r.id = m.room GROUP BY r.title",
      false
    ),
  ])
  func `show one of several rows where it is that of the greatest key`(
    sql: String, isFollowed: Bool
  ) throws {
    let query = try analyzed(QueryDefinition(name: "q", form: .sql(sql)), Self.schema)
    #expect((query.plan != nil) == isFollowed, "\(query.tracking.reason)")
  }

  @Test(arguments: [
    // A group of several rows; rooms that have no message; a value of which not all is known.
    "SELECT title, max(m.id) FROM room AS r JOIN message AS m ON m.room = r.id GROUP BY title",
    "SELECT r.id, max(m.id) FROM room AS r LEFT JOIN message AS m ON m.room = r.id WHERE text > '' GROUP BY r.id",
    "SELECT r.id, max(m.thread), m.text FROM room AS r JOIN message AS m ON m.room = r.id GROUP BY r.id",
    "SELECT r.id, max(m.at), count(*) FROM room AS r JOIN message AS m ON m.room = r.id GROUP BY r.id",
    "SELECT r.id, max(r.id) FROM room AS r JOIN message AS m ON m.room = r.id GROUP BY m.id",
    "SELECT r.id, max(w.name) FROM room AS r JOIN word AS w ON w.room = r.id GROUP BY r.id",
    "SELECT r.id, max(m.id) FROM room AS r JOIN message AS m ON m.room = r.id GROUP BY r.id HAVING max(m.id) > 3",
  ])
  func `may be more than a row of what is joined`(sql: String) throws {
    let plan = try analyzed(QueryDefinition(name: "q", form: .sql(sql)), Self.schema).plan
    guard let records = plan?.records.beforeKeys else { return }
    #expect(!["(SELECT max(", "LIMIT 1"].contains(where: records.contains), "\(records)")
  }

  @Test(arguments: [
    // Which of several is shown; a value that is not shown as it is; what the other rows have.
    "SELECT thread, max(price), text FROM message GROUP BY thread",
    "SELECT room, max(id) + 1 FROM message GROUP BY room",
    "SELECT room, max(id), count(*) FROM message GROUP BY room",
    "SELECT room, max(id), min(id) FROM message GROUP BY room",
    "SELECT room, max(id) FROM message GROUP BY room ORDER BY count(*)",
    "SELECT room, max(id) FILTER (WHERE text > '') FROM message GROUP BY room",
    "SELECT room, max(DISTINCT id) FROM message GROUP BY room",
    "SELECT room, max(id, 3) FROM message GROUP BY room, id",
    "SELECT room, max(id) FROM message GROUP BY room HAVING max(id) > 3",
    // NULL is the least value of an order.
    "SELECT room, min(price) FROM message GROUP BY room",
    // Equal values that look different.
    "SELECT room, max(name) FROM word GROUP BY room",
  ])
  func `are not all that is shown of groups`(sql: String) throws {
    let plan = try analyzed(QueryDefinition(name: "q", form: .sql(sql)), Self.schema).plan
    let records = try #require(plan).records.beforeKeys
    #expect(!records.contains("= (SELECT"), "\(records)")
  }

  private func expectOneValueIsRead(_ plan: IncrementalPlan) throws {
    guard case .group = plan.owner else {
      Issue.record("\(plan.owner)")
      return
    }
    let isExtreme = ["max", "min"].contains { plan.records.beforeKeys.contains("= (SELECT \($0)(") }
    #expect(isExtreme, "\(plan.records.beforeKeys)")
    #expect(plan.records.beforeKeys.contains("IS ?"))
    #expect(!plan.records.beforeKeys.contains("GROUP BY"))
    // Each row is kept with its group, and not with each row of its group.
    #expect(plan.contributions.count == 1)
    #expect(!plan.contributions[0].sql.contains("JOIN"))
  }

  @Test func `may be the first of an order`() throws {
    let plan = try plan(
      """
      SELECT * FROM message AS m WHERE id = (
        SELECT o.id FROM message AS o WHERE o.room = m.room AND price > 1 ORDER BY at DESC, o.id DESC LIMIT 1)
      """)
    #expect(plan.records.beforeKeys.contains("LIMIT 1"), "\(plan.records.beforeKeys)")
    #expect(plan.records.beforeKeys.contains("(\"m\".\"price\") > 1"))
  }

  @Test func `are several where they have the same value`() throws {
    let plan = try plan(
      "SELECT * FROM message WHERE (thread, price) IN (SELECT thread, max(price) FROM message GROUP BY thread)"
    )
    #expect(plan.records.beforeKeys.contains("\"price\" = (SELECT"), "\(plan.records.beforeKeys)")
    #expect(plan.records.beforeKeys.contains("IS NOT NULL"))
  }

  @Test func `are joined with others by what these have`() throws {
    let query = try analyzed(
      QueryDefinition(
        name: "q",
        form: .sql(
          """
          SELECT r.title, m.text FROM room AS r JOIN message AS m ON m.room = r.id
          WHERE m.id IN (SELECT max(id) FROM message GROUP BY room) AND m.text <> '' ORDER BY m.at DESC
          """)), Self.schema)
    let plan = try #require(query.plan, "\(query.tracking.reason)")
    #expect(plan.leads.map(\.table) == ["room", "message"])
    let refused = plan.leads.filter { !$0.isFollowed }
    #expect(refused.isEmpty)
    // A message that is not shown may be the greatest.
    let sql = plan.contributions.map(\.sql)
    #expect(sql.contains { !$0.contains("JOIN") && !$0.contains("<> ''") })
    #expect(query.sql.contains("IN (SELECT max(id) FROM message GROUP BY room)"))
  }

  @Test func `may be declared`() throws {
    let query = try analyzed(
      QueryDefinition(
        name: "q",
        form: .declared(
          .init(
            table: "message", predicate: "id IN (SELECT max(id) FROM message GROUP BY room)",
            order: ["at DESC"]))), Self.schema)
    let plan = try #require(query.plan, "\(query.tracking.reason)")
    try expectOneValueIsRead(plan)
    #expect(query.sql.contains("GROUP BY room"))
  }

  @Test(arguments: [
    // Equal values of two groups; more than a column; what the rows are not all of.
    "SELECT * FROM message WHERE at IN (SELECT max(at) FROM message GROUP BY room)",
    "SELECT * FROM message WHERE id IN (SELECT max(id) + 0 FROM message GROUP BY room)",
    "SELECT * FROM message WHERE id IN (SELECT max(id) FROM message GROUP BY room % 2)",
    "SELECT * FROM message WHERE id IN (SELECT max(id) FROM message GROUP BY room HAVING count(*) > 1)",
    "SELECT * FROM message WHERE id IN (SELECT max(id) FROM room GROUP BY title)",
    "SELECT * FROM message WHERE id NOT IN (SELECT max(id) FROM message GROUP BY room)",
    "SELECT * FROM message WHERE id IN (SELECT max(id) FROM message GROUP BY room) OR text = 'x'",
    // Where one is NULL there is no other.
    "SELECT * FROM message AS m WHERE NOT EXISTS (SELECT 1 FROM message AS o WHERE o.thread = m.thread AND o.id > m.id)",
    "SELECT * FROM message AS m WHERE NOT EXISTS (SELECT 1 FROM message AS o WHERE o.room = m.room AND o.price > m.price)",
    "SELECT * FROM message AS m WHERE NOT EXISTS (SELECT 1 FROM message AS o WHERE o.room = m.room AND o.id >= m.id)",
    "SELECT m.*, o.text AS t FROM message AS m LEFT JOIN message AS o ON m.id < o.id AND o.room = m.room WHERE o.id IS NULL",
    // Which of several comes first.
    "SELECT * FROM message AS m WHERE id = (SELECT o.id FROM message AS o WHERE o.room = m.room ORDER BY at LIMIT 1)",
    "SELECT * FROM tag AS t WHERE name = (SELECT o.name FROM tag AS o WHERE o.room = t.room ORDER BY o.name COLLATE NOCASE LIMIT 1)",
    "SELECT * FROM message AS m WHERE id = (SELECT o.id AS at FROM message AS o WHERE o.room = m.room ORDER BY at DESC, o.id LIMIT 1)",
    // A value of another type, or collation, than the column.
    "SELECT m.id FROM message AS m JOIN (SELECT room, max(id) AS last FROM message GROUP BY room) AS s ON s.last = m.id WHERE s.last < '3'",
    "SELECT m.id, s.last + 1 AS next FROM message AS m JOIN (SELECT room, max(id) AS last FROM message GROUP BY room) AS s ON s.last = m.id",
    "SELECT w.key FROM word AS w JOIN (SELECT room, max(name) AS last FROM word GROUP BY room) AS s ON s.room = w.room AND s.last = w.name",
    "SELECT * FROM word WHERE name IN (SELECT max(name) FROM word GROUP BY room)",
    // There is always a row; what is shown is more than what is written.
    "SELECT * FROM message AS m WHERE NOT EXISTS (SELECT max(o.id) FROM message AS o WHERE o.room = m.room AND o.id > m.id)",
    "SELECT m.id FROM message AS m JOIN (SELECT *, max(id) AS last, room AS r FROM message GROUP BY room) AS s ON s.r = m.id",
    // A word that is a name.
    """
    SELECT m.id FROM message AS m, word WHERE m.id = (
      SELECT o.id AS key FROM message AS o WHERE o.room = m.room AND key > 1 ORDER BY o.id LIMIT 1)
    """,
  ])
  func `are others`(sql: String) throws {
    let plan = try analyzed(QueryDefinition(name: "q", form: .sql(sql)), Self.schema).plan
    guard let plan else { return }
    let records = plan.records.beforeKeys
    #expect(!records.contains("IS ?"), "\(records)")
  }
}
