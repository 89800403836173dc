import ChangeCapture
package import GRDB
import GRDBSQLite
import OrderedResults

/// What a query's analysis asks of the schema.
package struct SchemaFacts {
  package let db: Database

  package init(db: Database) { self.db = db }

  /// Names of all tables and views that a user made, for suggestions.
  func tablesAndViews() throws -> [String] {
    try String.fetchAll(
      db,
      sql: """
        SELECT name FROM sqlite_schema
        WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
        """)
  }

  /// Those of them that are named in one of some texts.
  func tablesAndViews(namedIn texts: [String]) throws -> [String] {
    let names = Set(
      texts.flatMap { SQLTokens.tokens(of: $0).compactMap { $0.nameOrText?.lowercased() } })
    return try tablesAndViews().filter { names.contains($0.lowercased()) }
  }

  /// Columns of a table or view, hidden ones of virtual tables left out.
  package func columns(of table: String) -> [String] {
    (try? db.columns(in: table).map(\.name)) ?? []
  }

  package func isTable(_ name: String) throws -> Bool { try db.tableExists(name) }

  /// The columns that identify a row of `table`, and whether SQLite guarantees that they do.
  ///
  /// A PRIMARY KEY of an ordinary table may hold NULL, any number of times, unless its columns are
  /// NOT NULL or it is the rowid: https://www.sqlite.org/lang_createtable.html#the_primary_key
  package func primaryKey(of table: String) throws -> PrimaryKey {
    let info = try db.primaryKey(table)
    let columns = try db.columns(in: table)
    if info.isRowID {
      if !columns.contains(where: { $0.primaryKeyIndex > 0 }) {
        return PrimaryKey(columns: [rowIDName(of: table)], isUnique: true)
      }
      if let rowID = rowIDExpression(of: table), info.columns == [rowID] {
        return PrimaryKey(columns: info.columns, isUnique: true)
      }
    }
    let isUnique = info.columns.allSatisfy { name in
      columns.contains { $0.name.isSameIdentifier(as: name) && $0.isNotNull }
    }
    return PrimaryKey(columns: info.columns, isUnique: isUnique || isWithoutRowID(table))
  }

  /// The key of a table WITHOUT ROWID by which its rows are found whichever way it is spelled; nil: there
  /// is none.
  func key(of table: String) throws -> TableKey? {
    guard let key = try TableKey(of: table, in: db) else { return nil }
    let collations = collations(of: table)
    let isOfColumns = zip(key.columns, key.collations).allSatisfy {
      collations[$0.lowercased()] == $1.rawValue
    }
    return isOfColumns ? key : nil
  }

  /// Whether a column of a table is declared NOT NULL.
  func isNotNull(_ column: String, of table: String) -> Bool {
    let columns = (try? db.columns(in: table)) ?? []
    return columns.contains { $0.name.isSameIdentifier(as: column) && $0.isNotNull }
  }

  /// Any of the rowid's three names that no column has taken.
  package func rowIDName(of table: String) -> String {
    freeRowIDNames(columns(of: table)).first ?? "rowid"
  }

  func freeRowIDNames(_ columns: [String]) -> [String] {
    ["rowid", "_rowid_", "oid"].filter { name in
      !columns.contains { $0.isSameIdentifier(as: name) }
    }
  }

  private func isWithoutRowID(_ table: String) -> Bool {
    (try? Row.fetchOne(
      db, sql: "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND name = ? AND wr = 1",
      arguments: [table])) != nil
  }

  /// The tables and columns that `statement` reads.
  ///
  /// GRDB's region of a statement comes from SQLite's authorizer, and so sees through views, CTEs
  /// and subqueries: https://www.sqlite.org/c3ref/set_authorizer.html. What only USING or NATURAL look
  /// at is not told to it; of such tables all columns count.
  func dependencies(of statements: [Statement]) throws -> [TableDependency] {
    let tables = try String.fetchAll(
      db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    let regions = statements.map(\.databaseRegion)
    let opened = Set(try statements.flatMap(tablesOpened))
    let virtual = try virtualTables()
    return tables.compactMap { table in
      let touched = regions.filter { $0.isModified(byEventsOfKind: .insert(tableName: table)) }
      if touched.isEmpty {
        return opened.contains(table)
          ? TableDependency(table: table, columns: columns(of: table)) : nil
      }
      let storage = virtual[table].map { definition in
        tables.filter { mayBeRead($0, by: table, definition) }
      }
      let columns = columns(of: table).filter { column in
        touched.contains {
          $0.isModified(byEventsOfKind: .update(tableName: table, columnNames: [column]))
        }
      }
      return TableDependency(table: table, columns: columns, storage: storage ?? [])
    }
  }

  /// The statements that made virtual tables, by their names.
  private func virtualTables() throws -> [String: String] {
    let rows = try Row.fetchAll(
      db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND rootpage = 0")
    return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
  }

  /// A virtual table keeps its data in tables named after it, or is told in its arguments which to read.
  private func mayBeRead(_ table: String, by virtual: String, _ definition: String) -> Bool {
    table.lowercased().hasPrefix(virtual.lowercased() + "_")
      || definition.lowercased().contains(table.lowercased()) && table != virtual
  }
}

extension SchemaFacts {
  /// The tables that a statement opens, or indexes of: it opens them by their root pages.
  ///
  /// https://www.sqlite.org/opcode.html#OpenRead
  private func tablesOpened(by statement: Statement) throws -> [String] {
    let explained = try db.makeStatement(sql: "EXPLAIN " + statement.sql)
    explained.setUncheckedArguments(StatementArguments())
    let pages = try Row.fetchAll(explained).compactMap { step -> Int64? in
      // The third operand is the database, the first of which is that of the connection.
      step["opcode"] == "OpenRead" && step["p3"] == 0 ? step["p2"] : nil
    }
    return try Set(pages).compactMap { page in
      try String.fetchOne(
        db, sql: "SELECT tbl_name FROM sqlite_schema WHERE rootpage = ?", arguments: [page])
    }
  }
}

/// The columns that identify a table's rows.
package struct PrimaryKey {
  package let columns: [String]
  let isUnique: Bool
}

extension SchemaFacts {
  /// The collation of each column, in capitals, by its name in small letters.
  func collations(of table: String) -> [String: String] {
    let columns = columns(of: table).map { ColumnOrigin(table: table, column: $0) }
    return columns.reduce(into: [:]) { $0[$1.column.lowercased()] = collation(of: $1) }
  }

  /// In capitals.
  func collation(of column: ColumnOrigin) -> String? {
    var name: UnsafePointer<CChar>?
    let code = sqlite3_table_column_metadata(
      db.sqliteConnection, nil, column.table, column.column, nil, &name, nil, nil, nil)
    return code == SQLITE_OK ? name.map { String(cString: $0).uppercased() } : nil
  }
}
