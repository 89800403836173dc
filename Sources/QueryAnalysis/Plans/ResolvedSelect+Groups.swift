// SELECTs that make groups of rows, or look at partitions of them, and those that show what such a view,
// CTE or subquery makes.
extension ResolvedSelect {
  var isGrouped: Bool { !syntax.groupBy.isEmpty }

  /// The SELECT that makes the groups of which each row of this one is made: itself, or what is all of
  /// its FROM; nil: there are none.
  var grouped: ResolvedSelect? {
    if isGrouped { return self }
    guard sources.count == 1, case .select(let inner, _) = sources[0].body else { return nil }
    return inner.grouped
  }

  /// Whether its rows have values of window functions.
  var hasWindows: Bool {
    syntax.columns.contains { SQLTokens.tokens(of: $0.text)[...].callsWindowFunction }
  }

  /// The SELECT in whose partitions each row of this one is: itself, or what is all of its FROM; nil: there
  /// are none.
  var partitioned: ResolvedSelect? {
    if hasWindows { return self }
    guard !isGrouped, sources.count == 1, case .select(let inner, _) = sources[0].body else {
      return nil
    }
    return inner.partitioned
  }

  /// This SELECT and those between it and the one whose groups or partitions it shows, that one too, as far as they
  /// have window functions.
  var windowed: [ResolvedSelect] {
    let own = hasWindows ? [self] : []
    guard isOverParts, case .select(let inner, _) = sources[0].body else { return own }
    return own + inner.windowed
  }

  /// Whether a SELECT in its FROM looks at partitions.
  var hasPartitionsWithin: Bool {
    sources.contains { source in
      if case .select(let inner, _) = source.body { inner.partitioned != nil } else { false }
    }
  }

  /// Whether it shows the groups, or the rows of partitions, that a SELECT in its FROM makes. Windows of its
  /// own look at all groups, and make no partitions of them.
  var isOverParts: Bool {
    !isGrouped && (grouped != nil || !hasWindows && partitioned != nil)
  }

  /// The same SELECT over other groups or partitions than it is over: some of them, perhaps.
  func over(_ groups: ResolvedSelect) -> ResolvedSelect {
    guard isOverParts, case .select(let inner, let names) = sources[0].body else { return groups }
    var source = sources[0]
    source.body = .select(inner.over(groups), names: names)
    return ResolvedSelect(syntax: syntax, sources: [source])
  }

  /// The names of the SELECTs between this one and the one whose groups or partitions it shows, that one too.
  var namesOfParts: [String] {
    guard isOverParts, case .select(let inner, _) = sources[0].body else { return [] }
    return [sources[0].name] + inner.namesOfParts
  }

  /// Whether it, or a SELECT between it and the one whose groups or partitions it shows, has a condition.
  var filtersParts: Bool {
    guard isOverParts, case .select(let inner, _) = sources[0].body else { return false }
    return syntax.predicate != nil || inner.filtersParts
  }

  /// The same of those rows only that fulfil a condition besides its own.
  func restricted(to condition: String?) -> ResolvedSelect {
    var copy = self
    let conditions = [syntax.predicate?.parenthesized, condition].compactMap(\.self)
    copy.syntax.predicate = conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
    return copy
  }

  /// The terms of GROUP BY, as expressions over FROM.
  ///
  /// It takes an integer for a result column's number, and a name for a table's column first.
  /// https://www.sqlite.org/lang_select.html#resultset
  var groupTerms: [String] { syntax.groupBy.map(groupTerm) }

  private func groupTerm(_ text: String) -> String {
    let items = expandedColumns ?? []
    if let ordinal = Int(text), items.indices.contains(ordinal - 1) {
      return items[ordinal - 1].expression
    }
    let tokens = SQLTokens.tokens(of: text)
    guard tokens.count == 1, let name = tokens[0].name,
      sources(in: text, allowingAliases: false).isEmpty,
      let item = items.first(where: { $0.alias?.isSameIdentifier(as: name) == true })
    else { return text }
    return item.expression
  }

  /// What it shows as a subquery behind its own columns, so that its rows can be led back to owners:
  /// the rowids or keys of its tables, or what its groups are grouped by.
  var hiddenColumns: [(expression: String, name: String)] {
    if isGrouped { return groupTerms.enumerated().map { ($1, Self.groupName($0)) } }
    if let grouped, let source = sources.first {
      return grouped.syntax.groupBy.indices.map { index in
        ("\(source.name.quotedIdentifier).\(Self.groupName(index))", Self.groupName(index))
      }
    }
    let rows = tables.enumerated().flatMap { index, table in
      table.rowID.map { [($0, Self.rowIDName(index))] }
        ?? table.keyColumns.enumerated().map { ($1, Self.keyName(index, $0)) }
    }
    return rows + functionIDs.enumerated().map { ($1, Self.functionIDName($0)) }
  }

  static func groupName(_ index: Int) -> String { "\"didchange group \(index)\"" }

  /// What stands behind a column of a SELECT over groups or partitions, where these are made.
  ///
  /// - Parameter expression: of this SELECT.
  /// - Returns: nil where a SELECT over them computes it: its names may mean something else where they are made.
  func expressionOverRows(_ expression: String) -> String? {
    guard isOverParts else { return expression }
    return columnOfParts(expression).flatMap { $0.inner.expressionOverRows($0.expression) }
  }

  /// What a column is in the SELECT over groups or partitions that is all of FROM; nil: it is no such column.
  private func columnOfParts(_ expression: String) -> (inner: ResolvedSelect, expression: String)? {
    guard isOverParts, case .select(let inner, _) = sources[0].body,
      let name = SQLTokens.tokens(of: expression).columnName, sources[0].mayOwn(name)
    else { return nil }
    if let column = sources[0].columns.firstIndex(where: name.name.isSameIdentifier) {
      return inner.expandedColumns.map { (inner, $0[column].expression) }
    }
    return inner.hiddenColumns.first { $0.name == name.name.quotedIdentifier }
      .map { (inner, $0.expression) }
  }
}
