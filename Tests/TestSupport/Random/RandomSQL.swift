/// Writes random transactions for a schema with everything that b-trees do.
///
/// It does not know what is in the database: statements may fail, which rolls back what they did
/// and nothing more, and whoever runs them goes on.
package struct RandomSQL {
  var random: RandomSource
  let hasFullTextSearch: Bool
  /// Whether tables come, go and change: then much is read anew that else is followed.
  let changesSchema: Bool

  package init(random: RandomSource, hasFullTextSearch: Bool, changesSchema: Bool = true) {
    self.random = random
    self.hasFullTextSearch = hasFullTextSearch
    self.changesSchema = changesSchema
  }

  /// Tables with rowids; those named `x…` come and go.
  package static let rowidTables = [
    "player", "blob", "log", "parent", "child", "keyed", "tiny", "x1", "x2", "x3",
  ]
  package static let otherTables = [
    "plain", "wide", "mixed", "long", "doc", "sqlite_sequence",
  ]

  package var schema: [String] {
    var statements = [
      "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score REAL, team, note TEXT)",
      "CREATE INDEX player_name ON player (name)",
      "CREATE INDEX player_team ON player (team, score)",
      "CREATE TABLE blob (id INTEGER PRIMARY KEY, body BLOB, tag TEXT)",
      "CREATE INDEX blob_body ON blob (body)",
      "CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT)",
      "CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT)",
      """
      CREATE TABLE child (id INTEGER PRIMARY KEY, parent REFERENCES parent(id) ON DELETE CASCADE \
      ON UPDATE CASCADE, text TEXT)
      """,
      "CREATE INDEX child_parent ON child (parent)",
      "CREATE TABLE keyed (code TEXT PRIMARY KEY, value)",
      "CREATE TABLE tiny (a, b)",
      """
      CREATE TRIGGER player_deleted AFTER DELETE ON player BEGIN \
      INSERT INTO log (what) VALUES ('deleted ' || old.id); END
      """,
      """
      CREATE TRIGGER parent_renamed AFTER UPDATE OF name ON parent BEGIN \
      UPDATE child SET text = new.name WHERE parent = new.id; END
      """,
    ]
    statements += Self.tablesWithoutRowID
    if hasFullTextSearch { statements.append("CREATE VIRTUAL TABLE doc USING fts5(title, body)") }
    return statements
  }

  /// One transaction, or a statement that must stand alone; and whether it commits.
  package mutating func transaction() -> [String] {
    if random.once(in: 12) { return [outside()] }
    if random.once(in: 3) { return [change()] }
    var statements = ["BEGIN IMMEDIATE"]
    if random.once(in: 12) { statements.insert("PRAGMA cache_size = 5", at: 0) }
    for _ in 0..<random.number(1...random.pick([2, 4, 12])) {
      statements.append(random.once(in: 30) ? schemaChange() : change())
      if random.once(in: 10) { statements += savepoint() }
    }
    statements.append(random.once(in: 8) ? "ROLLBACK" : "COMMIT")
    return statements
  }

  private mutating func savepoint() -> [String] {
    var statements = ["SAVEPOINT s"]
    for _ in 0..<random.number(1...4) { statements.append(change()) }
    if random.once(in: 2) { statements.append("ROLLBACK TO s") }
    statements.append("RELEASE s")
    return statements
  }

  /// What cannot be in a transaction, or acts on all of the database.
  package mutating func outside() -> String {
    switch random.number(0...17) {
    case 0: changesSchema || random.once(in: 5) ? "VACUUM" : change()
    case 1, 2: "PRAGMA incremental_vacuum(\(random.number(0...20)))"
    case 3: "PRAGMA wal_checkpoint(PASSIVE)"
    case 4: "PRAGMA wal_checkpoint(FULL)"
    case 5, 6: "PRAGMA wal_checkpoint(RESTART)"
    case 7, 8: "PRAGMA wal_checkpoint(TRUNCATE)"
    case 9: "PRAGMA wal_autocheckpoint = \(random.pick([1, 20, 1000, 10_000]))"
    case 10: "PRAGMA cache_size = \(random.pick([3, 10, 2000]))"
    case 11: changesSchema ? "ANALYZE" : change()
    case 12: "PRAGMA user_version = \(random.number(1...1000))"
    case 13: "PRAGMA foreign_keys = \(random.pick(["ON", "ON", "OFF"]))"
    case 14: "REINDEX"
    default: schemaChange()
    }
  }

  package mutating func schemaChange() -> String {
    guard changesSchema else { return change() }
    let table = "x\(random.number(1...3))"
    return switch random.number(0...11) {
    case 0, 1: "CREATE TABLE \(table) (id INTEGER PRIMARY KEY, a, b TEXT DEFAULT 'b')"
    case 2: "CREATE TABLE \(table) (a PRIMARY KEY, b) WITHOUT ROWID"
    case 3, 4: "DROP TABLE \(table)"
    case 5: "ALTER TABLE \(table) ADD COLUMN c\(random.number(1...99)) DEFAULT \(value())"
    case 6: "ALTER TABLE \(table) RENAME TO x\(random.number(1...3))"
    case 7: "CREATE INDEX \(table)_a ON \(table) (a)"
    case 8: "DROP INDEX \(table)_a"
    case 9: "CREATE TABLE \(table) AS SELECT id, name AS a, note AS b FROM player"
    case 10: "ALTER TABLE \(table) DROP COLUMN b"
    default: "CREATE VIEW v\(random.number(1...3)) AS SELECT * FROM player"
    }
  }
}
