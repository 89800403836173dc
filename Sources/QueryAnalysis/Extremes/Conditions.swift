import GRDB

extension SelectSyntax {
  /// The conditions of WHERE that AND joins.
  var conditions: [ArraySlice<SQLToken>] { predicate?.conditions ?? [] }

  /// The same without one of these.
  func leavingOutCondition(_ place: Int) -> SelectSyntax {
    var copy = self
    var rest = conditions
    rest.remove(at: place)
    copy.predicate = rest.isEmpty ? nil : rest.joinedByAnd
    return copy
  }

  /// The same without a source and without WHERE, and what rows fulfil of WHERE and of the ON that the source was joined
  /// by.
  func leavingOutSource(
    _ index: Int
  ) -> (rest: SelectSyntax, conditions: [ArraySlice<SQLToken>]) {
    var copy = self
    var conditions = conditions
    for number in index == 0 ? [0, 1] : [index] {
      guard case .on(let condition) = sources[number].constraint else { continue }
      conditions += condition.conditions
      copy.sources[number].constraint = .none
    }
    copy.sources.remove(at: index)
    copy.predicate = nil
    return (copy, conditions)
  }

  /// The same without a source, and what rows of that fulfil to be joined.
  ///
  /// - Parameters:
  ///   - source: is joined by conditions, as all are (``joinsByConditions``).
  ///   - index: its number.
  /// - Returns: nil where what is left looks at its rows, besides what is shown of them.
  func leavingOut(
    joined source: ResolvedSource, at index: Int
  ) -> (rest: SelectSyntax, conditions: [ArraySlice<SQLToken>])? {
    let looks = { (condition: ArraySlice<SQLToken>) in
      ResolvedSelect.references(in: condition).contains(where: source.mayOwn)
    }
    var rest = self
    var conditions: [ArraySlice<SQLToken>] = []
    if source.isLeftJoined {
      conditions = sources[index].condition?.conditions ?? []
    } else {
      if index == 0, sources[1].isLeftJoined { return nil }
      var all = self.conditions
      for number in sources.indices where !sources[number].isLeftJoined {
        all += sources[number].condition?.conditions ?? []
        rest.sources[number].constraint = .none
      }
      conditions = all.filter(looks)
      let others = all.filter { !looks($0) }
      rest.predicate = others.isEmpty ? nil : others.joinedByAnd
    }
    rest.sources.remove(at: index)
    let others = rest.conditions + rest.sources.flatMap { $0.condition?.conditions ?? [] }
    return others.contains(where: looks) ? nil : (rest, conditions)
  }
}

extension String {
  /// The conditions that AND joins, or this as one.
  var conditions: [ArraySlice<SQLToken>] {
    let tokens = SQLTokens.tokens(of: self)[...]
    return tokens.conjuncts.isEmpty ? [tokens] : tokens.conjuncts
  }

  /// `max` or `min`, and what it is called with, where this is nothing else and aggregates rows.
  var extremeOfRows: (function: String, argument: String)? {
    let tokens = SQLTokens.tokens(of: self)[...].withoutParentheses
    guard let name = tokens.first, name.isWord("max") || name.isWord("min") else { return nil }
    let arguments = tokens.dropFirst()
    let argument = arguments.withoutParentheses
    guard argument.count < arguments.count, !argument.contains(where: { $0.isSymbol(",") }),
      argument.first?.isWord("DISTINCT") == false
    else { return nil }
    return (String(name.text), argument.sourceText)
  }
}

extension [ArraySlice<SQLToken>] {
  /// All of these conditions.
  var joinedByAnd: String {
    map { condition in
      let hasOr = condition.contains { $0.depth == condition.first?.depth && $0.isWord("OR") }
      return hasOr ? condition.sourceText.parenthesized : condition.sourceText
    }.joined(separator: "\nAND ")
  }
}

extension ArraySlice<SQLToken> {
  /// What stands on both sides of `=`, outside of parentheses.
  var equalSides: (left: SubSequence, right: SubSequence)? {
    guard let (left, right) = sides(where: { $0.isSymbol("=") }) else { return nil }
    return (left, right.first?.isSymbol("=") == true ? right.dropFirst() : right)
  }

  /// What stands on both sides of a sign outside of parentheses.
  func sides(
    where isSign: (SQLToken) -> Bool
  ) -> (left: SubSequence, right: SubSequence)? {
    let tokens = withoutParentheses
    let depth = tokens.first?.depth
    guard let place = tokens.firstIndex(where: { $0.depth == depth && isSign($0) }) else {
      return nil
    }
    return (tokens[..<place], tokens[(place + 1)...])
  }

