import GRDB

/// Views, CTEs and subqueries of FROM that make groups, and are joined by all that these are grouped by:
/// each of their columns is the value of a subquery then.
///
///     SELECT name, total FROM team
///     JOIN (SELECT team, sum(points) AS total FROM game GROUP BY team) AS s ON s.team = team.id
///
/// has the records of
///
///     SELECT name, (SELECT sum(points) FROM game WHERE team = team.id GROUP BY team) AS total
///     FROM team WHERE EXISTS (SELECT 1 FROM game WHERE team = team.id)
///
/// of which a changed row of `game` leads to rows of `team`.
struct GroupedSources {
  private let resolver: SourceResolver
  private let facts: SchemaFacts
  /// The names of the result's columns, where they are those behind SELECT.
  private let names: [String]

  init(_ budget: AnalysisBudget, names: [String], in db: Database) throws {
    resolver = SourceResolver(try RowLocality(db), budget, db)
    facts = SchemaFacts(db: db)
    self.names = names
  }

  /// The same without such sources; nil: there is none.
  func leavingOut(of syntax: SelectSyntax) -> SelectSyntax? {
    let areUsed = syntax.sources.contains { source in
      if case .using = source.constraint { return true }
      return source.isNatural || source.isWrittenFirst || source.isFullJoined
    }
    if areUsed || syntax.isDistinct || !syntax.windows.isEmpty { return nil }
    var (rest, index) = (syntax, 0)
    var written: Set<String> = []
    while index < rest.sources.count {
      if rest.sources.count > 1, let next = leavingOut(index, of: rest, &written) {
        rest = next
      } else {
        index += 1
      }
    }
    return rest.sources.count < syntax.sources.count ? rest : nil
  }

  /// - Parameters:
  ///   - index: that of the source which is to be left out.
  ///   - syntax: the SELECT that it is in.
  ///   - written: the subqueries that stand for columns of those which were left out before.
  /// - Returns: nil where it is none of these sources.
  private func leavingOut(
    _ index: Int, of syntax: SelectSyntax, _ written: inout Set<String>
  ) -> SelectSyntax? {
    let source = syntax.sources[index]
    if index == 0, syntax.sources[1].isLeftJoined { return nil }
    guard let group = group(of: source, syntax) else { return nil }
    var conditions = Self.conjuncts(source.condition)
    if !source.isLeftJoined {
      if index == 0 { conditions += Self.conjuncts(syntax.sources[1].condition) }
      conditions += Self.conjuncts(syntax.predicate)
    }
    var equalities: [Int: String] = [:]
    var others: [String] = []
    for condition in conditions {
      if let (term, text) = equality(condition, group, index, syntax), equalities[term] == nil {
        equalities[term] = text
      } else {
        let isPlain = !condition.contains { $0.depth == 0 && $0.isWord("OR") }
        others.append(isPlain ? condition.sourceText : condition.sourceText.parenthesized)
      }
    }
    guard equalities.count == group.terms.count, !source.isLeftJoined || others.isEmpty else {
      return nil
    }
    let around = columns(besides: index, of: syntax)
    let joined = group.joined(
      by: equalities.sorted { $0.key < $1.key }.map(\.value), besides: written, around)
    var rest = syntax
    if !source.isLeftJoined {
      let all = others.compactMap { joined.replaced($0) }
      guard all.count == others.count else { return nil }
      rest.predicate = (all + [joined.existence]).joined(separator: "\nAND ")
      if index == 0 { rest.sources[1].constraint = .none }
    } else if let predicate = syntax.predicate {
      guard let text = joined.replaced(predicate) else { return nil }
      rest.predicate = text
    }
    rest.sources.remove(at: index)
    guard let next = replacing(joined, in: rest)?.withoutUnreadTables else { return nil }
    written.formUnion(joined.subqueries)
    return next
  }

  /// The same where the columns of a source that is gone are subqueries.
  private func replacing(_ joined: JoinedGroup, in syntax: SelectSyntax) -> SelectSyntax? {
    var rest = syntax
    for (index, source) in rest.sources.enumerated() {
      if case .function = source.origin { return nil }
      guard let condition = source.condition else { continue }
      guard let text = joined.replaced(condition) else { return nil }
      rest.sources[index].constraint = .on(text)
    }
    let hasNames = rest.columns.count == names.count
    for (index, column) in rest.columns.enumerated() {
      if case .all = column.kind { return nil }
      if case .allOf(let name) = column.kind {
        if joined.isNamed(name) { return nil }
        continue
      }
      guard let text = joined.replaced(column.expression) else { return nil }
      if text == column.expression { continue }
      let name = column.alias ?? SQLTokens.tokens(of: column.expression).columnName?.name
      guard let name = name ?? (hasNames ? names[index] : nil) else { return nil }
      rest.columns[index] = ResultColumn("\(text) AS \(name.quotedIdentifier)")
    }
    for (index, term) in rest.order.enumerated() {
      // The name of a result column comes first.
      let tokens = SQLTokens.tokens(of: OrderTerm(term).expression)
      if tokens.count == 1, let name = tokens[0].name, names.contains(where: name.isSameIdentifier)
      {
        continue
      }
      guard let text = joined.replaced(term) else { return nil }
      rest.order[index] = text
    }
    let groupBy = rest.groupBy.compactMap { joined.replaced($0) }
    guard groupBy.count == rest.groupBy.count else { return nil }
    rest.groupBy = groupBy
    if let having = rest.having {
      guard let text = joined.replaced(having) else { return nil }
      rest.having = text
    }
    return rest
  }

