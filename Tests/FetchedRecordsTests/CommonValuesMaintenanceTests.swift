import OrderedResults
import QueryAnalysis
import TestSupport
import Testing

@testable import FetchedRecords

/// Records that look at a subquery which looks at none of them.
@Suite struct `Records that look at one value` {
  private static let schema = """
    CREATE TABLE item (
      id INTEGER PRIMARY KEY, name TEXT, price INTEGER, weight REAL, season INTEGER, shop INTEGER,
      code TEXT, any);
    CREATE INDEX itemByPrice ON item (price);
    CREATE TABLE season (id INTEGER PRIMARY KEY, name TEXT, ended INTEGER);
    CREATE TABLE settings (season INTEGER, currency TEXT COLLATE NOCASE, rate REAL);
    CREATE TABLE setting (key TEXT PRIMARY KEY, value);
    CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT, open INTEGER);
    CREATE VIEW present AS SELECT max(id) AS newest FROM season;
    CREATE TABLE node (id INTEGER PRIMARY KEY, parent INTEGER, name TEXT);
    CREATE INDEX nodeByParent ON node (parent);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
      INSERT INTO item SELECT i, 'Item ' || (i % 60), i * 7 % 50, i % 8 / 4.0, i % 3, i % 5, '0' || (i % 4), i % 4
      FROM n;
    INSERT INTO season VALUES (1, 'One', 10), (2, 'Two', NULL);
    INSERT INTO settings VALUES (2, 'EUR', 1.5);
    INSERT INTO setting VALUES ('season', 1), ('currency', 'USD'), ('code', '02'), ('none', NULL);
    INSERT INTO node VALUES (1, NULL, 'a'), (2, 1, 'b'), (3, 1, 'c'), (4, 3, 'd'), (5, NULL, 'e');
    INSERT INTO shop SELECT id, 'Shop ' || id, id % 2 FROM item WHERE id < 6;
    """

  /// What most of these change is not what the records look at.
  private static let changes = [
    "UPDATE item SET name = 'A' WHERE id = 4", "UPDATE item SET price = 3 WHERE id IN (5, 6)",
    "UPDATE settings SET currency = 'eur'", "UPDATE setting SET value = 'X' WHERE key = 'none'",
    "INSERT INTO item VALUES (500, 'B', 12, 0.5, 2, 1, '2', 2)",
    "UPDATE season SET name = 'Three' WHERE id = 1",
    "UPDATE item SET season = 2, shop = 3 WHERE id = 9", "DELETE FROM item WHERE id = 10",
    "UPDATE settings SET season = 1", "UPDATE item SET name = 'C', season = 1 WHERE id = 500",
    "UPDATE setting SET value = 2 WHERE key = 'season'", "UPDATE item SET code = '2' WHERE id = 12",
    "UPDATE setting SET value = 2 WHERE key = 'code'",
    "UPDATE item SET code = '02', any = '2' WHERE id = 13",
    "UPDATE setting SET value = 2.0 WHERE key = 'season'",
    "UPDATE item SET any = 2.0 WHERE id = 14",
    "UPDATE item SET price = 90 WHERE id = 20", "UPDATE item SET name = 'D' WHERE id = 21",
    "UPDATE item SET price = 1 WHERE id = 20", "INSERT INTO season VALUES (3, 'Four', NULL)",
    "UPDATE item SET season = 3 WHERE id IN (1, 2, 3)", "DELETE FROM season WHERE id = 3",
    "UPDATE setting SET value = x'32' WHERE key IN ('season', 'code')",
    "UPDATE item SET name = 'E', any = x'32' WHERE id = 30", "DELETE FROM settings",
    "UPDATE item SET name = 'F' WHERE id = 31", "INSERT INTO settings VALUES ('x', 'x', 'x')",
    "UPDATE item SET name = 'G' WHERE id = 32",
    "UPDATE settings SET season = 2, currency = 7, rate = 3",
    "UPDATE item SET name = 'H' WHERE id = 33; UPDATE shop SET open = 0 WHERE id = 2",
    "UPDATE shop SET open = 0", "UPDATE item SET name = 'I', weight = 3 WHERE id = 34",
    "DELETE FROM setting", "UPDATE item SET name = 'J', code = 'x' WHERE id = 35",
    "UPDATE item SET weight = -0.0 WHERE id = 36; UPDATE settings SET rate = -0.0",
    "UPDATE settings SET rate = 0.0", "UPDATE node SET name = 'K' WHERE id = 2",
    "INSERT INTO node VALUES (0, 2, 'L')", "UPDATE item SET shop = 0 WHERE id = 8",
    "UPDATE node SET parent = 5 WHERE id = 3", "UPDATE item SET name = 'M', shop = 4 WHERE id = 9",
    "UPDATE shop SET open = NULL WHERE id = 3",
    "UPDATE item SET name = 'N' WHERE shop = 2 AND id < 20",
    "INSERT INTO item VALUES (501, 'O', 12, 0.5, 2, 1, '02', 2)", "DELETE FROM item WHERE id = 501",
    "DELETE FROM item WHERE id > 40",
  ]

