import GRDB

/// All rows of all tables of a database, read by plain SELECTs: what a capture is held against.
struct Contents {
  struct Table: Equatable {
    var columns: [String]
    /// By rowid.
    var rows: [Int64: [DatabaseValue]]
    /// Of a table without rowids: the rows as they come.
    var sequence: [[DatabaseValue]]
  }

  private(set) var tables: [String: Table] = [:]

  init(of db: Database) throws {
    let names = try Row.fetchAll(
      db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    for entry in names {
      let (name, sql): (String, String?) = (entry[0], entry[1])
      // The tables behind a virtual one count as parts of it.
      if name.hasPrefix("doc_") { continue }
      let isKeyed = sql?.contains("WITHOUT ROWID") == true
      tables[name] = try Self.table(name, isKeyed: isKeyed, in: db)
    }
    tables["sqlite_master"] = try Self.table("sqlite_master", isKeyed: false, in: db)
  }

  private static func table(_ name: String, isKeyed: Bool, in db: Database) throws -> Table {
    let sql = "SELECT \(isKeyed ? "1" : "rowid"), * FROM \(name)"
    let statement = try db.makeStatement(sql: sql)
    var table = Table(
      columns: Array(statement.columnNames.dropFirst()), rows: [:], sequence: [])
    let cursor = try Row.fetchCursor(statement)
    while let row = try cursor.next() {
      let values = Array(row.databaseValues)
      if isKeyed { table.sequence.append(values) } else { table.rows[row[0]] = values }
    }
    return table
  }
}

extension Contents.Table {
  /// The rowids of rows that are not the same in another state of the table.
  func changedRows(since old: Contents.Table) -> Set<Int64> {
    var changed: Set<Int64> = []
    for (rowid, row) in rows where old.rows[rowid] != row { changed.insert(rowid) }
    for rowid in old.rows.keys where rows[rowid] == nil { changed.insert(rowid) }
    return changed
  }
}
