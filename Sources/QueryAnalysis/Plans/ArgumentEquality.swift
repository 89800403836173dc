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
      guard let (expression, parameter) = Self.equality(term, in: predicate),
        let column = column(expression)
      else { continue }
      self.parameter = parameter
      sql = """
        SELECT \(column.quotedIdentifier) FROM main.\(table.quotedIdentifier) WHERE \(rowID) = ?
        """
      return
    }
    return nil
  }

  /// The sides of `name = :parameter`, in either order.
  private static func equality(
    _ term: ArraySlice<SQLToken>, in predicate: String
  ) -> (expression: String, parameter: String)? {
    guard let comparison = term.comparison, ["=", "=="].contains(comparison.sign) else {
      return nil
    }
    var sides = [comparison.left, comparison.right]
    if sides[0].first?.kind == .parameter { sides.swapAt(0, 1) }
    guard sides[1].count == 1, let parameter = sides[1].first, parameter.kind == .parameter,
      [1, 3].contains(sides[0].count), let first = sides[0].first, let last = sides[0].last,
      first.name != nil, last.name != nil
    else { return nil }
    let expression = predicate[first.text.startIndex..<last.text.endIndex]
    return (String(expression), String(parameter.text.dropFirst()))
  }
}
