import OrderedResults
import Testing

@testable import FetchedRecords

/// Generated columns, indexes, CHECKs and views that call JSON functions.
@Suite struct `A schema that computes with JSON` {
  private static let schema = """
    CREATE TABLE event (
      id INTEGER PRIMARY KEY, data TEXT NOT NULL CHECK (json_valid(data)),
      kind TEXT AS (data ->> 'kind'),
      size INTEGER AS (json_extract(data, '$.size')) STORED);
    CREATE INDEX byKind ON event (kind, size);
    CREATE INDEX byUser ON event (data ->> 'user');
    CREATE INDEX urgent ON event (size) WHERE data ->> 'urgent';
    CREATE VIEW shown AS SELECT id, data ->> 'user' AS user, kind FROM event;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
      INSERT INTO event (id, data) SELECT i, json_object(
        'kind', 'k' || i % 5, 'user', 'u' || i % 12, 'size', i * 7 % 30, 'urgent', i % 10 = 0) FROM n;
    """

  private static let changes = [
    "UPDATE event SET data = json_set(data, '$.kind', 'k9') WHERE id = 4",
    "UPDATE event SET data = json_set(data, '$.user', 'u3', '$.size', 40) WHERE id = 5",
    "UPDATE event SET data = json_set(data, '$.urgent', true) WHERE id IN (2, 3)",
    "DELETE FROM event WHERE id BETWEEN 8 AND 10",
    "INSERT INTO event (id, data) VALUES (200, '{\"kind\": \"k1\", \"user\": \"u3\", \"size\": 3}')",
    "UPDATE event SET data = '{}' WHERE id = 200",
  ]

  private static let queries = [
    "SELECT * FROM event ORDER BY kind, size, id",
    "SELECT id, kind FROM event WHERE data ->> 'user' = 'u3' ORDER BY size, id",
    "SELECT id, size FROM event WHERE data ->> 'urgent' ORDER BY size, id",
    "SELECT kind, count(*) AS n, sum(size) AS size FROM event GROUP BY kind ORDER BY n, kind",
    "SELECT * FROM shown WHERE user = 'u3' ORDER BY kind, id",
    "SELECT user, count(*) AS n FROM shown GROUP BY user ORDER BY n, user",
  ]

  @Test(arguments: queries)
  func `is read row by row`(sql: String) throws {
    let (_, statistics) = try Fixture.following(sql, schema: Self.schema, Self.changes)
    #expect(statistics.maintained > 3)
    // Groups are counted at the first change.
    #expect(statistics.refetches <= 1)
  }
}
