import OrderedResults

/// A table that a query reads: one that FROM names, or that a view, a CTE or a subquery of it names.
///
/// A table that is read twice is there twice.
struct BaseTable: Equatable {
  let name: String
  /// The rowid as an expression of the SELECT that knows this table; nil: it cannot be named.
  var rowID: String?
  /// The column that is the rowid, or the rowid's own name.
  let rowIDColumn: String?
  /// Of a table WITHOUT ROWID: its key, if its rows can be followed by it.
  var key: TableKey?
  /// The columns of the key as expressions of the SELECT that knows this table.
  var keyColumns: [String] = []
  /// Why its rows cannot be told apart, in a sentence.
  let lack: String?
  /// Whether a LEFT JOIN may leave it out.
  var isNullable: Bool
  /// Where it is seen that rows of it changed, if not in itself.
  var storage: SearchStorage?

  /// What tells its rows apart, as expressions of the SELECT that knows this table; none: nothing does.
  var identity: [String] { rowID.map { [$0] } ?? keyColumns }

  /// The names of the same columns.
  var identityNames: [String] { key?.columns ?? [rowIDColumn ?? "rowid"] }
}

/// A column of one of a query's base tables, by the table's number.
struct BaseColumn: Hashable {
  let table: Int
  let name: String

  init(table: Int, name: String) {
    self.table = table
    self.name = name.lowercased()
  }
}
