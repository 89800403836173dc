// Which columns the expressions of a SELECT look at.
extension ResolvedSelect {
  /// The number of a source's first table.
  func firstTable(ofSource index: Int) -> Int {
    sources[..<index].reduce(0) { $0 + $1.tables.count }
  }

  /// The numbers of all tables of a source.
  func tables(ofSource index: Int) -> Range<Int> {
    let first = firstTable(ofSource: index)
    return first..<first + sources[index].tables.count
  }

  /// The tables of some sources, and of what the functions among them are called with.
  func tables(behind sources: Set<Int>) -> Set<Int> {
    sources.reduce(into: []) { tables, index in
      tables.formUnion(self.tables(ofSource: index))
      guard case .function(let arguments) = self.sources[index].body else { return }
      let before = self.sources(in: arguments, allowingAliases: false).filter { $0 < index }
      tables.formUnion(self.tables(behind: before))
    }
  }

  /// The sources that an expression may look at: every one that it does, and perhaps others, where a
  /// word of the expression is only written like a column.
  func sources(in expression: String, allowingAliases: Bool = true) -> Set<Int> {
    sources(in: SQLTokens.tokens(of: expression)[...], allowingAliases: allowingAliases)
  }

  func sources(in tokens: ArraySlice<SQLToken>, allowingAliases: Bool = true) -> Set<Int> {
    var found: Set<Int> = []
    for reference in Self.references(in: tokens) {
      let owners = sources.indices.filter { sources[$0].mayOwn(reference) }
      found.formUnion(owners)
      // An alias is looked for after the columns: https://www.sqlite.org/lang_select.html
      if owners.isEmpty, allowingAliases, reference.qualifier == nil {
        for column in syntax.columns
        where column.possibleAlias?.isSameIdentifier(as: reference.name) == true {
          found.formUnion(sources(in: column.text, allowingAliases: false))
        }
      }
    }
    return found
  }

  /// Everything in these tokens that may be the name of a column.
  static func references(in tokens: ArraySlice<SQLToken>) -> [ColumnName] {
    tokens.indices.compactMap { reference(at: $0, in: tokens) }
  }

  /// What may be the name of a column, and ends with a token.
  static func reference(at index: Int, in tokens: ArraySlice<SQLToken>) -> ColumnName? {
    guard let name = tokens[index].name else { return nil }
    let next = index + 1 < tokens.endIndex ? tokens[index + 1] : nil
    if next?.isSymbol(".") == true { return nil }
    if next?.isSymbol("(") == true { return nil }
    guard index - 1 > tokens.startIndex, tokens[index - 1].isSymbol(".") else {
      return ColumnName(qualifier: nil, name: name)
    }
    return ColumnName(qualifier: tokens[index - 2].name, name: name)
  }

  /// The table's column that an expression shows unchanged; nil: none, or not certainly.
  func origin(of expression: String) -> BaseColumn? {
    guard let name = SQLTokens.tokens(of: expression).columnName else { return nil }
    return origin(of: name)
  }

  /// Whether an expression is a column of a table-valued function, and nothing else.
  func isColumnOfFunction(_ expression: String) -> Bool {
    guard let name = SQLTokens.tokens(of: expression).columnName else { return false }
    let owners = sources.filter { $0.mayOwn(name) }
    return !owners.isEmpty
      && owners.allSatisfy { source in
        guard case .select(let inner, _) = source.body else { return source.isFunction }
        return source.expression(shownBy: name, in: inner).map(inner.isColumnOfFunction) == true
      }
  }

  func origin(of name: ColumnName) -> BaseColumn? {
    let owners = sources.indices.filter { sources[$0].mayOwn(name) }
    // USING joins columns of one name to one, which is that of the first source.
    guard let owner = owners.first, owners.count == 1 || sources.contains(where: \.hasUsing) else {
      return nil
    }
    let source = sources[owner]
    let first = firstTable(ofSource: owner)
    let select: ResolvedSelect
    switch source.body {
    case .table, .search: return BaseColumn(table: first, name: source.tableColumn(name.name))
    case .function: return nil
    case .select(let inner, _): select = inner
    }
    let inner = source.expression(shownBy: name, in: select)
    guard let column = inner.flatMap(select.origin(of:)) else { return nil }
    return BaseColumn(table: first + column.table, name: column.name)
  }
}

extension ResolvedSelect {
  /// What a column of a view, a CTE or a subquery of FROM stands for there; else the expression itself.
  func expression(shownBy expression: String) -> String {
    guard let name = SQLTokens.tokens(of: expression).columnName,
      let source = sources.first(where: { $0.mayOwn(name) }),
      case .select(let inner, _) = source.body,
      let position = source.columns.firstIndex(where: { $0.isSameIdentifier(as: name.name) }),
      let item = inner.expandedColumns?[position]
    else { return expression }
    return inner.expression(shownBy: item.expression)
  }
}

extension ResolvedSource {
  private static let rowIDNames = ["rowid", "_rowid_", "oid"]

  /// Whether a name may be that of a column of this source.
  func mayOwn(_ column: ColumnName) -> Bool {
    if let qualifier = column.qualifier, !isNamed(qualifier) { return false }
    return has(column: column.name) || hides(column: column.name) || isRowID(column.name)
  }

  private func isRowID(_ name: String) -> Bool {
    switch body {
    case .table, .search, .function: Self.rowIDNames.contains { $0.isSameIdentifier(as: name) }
    case .select(let select, _):
      select.hiddenColumns.contains { $0.name == name.quotedIdentifier }
    }
  }

  /// What one of its columns, hidden ones too, stands for in the SELECT that it is.
  fileprivate func expression(shownBy name: ColumnName, in select: ResolvedSelect) -> String? {
    let position = columns.firstIndex { $0.isSameIdentifier(as: name.name) }
    return position.map { select.expandedColumns?[$0].expression }
      ?? select.hiddenColumns.first { $0.name == name.name.quotedIdentifier }?.expression
  }

  /// A table's column by that name; the rowid's names are all the same column.
  fileprivate func tableColumn(_ name: String) -> String {
    has(column: name) || hides(column: name) ? name : tables[0].rowIDColumn ?? name
  }
}
