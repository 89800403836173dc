/// A SELECT of FROM that makes groups, each of whose columns is a function of the rows of one group.
struct GroupOfRows {
  private let select: ResolvedSelect
  private let alias: String
  /// The columns, and what they show.
  private let columns: [(name: String, expression: String)]
  /// What it is grouped by: columns of tables.
  let terms: [String]
  /// How the values of each term compare.
  let comparisons: [SchemaFacts.Comparison]

  /// - Returns: nil where its columns show more than one group, or are compared otherwise than the values of
  ///   subqueries.
  init?(
    _ select: ResolvedSelect, alias: String, names: [String]?, _ functions: FunctionList,
    _ facts: SchemaFacts
  ) {
    let areTables = select.sources.allSatisfy { source in
      if case .table = source.body { !source.hasUsing } else { false }
    }
    guard select.isGrouped, areTables, let items = select.expandedColumns else { return nil }
    let shown = items.map { $0.alias ?? SQLTokens.tokens(of: $0.expression).columnName?.name }
    guard let names = names ?? (shown as? [String]), names.count == items.count else { return nil }
    let groups = select.groupTerms.map { GroupTerm($0, in: select) }
    let conditions = [select.syntax.predicate, select.syntax.having].compactMap(\.self)
    let texts = items.map(\.expression) + conditions + select.sources.compactMap(\.condition)
    let isBinary = (texts + groups.map(\.expression)).allSatisfy {
      Self.isBinary($0, select, facts)
    }
    let aliases = select.syntax.columns.compactMap(\.possibleAlias)
    guard isBinary, !groups.isEmpty,
      texts.allSatisfy({ text in
        let tokens = SQLTokens.tokens(of: text)
        return Subquery.all(in: text).isEmpty && !tokens.contains { $0.isWord("COLLATE") }
          // Text in double quotation marks would be a column around the subquery, if there is one.
          && !tokens.contains { $0.text.first == "\"" && !Self.isKnown($0, in: select) }
      }),
      // In a condition, a name may be that of a column, which is not there where it is written again.
      conditions.allSatisfy({ text in
        ResolvedSelect.references(in: SQLTokens.tokens(of: text)[...]).allSatisfy { name in
          name.qualifier != nil || !aliases.contains(where: name.name.isSameIdentifier)
            || select.sources.contains { $0.mayOwn(name) }
        }
      }),
      (items.map(\.expression) + [select.syntax.having].compactMap(\.self)).allSatisfy({ text in
        let rest = groups.reduce(functions.withoutAggregates(text)) { $1.removed(from: $0) }
        return ResolvedSelect.references(in: rest).allSatisfy { name in
          let origin = select.origin(of: name)
          return groups.contains { $0.origin != nil && $0.origin == origin }
            || !select.sources.contains { $0.mayOwn(name) }
        }
      })
    else { return nil }
    let comparisons = groups.compactMap { group in
      group.origin.flatMap { facts.comparison(of: $0.name, in: select.tables[$0.table].name) }
    }
    guard comparisons.count == groups.count else { return nil }
    self.select = select
    self.alias = alias
    self.comparisons = comparisons
    columns = zip(names, items).map { ($0, $1.expression) }
    terms = groups.map(\.expression)
  }

  /// Whether all columns of an expression compare under BINARY.
  private static func isBinary(
    _ expression: String, _ select: ResolvedSelect, _ facts: SchemaFacts
  ) -> Bool {
    ResolvedSelect.references(in: SQLTokens.tokens(of: expression)[...]).allSatisfy { name in
      guard let origin = select.origin(of: name) else {
        return !select.sources.contains { $0.mayOwn(name) }
      }
      let collation = facts.collations(of: select.tables[origin.table].name)[origin.name]
      // A rowid is a number.
      return collation == nil || collation == "BINARY"
    }
  }

  private static func isKnown(_ token: SQLToken, in select: ResolvedSelect) -> Bool {
    let name = token.name ?? ""
    return select.sources.contains {
      $0.isNamed(name) || $0.mayOwn(ColumnName(qualifier: nil, name: name))
    }
  }

  func isNamed(_ name: String) -> Bool { alias.isSameIdentifier(as: name) }

  /// Whether a name is that of one of its columns.
  func has(_ name: ColumnName) -> Bool { expression(of: name) != nil }

  func hasSource(named name: String) -> Bool { select.sources.contains { $0.isNamed(name) } }

  /// Which term a column shows.
  func term(named name: ColumnName) -> Int? {
    guard let origin = expression(of: name).flatMap(select.origin(of:)) else { return nil }
    return terms.firstIndex { select.origin(of: $0) == origin }
  }

