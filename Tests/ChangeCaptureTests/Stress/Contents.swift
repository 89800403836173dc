import ChangeCapture
import Foundation
import GRDB
import OrderedResults

/// All rows of all tables of a database, read by plain SELECTs: what a capture is held against.
struct Contents {
  struct Table: Equatable {
    var columns: [String]
    /// By rowid, or by the number of a key.
    var rows: [Int64: [DatabaseValue]]
    /// Of a table without rowids: its key.
    var key: TableKey?
  }

  private(set) var tables: [String: Table] = [:]

  init(of db: Database) throws {
    let names = try Row.fetchAll(
      db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    for entry in names {
      let (name, sql): (String, String?) = (entry[0], entry[1])
      // The tables behind a virtual one count as parts of it.
      if name.hasPrefix("doc_") { continue }
      let lacksRowIDs = sql?.contains("WITHOUT ROWID") == true
      let key = lacksRowIDs ? try TableKey(of: name, in: db) : nil
      tables[name] = try Self.table(name, key, in: db)
    }
    tables["sqlite_master"] = try Self.table("sqlite_master", nil, in: db)
  }

  private static func table(_ name: String, _ key: TableKey?, in db: Database) throws -> Table {
    // A text of GRDB's ends with the first NUL.
    let bytes = key?.columns.map { "CASE typeof(\($0)) WHEN 'text' THEN CAST(\($0) AS BLOB) END" }
    let values = (key?.columns ?? []) + (bytes ?? []) + (key == nil ? ["rowid"] : [])
    let sql = "SELECT \(values.joined(separator: ", ")), * FROM \(name)"
    let statement = try db.makeStatement(sql: sql)
    var table = Table(
      columns: Array(statement.columnNames.dropFirst(values.count)), rows: [:], key: key)
    let cursor = try Row.fetchCursor(statement)
    while let row = try cursor.next() {
      let all = Array(row.databaseValues)
      let number = key.map { key in
        let count = key.columns.count
        return key.number(of: (0..<count).map { all[$0].value(bytes: all[count + $0]) })
      }
      table.rows[number ?? row[0]] = all
    }
    return table
  }
}

extension DatabaseValue {
  fileprivate func value(bytes: DatabaseValue) -> Value {
    switch storage {
    case .null: .null
    case .int64(let integer): .integer(integer)
    case .double(let real): .real(real)
    case .string: .text(Array(Data.fromDatabaseValue(bytes) ?? Data()))
    case .blob(let data): .blob(Array(data))
    }
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