  @Test(arguments: [
    "SELECT id, name FROM item WHERE price = (SELECT max(price) FROM item) ORDER BY name, id",
    "SELECT id, name FROM item WHERE price > (SELECT avg(price) FROM item) ORDER BY name, id",
    "SELECT id, name FROM item WHERE season = (SELECT season FROM settings) ORDER BY name, id",
    "SELECT id, name FROM item WHERE season = (SELECT value FROM setting WHERE key = 'season') ORDER BY id DESC",
    "SELECT id, name FROM item WHERE season = (SELECT max(id) FROM season)",
    "SELECT id, name FROM item WHERE season = (SELECT newest FROM present) LIMIT 10",
    "SELECT id, name FROM item WHERE season = (SELECT id FROM season WHERE ended IS NULL ORDER BY id DESC LIMIT 1)",
    "SELECT id, name FROM item WHERE code = (SELECT value FROM setting WHERE key = 'code')",
    "SELECT id, name FROM item WHERE (SELECT value FROM setting WHERE key = 'code') = any",
    "SELECT id, name FROM item WHERE code = (SELECT season FROM settings)",
    "SELECT id, name FROM item WHERE code IN ((SELECT value FROM setting WHERE key = 'code'), '03')",
    "SELECT id, name FROM item WHERE code BETWEEN '01' AND (SELECT value FROM setting WHERE key = 'code')",
    "SELECT id, CASE code WHEN (SELECT value FROM setting WHERE key = 'code') THEN 'yes' END AS c FROM item",
    "SELECT id, CASE (SELECT value FROM setting WHERE key = 'code') WHEN code THEN 'yes' END AS c FROM item",
    "SELECT id, ((SELECT value FROM setting WHERE key = 'code')) = code AS c FROM item",
    "SELECT id, any = (SELECT currency FROM settings) AS a, code < (SELECT rate FROM settings) AS b FROM item",
    "SELECT id, name || 'x' = (SELECT currency FROM settings) AS a, 'EUR' = (SELECT currency FROM settings) AS b FROM item",
    "SELECT id, weight * (SELECT rate FROM settings) AS w, (SELECT currency FROM settings) AS c FROM item ORDER BY w, id",
    "SELECT id, price * 100.0 / (SELECT sum(price) FROM item) AS share FROM item ORDER BY share DESC, id",
    "SELECT id, name FROM item WHERE EXISTS (SELECT 1 FROM shop WHERE open) AND season = 1",
    "SELECT id, name FROM item WHERE NOT EXISTS (SELECT 1 FROM settings WHERE currency = 'USD') ORDER BY id",
    "SELECT shop, count(*) AS n FROM item WHERE season = (SELECT season FROM settings) GROUP BY shop ORDER BY n DESC, shop",
    "SELECT shop, sum(price) AS s FROM item GROUP BY shop HAVING s > (SELECT avg(price) * 80 FROM item)",
    "SELECT DISTINCT name FROM item WHERE season = (SELECT season FROM settings)",
    "SELECT item.id, shop.name FROM item JOIN shop ON shop.id = item.shop WHERE season = (SELECT season FROM settings) ORDER BY shop.name, item.id",
    "SELECT id, (SELECT count(*) FROM item WHERE shop = shop.id AND season = (SELECT season FROM settings)) AS n FROM shop",
    "SELECT id, name FROM item WHERE shop IN (SELECT id FROM shop WHERE open = (SELECT min(open) FROM shop))",
    "SELECT id, name FROM item WHERE season = (SELECT season FROM settings) UNION ALL SELECT id, name FROM shop WHERE open = (SELECT max(open) FROM shop)",
    "SELECT id, name, rank() OVER (PARTITION BY shop ORDER BY price, id) AS r FROM item WHERE season = (SELECT season FROM settings)",
    "SELECT * FROM (SELECT id, name, price FROM item WHERE season = (SELECT season FROM settings) ORDER BY price DESC, id LIMIT 5) ORDER BY name, id",
    "SELECT id, name FROM item ORDER BY price = (SELECT max(price) FROM item) DESC, name, id",
    "SELECT id, name FROM item ORDER BY id LIMIT (SELECT count(*) FROM season) + 3",
    "WITH t AS (SELECT * FROM item WHERE season = (SELECT max(season) FROM settings)) SELECT id, name FROM t",
    "SELECT id, name FROM item WHERE shop NOT IN (SELECT open FROM shop) ORDER BY id",
    """
    SELECT id, name FROM item WHERE shop IN (
      WITH RECURSIVE sub(id) AS (SELECT 1 UNION ALL SELECT node.id FROM node JOIN sub ON node.parent = sub.id)
      SELECT id FROM sub) ORDER BY name, id
    """,
    """
    WITH RECURSIVE sub(node) AS (SELECT 1 UNION ALL SELECT id FROM node JOIN sub ON node.parent = sub.node)
    SELECT id, name, (SELECT count(*) FROM sub) AS n FROM item WHERE shop IN (SELECT node FROM sub) ORDER BY id DESC
    """,
    """
    WITH RECURSIVE sub(node, depth) AS (
      SELECT 1, 0 UNION ALL SELECT id, depth + 1 FROM node JOIN sub ON node.parent = sub.node)
    SELECT shop, count(*) AS n FROM item WHERE shop IN (SELECT node FROM sub WHERE depth > 0) GROUP BY shop
    """,
    "SELECT id, name FROM item WHERE id IN (SELECT max(id) FROM item GROUP BY shop)",
    "SELECT id, name FROM item WHERE code IN (SELECT value FROM setting WHERE key <> 'season') ORDER BY id",
    "SELECT id, name FROM item WHERE code NOT IN (SELECT code FROM item WHERE price > 40 AND season = 0) ORDER BY id",
    "SELECT id, shop IN (SELECT id FROM shop EXCEPT SELECT season FROM settings) AS other FROM item",
    "WITH settings AS (SELECT 1 AS season) SELECT id, name FROM item WHERE season = (SELECT season FROM settings)",
  ])
  func `are those that SQLite returns`(sql: String) throws {
    _ = try Fixture.following(sql, schema: Self.schema, Self.changes)
  }

