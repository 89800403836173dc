import GRDB
import GRDBSQLite

/// An index that a table lacks for what columns of it are compared with.
struct MissingIndex {
  let table: String
  let columns: [String]

  init(table: String, column: String) { self.init(table: table, columns: [column]) }

  init(table: String, columns: [String]) { (self.table, self.columns) = (table, columns) }

  /// A statement to paste.
  var sql: String {
    let name = ([table] + columns).joined(separator: "_")
    let list = columns.map(\.plainIdentifier).joined(separator: ", ")
    return "CREATE INDEX \(name.plainIdentifier) ON \(table.plainIdentifier) (\(list))"
  }
}

extension IncrementalAnalysis {
  /// The index that may let SQLite search where a step of its plan would scan ("SCAN name …", or
  /// "SEARCH name USING AUTOMATIC …"): on a column that must equal something, and that no index begins
  /// with; one of the table that is scanned, if there is one.
  func missingIndex(forStep step: String) -> MissingIndex? {
    let scanned = step.drop { $0 != " " }.dropFirst() + " "
    var others: [MissingIndex] = []
    for select in [select] + subqueries.joins.map(\.select) {
      let columns =
        RowDetermination(select, db).comparedColumns
        + select.syntax.groupBy.compactMap(select.origin(of:))
      for column in columns {
        let table = select.tables[column.table].name
        // What FTS5 is asked, no index answers.
        if select.tables[column.table].storage != nil { continue }
        if facts.isIndexed(column.name, of: table) { continue }
        let index = MissingIndex(
          table: table, column: facts.declaredName(of: column.name, in: table))
        let names = [table] + select.aliases(ofTable: column.table)
        if names.contains(where: { scanned.hasPrefix($0 + " ") }) { return index }
        others.append(index)
      }
    }
    return others.first
  }
}

extension ResolvedSelect {
  /// The names that a table has in FROM, here and in the views that show it.
  fileprivate func aliases(ofTable table: Int) -> [String] {
    var first = 0
    for source in sources {
      defer { first += source.tables.count }
      guard source.tables.indices.contains(table - first) else { continue }
      guard case .select(let inner, _) = source.body else { return [source.name] }
      return [source.name] + inner.aliases(ofTable: table - first)
    }
    return []
  }
}

extension SchemaFacts {
  /// Whether an index, or the rowid, finds the rows with a value of a column.
  ///
  /// https://www.sqlite.org/pragma.html#pragma_index_xinfo
  func isIndexed(_ column: String, of table: String) -> Bool {
    if rowIDExpression(of: table)?.isSameIdentifier(as: column) == true { return true }
    let found = try? Row.fetchOne(
      db,
      sql: """
        SELECT 1 FROM pragma_index_list(?) AS list, pragma_index_xinfo(list.name) AS item
        WHERE NOT list.partial AND item.seqno = 0 AND item.name = ? COLLATE NOCASE
        """, arguments: [table, column])
    return found != nil
  }

  func declaredName(of column: String, in table: String) -> String {
    columns(of: table).first { $0.isSameIdentifier(as: column) } ?? column
  }
}

extension String {
  /// This name in SQL, in quotation marks only where it needs them.
  fileprivate var plainIdentifier: String {
    let isWord = allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    // https://www.sqlite.org/c3ref/keyword_check.html
    let isPlain =
      isWord && first?.isNumber == false && sqlite3_keyword_check(self, Int32(utf8.count)) == 0
    return isPlain ? self : quotedIdentifier
  }
}
