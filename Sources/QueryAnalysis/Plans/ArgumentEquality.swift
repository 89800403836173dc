/// A condition `column = :parameter` that every row of a result fulfils.
///
/// With it the arguments whose result a row may be in are found by the row's value, instead of by
/// asking the result of each of them.
package struct ArgumentEquality: Sendable, Equatable {
  /// The name of the parameter, without its sigil.
  package let parameter: String
  /// Reads the value of the row whose rowid is its only parameter.
  package let sql: String

  /// Looks for such a condition among those that AND joins.
  ///
  /// - Parameters:
  ///   - predicate: what stands behind WHERE.
  ///   - table: the table whose rows are looked at.
  ///   - rowID: a name of the table's rowid, as SQL.
  ///   - column: the table's column that an expression is, if its values compare by a collation of
  ///     SQLite's own.
  init?(predicate: String, table: String, rowID: String, column: (String) -> String?) {
    for term in SQLTokens.tokens(of: predicate)[...].conjuncts {
      guard let (expression, parameter) = term.columnOfOneValue, parameter.kind == .parameter,
        !CommonValue.isTaken(by: parameter),
        let column = column(expression.sourceText)
      else { continue }
      self.parameter = String(parameter.text.dropFirst())
      sql = """
        SELECT \(column.quotedIdentifier) FROM main.\(table.quotedIdentifier) WHERE \(rowID) = ?
        """
      return
    }
    return nil
  }
}
