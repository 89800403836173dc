import GRDB
import Testing

@testable import QueryAnalysis

@Suite struct `A change of the schema` {
  private static let schema = """
    CREATE TABLE early (id INTEGER PRIMARY KEY);
    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team INTEGER REFERENCES team(id));
    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE "my-odd table" (a, b);
    CREATE TABLE Größe (id INTEGER PRIMARY KEY, n);
    CREATE INDEX byTeam ON player(team);
    CREATE INDEX teamByName ON team(name);
    CREATE VIEW best AS SELECT * FROM PLAYER WHERE id < 10;
    CREATE VIEW [best of all] AS SELECT name FROM best;
    CREATE VIEW odd AS SELECT a FROM `my-odd table`;
    CREATE VIRTUAL TABLE search USING fts5(name, content='player', content_rowid='id');
    INSERT INTO team VALUES (1, 'Red'), (2, 'Blue');
    INSERT INTO player VALUES (1, 'Ada', 1), (2, 'Bob', 2);
    """

  /// Whether it concerns a query of `sql` that all of these statements are executed.
  private func concerns(
    _ sql: String, _ statements: [String], alongside: String? = nil
  ) throws -> Bool {
    let db = try DatabaseQueue()
    return try db.writeWithoutTransaction { db in
      try db.execute(sql: Self.schema)
      let definition = QueryDefinition(
        name: "q", form: .sql(sql), alongside: alongside.map { [.init(name: "n", sql: $0)] } ?? [])
      let query = try Query.analyzed(definition, in: db)
      let old = try SchemaObjects(in: db)
      for statement in statements { try db.execute(sql: statement) }
      return try SchemaChange(from: old, to: SchemaObjects(in: db)).concerns(query)
    }
  }

