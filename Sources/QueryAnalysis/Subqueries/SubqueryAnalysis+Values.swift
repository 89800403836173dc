import GRDB

// What a subquery returns is a function of its rows, and a value perhaps of their order.
extension SubqueryAnalysis {
  /// Everything that it returns is a function of its rows, and a value perhaps of their order.
  mutating func check(_ inner: ResolvedSelect, _ role: Subquery.Role) throws {
    try inner.checkJoins()
    do {
      try locality.check(inner, allowingAggregates: true)
    } catch {
      guard case .value = role, inner.syntax.groupBy.isEmpty else { throw error }
      try locality.allowingOrder.check(inner, allowingAggregates: true)
      orderRefusal = orderRefusal ?? error
    }
    let limit = inner.syntax.limit
    for expression in [limit?.limit, limit?.offset].compactMap(\.self) {
      try locality.check(expression)
    }
  }

  /// An aggregate that names columns around the subquery only is one of the rows around it.
  func checkAggregates(of inner: ResolvedSelect, _ names: NameScopes) throws {
    let syntax = inner.syntax
    for expression in syntax.columns.map(\.text) + [syntax.having].compactMap(\.self) + syntax.order
    {
      let tokens = SQLTokens.tokens(of: expression)
      for index in tokens.indices {
        guard locality.functions.isAggregate(calledBy: tokens[index...]) else { continue }
        var rest = tokens[(index + 1)...]
        let columns = ResolvedSelect.references(in: rest.takeParentheses() ?? [])
        _ = rest.take("FILTER")
        let filter = ResolvedSelect.references(in: rest.takeParentheses() ?? [])
        if names.areOutside(columns) || names.areOutside(filter) {
          throw NotIncremental(
            reason: "a subquery aggregates columns from outside of it: \(expression)")
        }
      }
    }
  }

  /// Where several rows come first, it is SQLite's choice which of them is the value.
  mutating func checkIsCertain(
    _ inner: ResolvedSelect, _ parts: [SelectSyntax], _ join: SubqueryJoin
  ) throws {
    let syntax = inner.syntax
    if leavesOpen(inner) {
      tieRefusal = NotIncremental(
        reason: """
          which of equal rows a subquery shows depends on their order: (SELECT \
          \(syntax.columns.map(\.text).joined(separator: ", ")) …)
          """)
    }
    if !syntax.order.isEmpty { return }
    if parts.count == 1, syntax.groupBy.isEmpty {
      let isAggregate = syntax.columns.contains { locality.functions.callsAggregate($0.expression) }
      // The rows of a function have an order of their own.
      if isAggregate || inner.sources.count == 1 && inner.sources[0].isFunction { return }
      if inner.functionIDs.isEmpty {
        let tables = join.select.tables.indices
        let around = Set(tables.dropLast(inner.tables.count))
        let known = RowDetermination(join.select, db, knowsFunctions: true).closure(of: around)
        if known.count == tables.count { return }
      }
    }
    throw NotIncremental(
      reason: """
        several rows of a subquery may match, and which of them is its value is not certain: write \
        ORDER BY in (SELECT \(syntax.columns.map(\.text).joined(separator: ", ")) …)
        """)
  }

  /// Whether ORDER BY, or the only `min` or `max`, may leave open which row comes first. Groups come in the order of
  /// what they are grouped by.
  private func leavesOpen(_ inner: ResolvedSelect) -> Bool {
    let syntax = inner.syntax
    let groups = Set(syntax.groupBy.compactMap(inner.origin(of:)))
    guard syntax.order.isEmpty || !groups.isEmpty else {
      let columns = Set(syntax.order.compactMap { inner.origin(of: OrderTerm($0).expression) })
      let rows = RowDetermination(inner, db)
      return !inner.functionIDs.isEmpty
        || rows.closure(of: rows.identified(by: columns)).count < inner.tables.count
    }
    let columns = syntax.columns.map(\.expression)
    return columns.contains(where: locality.functions.callsAggregate)
      && columns.contains { column in
        ResolvedSelect.references(in: locality.functions.withoutAggregates(column))
          .contains { name in
            inner.sources.contains { $0.mayOwn(name) }
              && inner.origin(of: name).map(groups.contains) != true
          }
      }
  }
}