  /// The columns of which this says that they are equal, in both orders.
  var equalColumns: [(ColumnName, ColumnName)] {
    guard let (left, right) = equalSides, let first = left.columnName,
      let second = right.columnName
    else { return [] }
    return [(first, second), (second, first)]
  }
}

extension ColumnName {
  var written: String {
    [qualifier, name].compactMap { $0?.quotedIdentifier }.joined(separator: ".")
  }
}

extension SQLToken {
  /// Whether this is a word that stands between operands, or for a value: no column is meant by it.
  var isOperator: Bool {
    [
      "AND", "OR", "NOT", "NULL", "IS", "IN", "BETWEEN", "LIKE", "GLOB", "ESCAPE", "CASE", "WHEN",
      "THEN", "ELSE", "END", "COLLATE", "ISNULL", "NOTNULL", "TRUE", "FALSE", "DISTINCT", "FROM",
    ].contains(where: isWord)
  }
}

extension SourceResolver {
  /// A table whose rows a SELECT makes something of, and nothing else.
  ///
  /// - Parameters:
  ///   - inner: the SELECT.
  ///   - others: names that mean something else there, and not tables.
  /// - Returns: the table, and the SELECT as it is known; nil: it reads something else.
  func rows(
    of inner: SelectSyntax, except others: [String]
  ) -> (table: String, select: ResolvedSelect)? {
    guard inner.sources.count == 1, inner.commonTables.isEmpty, inner.windows.isEmpty,
      inner.having == nil, !inner.isDistinct,
      inner.columns.allSatisfy({ $0.kind == .expression }) || inner.groupBy.isEmpty,
      case .table(_, let table) = inner.sources[0].origin,
      !others.contains(where: table.isSameIdentifier), (try? facts.isTable(table)) == true,
      let select = try? resolve(readBy: inner), select.tables.count == 1
    else { return nil }
    return (table, select)
  }
}

extension SelectSyntax {
  /// What it shows, and by what it is ordered.
  var shownOrOrderedBy: [String] {
    columns.map(\.expression) + order.map { OrderTerm($0).expression }
  }

  /// Whether rows are joined by nothing but conditions.
  var joinsByConditions: Bool {
    sources.allSatisfy { source in
      if case .using = source.constraint { return false }
      return !source.isNatural && !source.isWrittenFirst && !source.isFullJoined
    }
  }
}

extension SchemaFacts {
  /// Whether equal values of a table's column look the same, and are compared under BINARY.
  func isExact(_ column: String, of table: BaseTable) -> Bool {
    if table.rowIDColumn?.isSameIdentifier(as: column) == true { return true }
    let comparison = comparison(of: column.lowercased(), in: table.name)
    return comparison.map { $0.collation == "BINARY" && $0.affinity != .blob } == true
  }

  /// Whether a table may have NULL in a column.
  func isNullable(_ column: String, of table: BaseTable) -> Bool {
    table.rowIDColumn?.isSameIdentifier(as: column) != true
      && !isNotNull(column.lowercased(), of: table.name)
  }

  /// Whether a column is all of a table's primary key, and no two of its rows have values there that it takes for equal.
  func isKey(_ column: String, of table: String) -> Bool {
    let key = (try? primaryKey(of: table).columns) ?? []
    return key.count == 1 && key[0].isSameIdentifier(as: column)
      && primaryKeyComparesAsColumns(of: table)
  }

  /// Whether each row of a table has a value of its own in a column.
  func tellsRowsApart(_ column: String, of table: BaseTable) -> Bool {
    isKey(column, of: table.name) && !isNullable(column, of: table)
  }

  /// Whether values that the columns of a table's primary key take for equal are equal in it: its index may have another
  /// collation.
  func primaryKeyComparesAsColumns(of table: String) -> Bool {
    let sql = """
      SELECT key.name, key.coll FROM pragma_index_list(?) AS list
      JOIN pragma_index_xinfo(list.name) AS key ON key.key WHERE list.origin = 'pk'
      """
    guard let keys = try? Row.fetchAll(db, sql: sql, arguments: [table]) else { return false }
    return keys.allSatisfy { key in
      let own = comparison(of: (key[0] as String? ?? "").lowercased(), in: table)
      return own?.collation.uppercased() == (key[1] as String?)?.uppercased()
    }
  }
}
