import OrderedResults
import QueryAnalysis
import Testing

@testable import FetchedRecords

/// Records that are joined with tables of few rows.
@Suite struct `Records joined with few rows` {
  private static let schema = """
    CREATE TABLE settings (id INTEGER PRIMARY KEY, rate INTEGER);
    INSERT INTO settings VALUES (1, 2);
    CREATE TABLE tier (id INTEGER PRIMARY KEY, least INTEGER, most INTEGER);
    INSERT INTO tier VALUES (1, 0, 9), (2, 10, 49), (3, 50, 99);
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price INTEGER);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO item SELECT i, 'Item ' || i, i * 7 % 120 FROM n;
    """

  @Test(arguments: [
    "SELECT item.id, name, price * rate AS cost FROM item, settings ORDER BY cost, item.id",
    "SELECT item.id, name, tier.id AS tier FROM item JOIN tier ON price BETWEEN least AND most",
    "SELECT item.id, name, t.id AS tier FROM item LEFT JOIN tier AS t ON price >= least AND price <= most ORDER BY t.id, name",
  ])
  func `are read again by themselves`(sql: String) throws {
    let fixture = try Fixture(
      schema: Self.schema, queries: .definitions([QueryDefinition(name: "q", form: .sql(sql))]))
    let watched = try fixture.open("q")
    for change in [
      "UPDATE item SET price = 12 WHERE id = 3", "UPDATE item SET price = NULL WHERE id = 4",
      "INSERT INTO item VALUES (300, 'New', 55), (301, 'Newer', 200)",
      "DELETE FROM item WHERE id = 5",
      "UPDATE item SET name = 'B', price = price + 10 WHERE id < 8",
    ] {
      try fixture.expect(watched, toShow: sql, after: change)
    }
    #expect(fixture.refresher.statistics.refetches == 0)
    for change in [
      "UPDATE tier SET least = 8 WHERE id = 2; UPDATE settings SET rate = 3",
      "INSERT INTO settings SELECT id + 1, id FROM item; INSERT INTO tier SELECT id + 3, id, id FROM item",
      "UPDATE item SET price = 13 WHERE id = 3", "DELETE FROM tier; DELETE FROM settings",
      "UPDATE item SET price = 14 WHERE id = 3",
    ] {
      try fixture.expect(watched, toShow: sql, after: change)
    }
  }
}