  /// The table, and its column, of whose values in the group a column shows the greatest or the least; nil: it shows
  /// something else.
  func extreme(named name: ColumnName) -> (table: String, column: String)? {
    guard select.tables.count == 1, let column = expression(of: name)?.extremeOfRows?.argument,
      let origin = select.origin(of: column)
    else { return nil }
    return (select.tables[0].name, origin.name)
  }

  /// A condition that a term has the value that a row of the group's table has, which may be NULL.
  func isSame(_ term: Int, asOf row: String) -> String? {
    select.origin(of: terms[term]).map {
      "\(terms[term].parenthesized) IS \(row.quotedIdentifier).\($0.name.quotedIdentifier)"
    }
  }

  fileprivate func expression(of name: ColumnName) -> String? {
    guard name.qualifier.map(isNamed) != false else { return nil }
    return columns.first { $0.name.isSameIdentifier(as: name.name) }?.expression
  }

  /// - Parameters:
  ///   - equalities: one for each term.
  ///   - others: subqueries that look at none of its columns.
  ///   - columns: what the group is joined with.
  /// - Returns: the group that is joined by these.
  func joined(
    by equalities: [String], besides others: Set<String>, _ columns: OtherColumns
  ) -> JoinedGroup {
    JoinedGroup(
      group: self, select: select.restricted(to: equalities.joined(separator: " AND ")),
      others: others, around: columns)
  }

  fileprivate var expressions: [String] { columns.map(\.expression) }

  /// Whether a subquery may look at one of its columns.
  fileprivate func isMentioned(in tokens: ArraySlice<SQLToken>) -> Bool {
    tokens.contains { token in
      guard let name = token.name else { return false }
      return isNamed(name) || columns.contains { $0.name.isSameIdentifier(as: name) }
    }
  }
}

/// What stands in FROM beside a group.
struct OtherColumns {
  let facts: SchemaFacts
  /// One by one; groups, which have no other collation than BINARY, are not among them.
  var sources: [ResolvedSelect] = []
  var areKnown = true

  /// Whether a column compares under BINARY, as those of groups do. The value of a subquery has no
  /// collation: it would be compared under the other's.
  fileprivate func isBinary(_ name: ColumnName) -> Bool {
    areKnown
      && sources.filter { $0.sources[0].mayOwn(name) }.allSatisfy { select in
        guard let origin = select.origin(of: name) else { return false }
        let collation = facts.collations(of: select.tables[origin.table].name)[origin.name]
        return collation == nil || collation == "BINARY"
      }
  }
}

/// The group that is joined to a row.
struct JoinedGroup {
  fileprivate let group: GroupOfRows
  /// The same of the rows of that group only.
  fileprivate let select: ResolvedSelect
  fileprivate let others: Set<String>
  fileprivate let around: OtherColumns

  func isNamed(_ name: String) -> Bool { group.isNamed(name) }

  /// Whether there is one.
  var existence: String { "EXISTS (\(existing))" }

  private var existing: String {
    let having = select.syntax.having
    return sql("1", groupBy: having == nil ? [] : group.terms, having)
  }

  /// All that it writes.
  var subqueries: [String] { group.expressions.map(value) + [existing] }

  private func value(of expression: String) -> String {
    // Of no rows it is NULL, as that of no group. SQLite reads one entry of an index for it.
    let isExtreme = expression.extremeOfRows != nil && select.syntax.having == nil
    if isExtreme { return sql(expression, groupBy: [], nil) }
    return sql(expression, groupBy: group.terms, select.syntax.having) + "\nORDER BY 1"
  }

  /// An expression with subqueries in the place of the group's columns; nil: it has others that may look at
  /// these.
  func replaced(_ expression: String) -> String? {
    let subqueries = Subquery.all(in: expression)
    let mayLook = subqueries.contains {
      !others.contains($0.body.sourceText) && group.isMentioned(in: $0.body)
    }
    if mayLook { return nil }
    let tokens = SQLTokens.tokens(of: expression)[...]
    if tokens.contains(where: { $0.isWord("OVER") }) { return nil }
    let isMore = tokens.withoutParentheses.columnName == nil
    var names: [ColumnName] = []
    let text = expression.replacingNames { name, _ in
      guard let shown = group.expression(of: name) else {
        names.append(name)
        return nil
      }
      return value(of: shown)
    }
    guard !isMore || text == expression || names.allSatisfy(around.isBinary) else { return nil }
    return text
  }

  private func sql(_ column: String, groupBy: [String], _ having: String?) -> String {
    DeclaredParts.select(
      [column], from: select.from(),
      conditions: [select.syntax.predicate].compactMap(\.self), groupBy: groupBy,
      having: having)
  }
}