  // MARK: - Groups

  private func group(of source: SourceSyntax, _ syntax: SelectSyntax) -> GroupOfRows? {
    let sql: String
    var given: [String]?
    var tables = syntax.commonTables
    switch source.origin {
    case .function: return nil
    case .select(let text): sql = text
    case .table(let schema, let name):
      let known = tables.firstIndex { schema == nil && $0.name.isSameIdentifier(as: name) }
      let isMain = schema?.isSameIdentifier(as: "main") != false
      guard
        let table = known.map({ tables.remove(at: $0) }) ?? (isMain ? try? facts.view(name) : nil)
      else { return nil }
      if known == nil { tables = [] }
      (sql, given) = (table.select, table.columns)
    }
    guard let alias = source.name, var inner = try? SelectParser.parse(sql),
      inner.commonTables.isEmpty, inner.windows.isEmpty, inner.limit == nil,
      inner.isDistinct || !inner.groupBy.isEmpty
    else { return nil }
    (inner.commonTables, inner.order) = (tables, [])
    let functions = resolver.locality.functions
    guard let select = try? resolver.resolve(readBy: inner).groupedIfDistinct(functions),
      !syntax.commonTables.contains(where: { table in
        select.tables.contains { $0.name.isSameIdentifier(as: table.name) }
      })
    else { return nil }
    return GroupOfRows(select, alias: alias, names: given, functions, facts)
  }

  /// Which term of a group equals something of another source, and that as it is written there.
  private func equality(
    _ condition: ArraySlice<SQLToken>, _ group: GroupOfRows, _ index: Int, _ syntax: SelectSyntax
  ) -> (term: Int, text: String)? {
    guard let equals = condition.firstIndex(where: { $0.isSymbol("=") && $0.depth == 0 }) else {
      return nil
    }
    var right = condition[(equals + 1)...]
    if right.first?.isSymbol("=") == true { right.removeFirst() }
    let sides = (condition[..<equals].columnName, right.columnName)
    guard let first = sides.0, let second = sides.1 else { return nil }
    for (own, other) in [(first, second), (second, first)] {
      guard let term = group.term(named: own), !group.has(other) else { continue }
      for (number, source) in syntax.sources.enumerated() where number != index {
        guard case .table(_, let table) = source.origin, let alias = source.name,
          !syntax.commonTables.contains(where: { $0.name.isSameIdentifier(as: table) }),
          (try? facts.isTable(table)) == true,
          other.qualifier.map(alias.isSameIdentifier) != false,
          let column = facts.columns(of: table).first(where: other.name.isSameIdentifier),
          !group.isNamed(alias), !group.hasSource(named: alias),
          facts.comparison(of: column.lowercased(), in: table) == group.comparisons[term]
        else { continue }
        let text = "\(alias.quotedIdentifier).\(column.quotedIdentifier)"
        return (term, "\(group.terms[term].parenthesized) = \(text)")
      }
    }
    return nil
  }

  /// The other sources, each alone; nil: that it may have columns of another collation than BINARY cannot be
  /// ruled out.
  private func columns(besides index: Int, of syntax: SelectSyntax) -> OtherColumns {
    var others = OtherColumns(facts: facts)
    for (number, source) in syntax.sources.enumerated() where number != index {
      var alone = SelectSyntax(columns: [], sources: [source])
      alone.commonTables = syntax.commonTables
      alone.sources[0].constraint = .none
      alone.sources[0].isLeftJoined = false
      if let select = try? resolver.resolve(readBy: alone) {
        others.sources.append(select)
      } else if group(of: source, syntax) == nil {
        others.areKnown = false
      }
    }
    return others
  }

  private static func conjuncts(_ condition: String?) -> [ArraySlice<SQLToken>] {
    guard let condition else { return [] }
    let tokens = SQLTokens.tokens(of: condition)[...]
    return tokens.conjuncts.isEmpty ? [tokens] : tokens.conjuncts
  }
}

extension SourceSyntax {
  /// The name by which the query knows it.
  fileprivate var name: String? {
    if let alias { return alias }
    if case .table(_, let name) = origin { return name }
    return nil
  }

  fileprivate var condition: String? {
    if case .on(let condition) = constraint { condition } else { nil }
  }
}
