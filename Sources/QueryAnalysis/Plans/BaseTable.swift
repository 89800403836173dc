/// A table that a query reads: one that FROM names, or that a view, a CTE or a subquery of it names.
///
/// A table that is read twice is there twice.
struct BaseTable: Equatable {
  let name: String
  /// The rowid as an expression of the SELECT that knows this table; nil: it cannot be named.
  var rowID: String?
  /// The column that is the rowid, or the rowid's own name.
  let rowIDColumn: String?
  /// Why there is no rowid, in a sentence.
  let lack: String?
  /// Whether a LEFT JOIN may leave it out.
  var isNullable: Bool
  /// Where it is seen that rows of it changed, if not in itself.
  var storage: SearchStorage?
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
