import Algorithms
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
///
/// A list of groups in WHERE is such a source, of which no column is shown (``GroupedList``).
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
    guard syntax.joinsByConditions else { return nil }
    var written: Set<String> = []
    var rest = leavingOutLists(of: syntax, &written)
    if rest.isDistinct || !rest.windows.isEmpty { return rest == syntax ? nil : rest }
    var index = 0
    while index < rest.sources.count {
      if rest.sources.count > 1, let next = leavingOut(index, of: rest, &written) {
        rest = next
      } else {
        index += 1
      }
    }
    return rest == syntax ? nil : rest
  }

  private func leavingOutLists(
    of syntax: SelectSyntax, _ written: inout Set<String>
  ) -> SelectSyntax {
    var rest = syntax
    var seen: Set<String> = []
    while let list = GroupedList.all(in: rest).first(where: { seen.insert($0.text).inserted }) {
      let joined = list.joined(to: rest)
      if let next = leavingOut(joined.sources.count - 1, of: joined, &written) { rest = next }
    }
    return rest
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
    var conditions = source.condition?.conditions ?? []
    if !source.isLeftJoined {
      if index == 0 { conditions += syntax.sources[1].condition?.conditions ?? [] }
      conditions += syntax.conditions
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
    if equalities.count < group.terms.count,
      let row = conditions.firstNonNil({ rowWithin(group, $0, index, syntax) })
    {
      for term in group.terms.indices where equalities[term] == nil {
        equalities[term] = group.isSame(term, asOf: row)
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
      if case .all = column.kind {
        if !joined.isNamed(GroupedList.name) { return nil }
        continue
      }
      if case .allOf(let name) = column.kind {
        if joined.isNamed(name) { return nil }
        continue
      }
      guard let text = joined.replaced(column.expression) else { return nil }
      if text == column.expression { continue }
      let name = column.name
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
    guard let alias = source.name, let (groups, names) = groups(shownBy: source, syntax),
      let inner = groups.renamingSources(named: syntax.sources.compactMap(\.name))
    else { return nil }
    let functions = resolver.locality.functions
    guard let select = try? resolver.resolve(readBy: inner).groupedIfDistinct(functions),
      !syntax.commonTables.contains(where: { table in
        select.tables.contains { $0.name.isSameIdentifier(as: table.name) }
      })
    else { return nil }
    return GroupOfRows(select, alias: alias, names: names, functions, facts)
  }

  /// The SELECT that makes the groups which a source shows, and the names of its columns where they are not its own.
  private func groups(
    shownBy source: SourceSyntax, _ syntax: SelectSyntax
  ) -> (select: SelectSyntax, names: [String]?)? {
    guard let definition = syntax.definition(of: source, facts),
      var inner = try? SelectParser.parse(definition.sql),
      inner.commonTables.isEmpty, inner.windows.isEmpty, inner.limit == nil
    else { return nil }
    inner.order = []
    inner.commonTables = definition.tables
    if inner.isDistinct || !inner.groupBy.isEmpty { return (inner, definition.names) }
    guard inner.sources.count == 1, let (groups, names) = groups(shownBy: inner.sources[0], inner),
      let flattened = inner.flattened(over: groups, names: names, resolver.locality.functions)
    else { return nil }
    return (flattened, definition.names)
  }

  /// Which term of a group equals something of another source, and that as it is written there.
  private func equality(
    _ condition: ArraySlice<SQLToken>, _ group: GroupOfRows, _ index: Int, _ syntax: SelectSyntax
  ) -> (term: Int, text: String)? {
    for (own, other) in condition.equalColumns {
      guard let term = group.term(named: own),
        let (alias, column, _) = columns(named: other, besides: group, index, syntax).first(where: {
          facts.comparison(of: $0.column.lowercased(), in: $0.table) == group.comparisons[term]
        })
      else { continue }
      let text = "\(alias.quotedIdentifier).\(column.quotedIdentifier)"
      return (term, "\(group.terms[term].parenthesized) = \(text)")
    }
    return nil
  }

  /// The source whose row is one of those of the group that it is joined with: its key is the greatest, or the least,
  /// of the group's.
  private func rowWithin(
    _ group: GroupOfRows, _ condition: ArraySlice<SQLToken>, _ index: Int, _ syntax: SelectSyntax
  ) -> String? {
    for (own, other) in condition.equalColumns {
      guard let (table, column) = group.extreme(named: own),
        let key = try? facts.primaryKey(of: table).columns, key.count == 1,
        key[0].isSameIdentifier(as: column),
        let row = columns(named: other, besides: group, index, syntax).first(where: {
          $0.table.isSameIdentifier(as: table) && $0.column.isSameIdentifier(as: column)
        })
      else { continue }
      return row.alias
    }
    return nil
  }

  /// The columns of tables in FROM, besides a group, that a name may mean.
  private func columns(
    named name: ColumnName, besides group: GroupOfRows, _ index: Int, _ syntax: SelectSyntax
  ) -> [(alias: String, column: String, table: String)] {
    if group.has(name) { return [] }
    return syntax.sources.enumerated().compactMap { number, source in
      guard number != index, case .table(_, let table) = source.origin, let alias = source.name,
        !syntax.commonTables.contains(where: { $0.name.isSameIdentifier(as: table) }),
        (try? facts.isTable(table)) == true,
        name.qualifier.map(alias.isSameIdentifier) != false,
        let column = facts.columns(of: table).first(where: name.name.isSameIdentifier),
        !group.isNamed(alias), !group.hasSource(named: alias)
      else { return nil }
      return (alias, column, table)
    }
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
}

extension SourceSyntax {
  var condition: String? {
    if case .on(let condition) = constraint { condition } else { nil }
  }
}
