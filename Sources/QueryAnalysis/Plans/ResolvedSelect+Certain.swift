// The conditions by which changed rows are led to owners.
//
// A pair of a row and the owner that it leads to must not come about without a change of a row that it
// is led by: nothing would enter it. A condition that holds for what a LEFT JOIN leaves out, or looks at
// a subquery, comes to hold like that. Such a one is left out, which leads to more owners and not to
// less: SQL says the truth about each.
extension ResolvedSelect {
  /// The same with certain conditions only, down to those of its views, and without the columns that
  /// show a subquery: no certain condition looks at these.
  var certain: ResolvedSelect {
    var names = NameScopes()
    names.enter(self, named: sources.map(\.name))
    var copy = self
    copy.syntax.predicate = syntax.predicate.flatMap(names.certainCondition)
    copy.syntax.columns = syntax.columns.map { column in
      guard !Subquery.all(in: column.text).isEmpty else { return column }
      return ResultColumn("NULL AS \((column.alias ?? column.expression).quotedIdentifier)")
    }
    copy.sources = sources.enumerated().map { $1.certain(names.requiring(source: $0)) }
    return copy
  }

  /// The same without table-valued functions that neither its conditions nor these expressions look at,
  /// which are not called then. That leads to more rows, and not to less.
  func withoutFunctions(unseenBy expressions: [String]) -> ResolvedSelect {
    var rest = self
    for index in sources.indices.reversed() where sources[index].isFunction {
      let next = index + 1 < rest.sources.count ? rest.sources[index + 1] : nil
      if index == 0, next?.isLeftJoined != false || next?.condition != nil { continue }
      let others = rest.sources.indices.filter { $0 != index }.map { rest.sources[$0] }
      let all =
        others.flatMap { [$0.arguments, $0.condition] } + [rest.syntax.predicate]
        + expressions.map(Optional.some)
      let isSeen = all.contains { text in
        text.map { rest.sources(in: $0, allowingAliases: false).contains(index) } == true
      }
      if !isSeen { rest.sources.remove(at: index) }
    }
    return rest
  }

  /// Whether a name, where it is that of a column here, stands for a value of rows that are there.
  ///
  /// Where nothing counts that is NULL, it may be a column of what a LEFT JOIN leaves out; but not an
  /// expression over one, which need not be NULL itself.
  func isCertain(_ name: ColumnName, rejectingNull: Bool) -> Bool {
    let origin = origin(of: name)
    return sources.filter { $0.mayOwn(name) }.allSatisfy { source in
      if source.showsSubquery(name) || source.showsSearch(name) { return false }
      if let origin, !tables[origin.table].isNullable { return true }
      return !source.isNullable || rejectingNull && (origin != nil || source.isFunction)
    }
  }

  /// Whether an expression looks at a subquery, or at a column that does.
  func showsSubquery(_ expression: String) -> Bool {
    let tokens = SQLTokens.tokens(of: expression)[...]
    return !Subquery.all(in: expression).isEmpty
      || ResolvedSelect.references(in: tokens).contains { name in
        sources.contains { $0.mayOwn(name) && $0.showsSubquery(name) }
      }
  }

  /// Whether an expression depends on what is searched for, or looks at a column that does: where a
  /// search is left out, `highlight` shows another text.
  func showsSearch(_ expression: String) -> Bool {
    let tokens = SQLTokens.tokens(of: expression)[...]
    return tokens.callsSearchFunction
      || ResolvedSelect.references(in: tokens).contains { name in
        sources.contains { $0.mayOwn(name) && $0.showsSearch(name) }
      }
  }

  /// What USING names stays where conditions are left out, and what subqueries find does not: it is
  /// NULL then, which is never equal.
  ///
  /// - Throws: ``NotIncremental`` where sources are joined by that, here or in a view.
  func checkJoins() throws {
    for source in sources {
      if case .select(let inner, _) = source.body { try inner.checkJoins() }
      guard case .using(let names) = source.constraint else { continue }
      for name in names.map(\.quotedIdentifier) where showsSubquery(name) || showsSearch(name) {
        throw NotIncremental(
          reason: "USING or NATURAL joins by what a subquery or a search finds, \(name): write ON")
      }
    }
  }

  /// Whether there is a subquery in an expression, here or in a view.
  var hasSubqueries: Bool {
    let expressions =
      syntax.columns.map(\.text) + [syntax.predicate].compactMap(\.self)
      + sources.compactMap(\.condition)
    return expressions.contains { !Subquery.all(in: $0).isEmpty }
      || sources.contains { source in
        if case .select(let inner, _) = source.body { inner.hasSubqueries } else { false }
      }
  }
}

extension ResolvedSource {
  /// The same where a row of it is there, as it is where its own ON is asked.
  var required: ResolvedSource {
    var copy = self
    copy.isLeftJoined = false
    for index in tables.indices { copy.tables[index].isNullable = mayLackRow(ofTable: index) }
    return copy
  }

  /// Whether a row of this source may have none of one of its tables.
  func mayLackRow(ofTable index: Int) -> Bool {
    if case .select(let inner, _) = body { inner.tables[index].isNullable } else { false }
  }

  /// The same with certain conditions only; `names` are those of the SELECT that it is a source of.
  func certain(_ names: NameScopes) -> ResolvedSource {
    var copy = self
    if case .select(let inner, let columns) = body {
      copy.body = .select(inner.certain, names: columns)
    }
    if case .search(let table, let arguments?) = body {
      copy.body = .search(table, arguments: names.certainArguments(arguments))
    }
    if case .on(let condition) = constraint {
      copy.constraint = names.certainCondition(condition).map { .on($0) } ?? .none
    }
    return copy
  }

  /// Whether a column of a view, a CTE or a subquery of FROM looks at a subquery of an expression.
  func showsSubquery(_ name: ColumnName) -> Bool { shows(name) { $0.showsSubquery($1) } }

  func showsSearch(_ name: ColumnName) -> Bool { shows(name) { $0.showsSearch($1) } }

  private func shows(_ name: ColumnName, _ isSuch: (ResolvedSelect, String) -> Bool) -> Bool {
    guard case .select(let inner, _) = body,
      let position = columns.firstIndex(where: { $0.isSameIdentifier(as: name.name) })
    else { return false }
    return inner.expandedColumns.map { isSuch(inner, $0[position].expression) } ?? true
  }
}