  @Test(arguments: [
    ("SELECT id, name FROM item WHERE season = (SELECT max(id) FROM season) ORDER BY id", 1),
    ("SELECT id, name FROM item WHERE price <> (SELECT max(price) FROM item) ORDER BY name, id", 2),
    ("SELECT id, name || (SELECT value FROM setting WHERE key = 'season') AS n FROM item", 1),
    (
      "SELECT shop, count(*) AS n FROM item WHERE season >= (SELECT max(id) - 1 FROM season) GROUP BY shop",
      2
    ),
    ("SELECT id, name FROM item WHERE EXISTS (SELECT 1 FROM season WHERE ended IS NULL)", 1),
    (
      "SELECT id, name FROM item WHERE season NOT IN (SELECT id FROM season WHERE ended IS NULL)", 1
    ),
    (
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < (SELECT max(id) FROM season)) SELECT id, name FROM item WHERE season IN (SELECT i FROM n)",
      1
    ),
  ])
  func `are read alone as long as it is the same`(sql: String, refetches: Int) throws {
    let changes = [
      "UPDATE item SET name = 'A' WHERE id = 4", "UPDATE season SET name = 'B' WHERE id = 2",
      "UPDATE item SET name = 'C', price = 4 WHERE id = 5", "INSERT INTO season VALUES (0, 'D', 1)",
      "DELETE FROM item WHERE id = 7", "UPDATE setting SET value = 'E' WHERE key = 'code'",
      "INSERT INTO item VALUES (500, 'F', 12, 0.5, 2, 1, '2', 2)",
    ]
    let (_, statistics) = try Fixture.following(sql, schema: Self.schema, changes)
    #expect(statistics.refetches <= refetches)
    #expect(statistics.maintained >= 3)
  }

  @Test func `are read with all others where it is another one`() throws {
    let sql = "SELECT id, name FROM item WHERE season = (SELECT max(id) FROM season) ORDER BY id"
    let changes = [
      "UPDATE item SET season = 3 WHERE id < 9", "INSERT INTO season VALUES (3, 'A', NULL)",
      "UPDATE item SET name = 'B' WHERE id = 2", "DELETE FROM season WHERE id = 3",
    ]
    let (_, statistics) = try Fixture.following(sql, schema: Self.schema, changes)
    #expect(statistics.queries["q"]?.fallbacks == ["otherValue": 2])
  }

  private static let compared = """
    CREATE TABLE item (id INTEGER PRIMARY KEY, t TEXT, n INTEGER, flag INTEGER);
    CREATE TABLE s (min INTEGER, i INTEGER, any, js TEXT);
    CREATE TABLE doc (text TEXT);
    CREATE TABLE x (i INTEGER);
    CREATE TABLE y (t TEXT);
    INSERT INTO item VALUES (1, '5', 5, 0), (2, '6', 4, 0), (3, '7', 7, 0), (4, '8', 8, 0);
    INSERT INTO s VALUES (5, 5, 5, '{"a": [1]}');
    INSERT INTO doc VALUES ('{"x": 9}');
    INSERT INTO x VALUES (5);
    """

  /// What is not to be taken for one value, or not for a parameter's.
  @Test(arguments: [
    "SELECT id, n, json_object('all', (SELECT json_group_array(i) FROM x)) AS j FROM item ORDER BY id",
    "SELECT id, n, json_array(coalesce((SELECT js -> '$.a' FROM s), 1), (SELECT js ->> '$.a' FROM s)) AS j FROM item",
    "SELECT id, t AS z FROM item WHERE z = (SELECT any FROM s) ORDER BY id",
    "SELECT id, n, z = (SELECT any FROM s) AS b FROM (SELECT id, n, t AS z FROM item) ORDER BY id",
    "WITH w AS (SELECT id, n, t AS z FROM item) SELECT id, n FROM w WHERE z = (SELECT any FROM s) ORDER BY id",
    "WITH w(id, n, z) AS (SELECT id, n, t FROM item) SELECT id, n FROM w WHERE (SELECT any FROM s) = z ORDER BY id",
    "SELECT id, n, t = (SELECT a FROM (SELECT t AS a FROM y UNION ALL SELECT i FROM x) LIMIT 1) AS e FROM item",
    "SELECT id, n, t = (WITH c AS (SELECT t FROM y UNION ALL SELECT i FROM x) SELECT t FROM c LIMIT 1) AS e FROM item",
    "SELECT id, n, ':didchange_value_0_' AS x FROM item WHERE n >= (SELECT max(i) FROM s) ORDER BY id",
    "WITH x AS (SELECT id, n FROM item) SELECT id, n FROM x WHERE EXISTS (SELECT 1 FROM 'x' WHERE id > 3) ORDER BY id",
    """
    SELECT id, n FROM item WHERE n > (SELECT min FROM s)
      AND (flag = 0 OR n < (SELECT text ->> '$.x' FROM doc)) ORDER BY id
    """,
    "SELECT id, n, t IN (SELECT max(i) FROM x) AS a, n IN (SELECT max(i) FROM x) AS b FROM item",
    "SELECT id, n IN (SELECT max(i) FROM x) AS a, t IN (SELECT max(i) FROM x) AS b FROM item",
    "SELECT id, n = (SELECT max(i) FROM x) AS a, n IN (SELECT max(i) FROM x) AS b FROM item",
    "SELECT id, n = (SELECT any FROM s) AS a, t = (SELECT any FROM s) AS b FROM item",
    "SELECT id, n FROM item WHERE n IN (SELECT any FROM s) OR t IN (SELECT i FROM x) OR t NOT IN (SELECT t FROM y)",
  ])
  func `are compared as SQLite compares them`(sql: String) throws {
    let changes = [
      "UPDATE item SET n = n + 1 WHERE id = 1", "UPDATE item SET flag = 0, n = 6 WHERE id = 2",
      "UPDATE s SET min = 6; UPDATE doc SET text = '{bad'", "UPDATE doc SET text = '{\"x\": 100}'",
      "UPDATE item SET n = 7 WHERE id = 2", "UPDATE s SET any = '5', i = 6",
      "UPDATE item SET n = 6 WHERE id IN (1, 2)", "INSERT INTO y VALUES (5), (NULL)",
      "UPDATE item SET t = 5 WHERE id = 3", "DELETE FROM y",
      "UPDATE item SET t = '05' WHERE id = 3",
      "INSERT INTO item VALUES (9, '5', 9, 0)", "DELETE FROM item WHERE id IN (4, 9)",
      "UPDATE item SET n = n + 1",
    ]
    _ = try Fixture.following(sql, schema: Self.compared, changes)
  }

  /// The expressions of a declaration see each other's names.
  @Test func `are compared alike in a declaration`() throws {
    var declaration = QueryDefinition.Declaration(
      table: "item", fields: ["id", "n", "(SELECT any FROM s) AS z"], predicate: "z = t",
      order: ["n"])
    let sql = "SELECT id, n, (SELECT any FROM s) AS z FROM item WHERE z = t ORDER BY n, id"
    for fields in [declaration.fields, ["id", "n", "+(SELECT any FROM s) AS z"]] {
      declaration.fields = fields
      let fixture = try Fixture(
        schema: Self.compared,
        queries: .definitions([QueryDefinition(name: "q", form: .declared(declaration))]))
      let watched = try fixture.open("q")
      let plain =
        fields == ["id", "n", "+(SELECT any FROM s) AS z"]
        ? sql.replacing("(SELECT any", with: "+(SELECT any") : sql
      for change in [
        "UPDATE item SET n = n + 1 WHERE id = 1", "UPDATE item SET n = 3 WHERE id = 2",
      ] {
        try fixture.expect(watched, toShow: plain, after: change)
      }
    }
  }

  /// What was looked up for a state that was not finished is not of the state that is shown.
  @Test func `are read with all others, though something else takes long`() throws {
    let sql = "SELECT id, n FROM item WHERE n >= (SELECT min FROM s) ORDER BY id"
    let definition = QueryDefinition(
      name: "q", form: .sql(sql),
      alongside: [.init(name: "c", sql: "SELECT count(*) FROM y WHERE t || 'a' LIKE '%zz%'")])
    let fixture = try Fixture(schema: Self.compared, queries: .definitions([definition]))
    let watched = try fixture.open("q")
    let many = """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
        INSERT INTO y SELECT i FROM n
      """
    for change in [
      "UPDATE item SET t = 'a' WHERE id = 3", "UPDATE s SET min = 7; \(many)",
      "UPDATE item SET n = 6 WHERE id = 3; \(many)", "UPDATE s SET min = 4; DELETE FROM y",
      "UPDATE s SET min = 5; \(many)",
    ] {
      try fixture.expect(watched, toShow: sql, after: change)
    }
  }
}