  @Test(arguments: [
    "CREATE INDEX byName ON player(name)", "DROP INDEX byTeam",
    "ALTER TABLE player ADD COLUMN score", "ALTER TABLE Player RENAME TO person",
    "ALTER TABLE player RENAME COLUMN team TO club",
    "DROP TABLE player; CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)",
    "ANALYZE player", "DROP TABLE early; VACUUM",
  ])
  func `concerns who reads what it changes, by a view too`(change: String) throws {
    for sql in [
      "SELECT id, name FROM player", "SELECT id, name FROM main.\"PLAYER\"", "SELECT id FROM best",
      "SELECT name FROM \"best of all\"", "SELECT name FROM [BEST OF ALL]",
      "WITH t AS (SELECT * FROM best) SELECT name FROM t",
      "SELECT rowid, name FROM search",
      "SELECT id FROM team WHERE EXISTS (SELECT 1 FROM player WHERE team = team.id)",
    ] {
      #expect(try concerns(sql, [change]), "\(sql)")
    }
    #expect(
      try concerns("SELECT id FROM team", [change], alongside: "SELECT count(*) FROM best"))
  }

  @Test(arguments: [
    "CREATE TABLE other (player)", "CREATE TABLE other (a); CREATE INDEX otherByA ON other(a)",
    "CREATE VIEW other AS SELECT * FROM player", "DROP VIEW odd", "DROP TABLE Größe",
    "CREATE TRIGGER onPlayer AFTER INSERT ON player BEGIN SELECT 1; END",
    "ANALYZE Größe", "SELECT 1",
  ])
  func `concerns nobody else`(change: String) throws {
    for sql in [
      "SELECT id, name FROM player", "SELECT id FROM best", "SELECT name FROM \"best of all\"",
      "SELECT player.id, team.name FROM player JOIN team ON team.id = player.team",
    ] {
      #expect(try !concerns(sql, [change]), "\(sql)")
    }
  }

  @Test(arguments: [
    "SELECT id FROM best", "SELECT name FROM \"best of all\"", "SELECT b.id FROM best AS b",
    "SELECT id FROM team WHERE id IN (SELECT team FROM best)",
  ])
  func `concerns who reads a view that is another now`(sql: String) throws {
    let change = "DROP VIEW best; CREATE VIEW best AS SELECT * FROM player WHERE id > 10"
    #expect(try concerns(sql, [change]))
    #expect(try concerns("SELECT id FROM team", [change], alongside: sql))
  }

  /// Analyses read no foreign keys.
  @Test func `concerns nobody by way of a foreign key`() throws {
    #expect(try !concerns("SELECT id FROM player", ["CREATE INDEX teamById ON team(id, name)"]))
  }

  @Test func `finds names however they are quoted, and with letters beyond ASCII`() throws {
    let odd = ["CREATE INDEX byA ON 'my-odd table'(a)"]
    #expect(try concerns("SELECT a, b FROM \"My-Odd table\"", odd))
    #expect(try concerns("SELECT a, b FROM [my-odd table]", odd))
    #expect(try concerns("SELECT a FROM odd", odd))
    #expect(try concerns("SELECT id, n FROM größe", ["ALTER TABLE Größe ADD COLUMN m"]))
    // All words must be there.
    #expect(try !concerns("SELECT id AS my, name AS odd_table FROM player", odd))
  }

  @Test func `concerns all by a name of no letters, and who reads the schema itself`() throws {
    #expect(try concerns("SELECT id FROM team", ["CREATE TABLE \"-\" (a)"]))
    #expect(try concerns("SELECT name FROM sqlite_schema", ["CREATE TABLE other (a)"]))
    #expect(try concerns("SELECT name FROM pragma_table_info('team')", ["DROP VIEW odd"]))
    let trigger = "CREATE TRIGGER onTeam AFTER INSERT ON team BEGIN SELECT 1; END"
    #expect(
      try concerns("SELECT sql FROM team JOIN sqlite_master AS s ON s.name = team.name", [trigger]))
  }

  @Test func `takes whatever somebody writes into the tables of ANALYZE`() throws {
    let written =
      "INSERT INTO sqlite_stat1 VALUES (7, NULL, '1'), (NULL, x'FF', NULL), (x'FF', 1, 2)"
    #expect(try concerns("SELECT id FROM team", ["ANALYZE", written]))
  }

  @Test func `concerns all where a view has a name of no letters`() throws {
    let view = "CREATE VIEW \"%\" AS SELECT * FROM best"
    try DatabaseQueue().write { db in
      try db.execute(sql: Self.schema + view)
      let query = try Query.analyzed(
        QueryDefinition(name: "q", form: .sql("SELECT name FROM \"%\"")), in: db)
      let old = try SchemaObjects(in: db)
      try db.execute(
        sql: "DROP VIEW best; CREATE VIEW best AS SELECT * FROM player WHERE id > 10")
      #expect(SchemaChange(from: old, to: try SchemaObjects(in: db)).concerns(query))
    }
  }

  @Test func `concerns what does not fit the schema where it has what that names`() throws {
    try DatabaseQueue().write { db in
      try db.execute(sql: Self.schema)
      let old = try SchemaObjects(in: db)
      try db.execute(sql: "CREATE TABLE score (n)")
      let change = SchemaChange(from: old, to: try SchemaObjects(in: db))
      for (sql, isConcerned) in [("SELECT n FROM Score", true), ("SELECT n FROM scores", false)] {
        let definition = QueryDefinition(name: "q", form: .sql(sql))
        #expect(change.concerns(definition) == isConcerned)
      }
    }
  }

  @Test func `concerns all where nobody knows what was there before`() throws {
    try DatabaseQueue().write { db in
      try db.execute(sql: Self.schema)
      let query = try Query.analyzed(
        QueryDefinition(name: "q", form: .sql("SELECT id FROM team")), in: db)
      #expect(SchemaChange(from: nil, to: try SchemaObjects(in: db)).concerns(query))
    }
  }
}
