import GRDB

// Windows whose ORDER BY may take rows for equal.
extension ResolvedSelect {
  /// Whether no two rows of a partition are equal for ORDER BY.
  func isTotal(_ window: WindowDefinition, _ determination: RowDetermination) -> Bool {
    let terms = window.partition + window.order.filter { $0.collation == nil }.map(\.expression)
    let known = determination.identified(by: Set(terms.compactMap(origin(of:))))
    return determination.closure(of: known).count == tables.count && functionIDs.isEmpty
  }

  /// The same of the groups that it makes, or that a SELECT in its FROM makes.
  func isTotalForGroups(_ window: WindowDefinition) -> Bool {
    guard let grouped else { return false }
    let terms = window.partition + window.order.filter { $0.collation == nil }.map(\.expression)
    let known = termsOverRows(terms)
    return grouped.groupTerms.allSatisfy { known.contains(GroupTerm($0, in: grouped)) }
  }

  /// These expressions over groups, or their rows, in the words of the SELECT that makes the groups, as far as they
  /// can be said in these.
  func termsOverRows(_ expressions: [String]) -> [GroupTerm] {
    guard let grouped else { return [] }
    return expressions.compactMap(expressionOverRows).map { GroupTerm($0, in: grouped) }
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
    guard windowed.count == 1, let windowed = windowed.last, !windowed.syntax.isDistinct,
      let windows = try? WindowFunctions(windowed.syntax, hidden: [], locality)
    else { return nil }
    let completed: ResolvedSelect
    let names: [String]
    if let grouped = windowed.grouped {
      if grouped.syntax.isDistinct { return nil }
      completed = windowed.adding(
        windowed.hiddenColumns.map(\.expression), to: windows, unless: windowed.isTotalForGroups)
      names = grouped.groupTerms
    } else {
      let determination = RowDetermination(windowed, db)
      guard windowed.functionIDs.isEmpty, let owner = windowed.rowOfAll(determination) else {
        return nil
      }
      completed = windowed.adding(owner.identity, to: windows) {
        windowed.isTotal($0, determination)
      }
      names = owner.identityNames
    }
    return completed.syntax == windowed.syntax ? nil : (over(windowed: completed), names)
  }

  /// A table whose row tells those of all others.
  private func rowOfAll(_ determination: RowDetermination) -> BaseTable? {
    let owner = tables.indices.first { table in
      !tables[table].isNullable && !tables[table].identity.isEmpty
        && determination.closure(of: [table]).count == tables.count
    }
    return owner.map { tables[$0] }
  }

  /// The same with a key at the end of ORDER BY in these windows, unless no two rows are equal for one.
  private func adding(
    _ key: [String], to windows: WindowFunctions, unless isTotal: (WindowDefinition) -> Bool
  ) -> ResolvedSelect {
    func complete(_ expression: String) -> String {
      windows.adding(key, toOrderIn: expression) { function in
        !function.hasOneValue && function.mayTellEqualRowsApart && !isTotal(function.window)
      }
    }
    var completed = self
    completed.syntax.columns = syntax.columns.map { column in
      let text = complete(column.text)
      if text == column.text || column.alias != nil { return ResultColumn(text) }
      // Without an alias its text is its name; a word at its end may be one.
      guard SQLTokens.tokens(of: text).last?.isSymbol(")") == true else { return column }
      return ResultColumn("\(text) AS \(column.expression.quotedIdentifier)")
    }
    completed.syntax.order = syntax.order.map { complete($0) }
    return completed
  }

  /// The same with another SELECT in the place of the one that has window functions.
  private func over(windowed other: ResolvedSelect) -> ResolvedSelect {
    guard !hasWindows, case .select(let inner, let names) = sources[0].body else { return other }
    var source = sources[0]
    source.body = .select(inner.over(windowed: other), names: names)
    return ResolvedSelect(syntax: syntax, sources: [source])
  }
}
