import GRDB
import Testing

@testable import QueryAnalysis

@Suite struct `The outline of an order` {
  private static let schema = """
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, rank INTEGER, code TEXT NOT NULL, n);
    CREATE TABLE box (id INTEGER PRIMARY KEY, item INTEGER);
    CREATE INDEX byName ON item(name);
    CREATE INDEX byRank ON item(rank DESC);
    CREATE INDEX byBoth ON item(rank, name COLLATE NOCASE);
    CREATE INDEX byLength ON item(length(code));
    CREATE INDEX partial ON item(n) WHERE n IS NOT NULL;
    CREATE UNIQUE INDEX byCode ON item(code);
    CREATE TABLE pair (a INTEGER, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
    CREATE TABLE word (word TEXT PRIMARY KEY NOT NULL);
    CREATE VIEW items AS SELECT * FROM item;
    """

  private func outline(_ sql: String) throws -> OutlinedOrder? {
    try DatabaseQueue().write { db in
      try db.execute(sql: Self.schema)
      let definition = QueryDefinition(name: "q", form: .sql(sql))
      return try Query.analyzed(definition, in: db).plan?.outline
    }
  }

  private func expect(
    _ sql: String, _ tree: OutlinedOrder.Tree, isDescending: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let expected = OutlinedOrder(tree: tree, isDescending: isDescending)
    #expect(try outline(sql) == expected, sourceLocation: sourceLocation)
  }

  @Test func `is that of the table where the rowid gives it`() throws {
    try expect("SELECT * FROM item", .table("item"))
    try expect("SELECT id, name FROM item ORDER BY id DESC", .table("item"), isDescending: true)
    try expect("SELECT name, length(code) AS n FROM item AS i", .table("item"))
  }

  @Test func `is that of an index`() throws {
    try expect("SELECT * FROM item ORDER BY name", .index("byName"))
    try expect("SELECT * FROM item ORDER BY name, id", .index("byName"))
    try expect("SELECT id, name FROM item ORDER BY name", .index("byName"))
    try expect("SELECT * FROM item ORDER BY name DESC", .index("byName"), isDescending: true)
    try expect("SELECT * FROM item ORDER BY rank DESC, id", .index("byRank"))
    try expect("SELECT * FROM item ORDER BY rank DESC", .index("byRank"))
    try expect(
      "SELECT * FROM item ORDER BY rank, name COLLATE NOCASE, id", .index("byBoth"))
    try expect(
      "SELECT * FROM item ORDER BY rank DESC, name COLLATE NOCASE DESC, id DESC",
      .index("byBoth"), isDescending: true)
    try expect("SELECT * FROM item ORDER BY length(code)", .index("byLength"))
    try expect("SELECT * FROM item ORDER BY code", .index("byCode"))
  }

  @Test(arguments: [
    "SELECT * FROM item ORDER BY n", "SELECT * FROM item ORDER BY name, rank",
    "SELECT * FROM item ORDER BY name, id DESC", "SELECT * FROM item ORDER BY name COLLATE NOCASE",
    "SELECT * FROM item WHERE id > 3", "SELECT * FROM item WHERE name = 'a' ORDER BY name",
    "SELECT * FROM item ORDER BY name LIMIT 10", "SELECT DISTINCT name FROM item ORDER BY name",
    "SELECT name, count(*) AS n FROM item GROUP BY name ORDER BY name",
    "SELECT item.id, box.id AS box FROM item LEFT JOIN box ON box.id = item.n ORDER BY item.id",
    "SELECT id, (SELECT count(*) FROM box WHERE item = i.id) AS n FROM item AS i ORDER BY id",
    "SELECT * FROM items ORDER BY name", "SELECT * FROM pair",
    "SELECT * FROM item ORDER BY name NULLS LAST",
    "SELECT id, name FROM item UNION ALL SELECT id, NULL FROM box",
    "SELECT id, row_number() OVER (PARTITION BY rank ORDER BY id) AS n FROM item ORDER BY id",
    "SELECT id, row_number() OVER (PARTITION BY id) AS n FROM item ORDER BY id",
    "SELECT id, sum(rank) OVER (PARTITION BY name) AS n FROM item ORDER BY name, id",
    "SELECT count(*) AS n FROM item",
  ])
  func `is not certain where more decides than one order`(sql: String) throws {
    #expect(try outline(sql) == nil)
  }
}
