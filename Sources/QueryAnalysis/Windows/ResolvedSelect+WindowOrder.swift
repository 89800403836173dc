import GRDB

// Windows whose ORDER BY may take rows for equal.
extension ResolvedSelect {
  /// Whether no two rows of a partition are equal for ORDER BY.
  func isTotal(_ window: WindowDefinition, _ determination: RowDetermination) -> Bool {
    let terms = window.partition + window.order.filter { $0.collation == nil }.map(\.expression)
    let known = determination.identified(by: Set(terms.compactMap(origin(of:))))
    return determination.closure(of: known).count == tables.count && functionIDs.isEmpty
  }

  /// The same with a key at the end of ORDER BY in windows whose functions would show in which order SQLite
  /// happens to find equal rows: `row_number() OVER (ORDER BY at DESC, id DESC)` for `… (ORDER BY at DESC)`.
  ///
  /// Each of its results is one that SQL allows of what was written. The key goes the way of the term before it,
  /// as the entries of an index do.
  ///
  /// - Parameters:
  ///   - locality: knows the functions.
  ///   - db: knows the keys of the tables.
  /// - Returns: the SELECT, and the names of the key's columns; nil: it would be the same.
  func completingWindows(
    _ locality: RowLocality, _ db: Database
  ) -> (select: ResolvedSelect, key: [String])? {
    guard let rows = partitioned, !rows.isGrouped, !rows.syntax.isDistinct,
      rows.functionIDs.isEmpty,
      let windows = try? WindowFunctions(rows.syntax, hidden: [], locality)
    else { return nil }
    let determination = RowDetermination(rows, db)
    let owner = rows.tables.indices.first { table in
      !rows.tables[table].isNullable && !rows.tables[table].identity.isEmpty
        && determination.closure(of: [table]).count == rows.tables.count
    }
    guard let table = owner.map({ rows.tables[$0] }) else { return nil }
    let complete = { (expression: String) in
      windows.adding(table.identity, toOrderIn: expression) { function in
        !function.hasOneValue && function.mayTellEqualRowsApart
          && !rows.isTotal(function.window, determination)
      }
    }
    var completed = rows
    completed.syntax.columns = rows.syntax.columns.map { column in
      let text = complete(column.text)
      if text == column.text || column.alias != nil { return ResultColumn(text) }
      // Without an alias its text is its name; a word at its end may be one.
      guard SQLTokens.tokens(of: text).last?.isSymbol(")") == true else { return column }
      return ResultColumn("\(text) AS \(column.expression.quotedIdentifier)")
    }
    completed.syntax.order = rows.syntax.order.map(complete)
    return completed.syntax == rows.syntax ? nil : (over(completed), table.identityNames)
  }
}
