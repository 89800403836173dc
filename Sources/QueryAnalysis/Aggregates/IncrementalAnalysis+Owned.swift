// Records that may be kept up to date by what the rows come to that refer to their own.
extension IncrementalAnalysis {
  /// The parts of a query whose records, each of a row, aggregate rows of another table that refer to that.
  ///
  /// - Parameter owner: the number of the table whose rows own the records.
  /// - Returns: nil where nothing is aggregated that may be known.
  func ownedSyntax(_ owner: Int) -> OwnedSyntax? {
    guard select.tables[owner].key == nil, select.tables[owner].rowID != nil, !isOverParts,
      !dependsOnOrder, choice == nil, candidate.whole == nil, candidate.extreme == nil,
      candidate.values == nil, candidate.resultExpressions.isEmpty, windows.functions.isEmpty,
      lookedThrough.isEmpty, encoding == .utf8, let items,
      let identity = select.tables[owner].identity.first
    else { return nil }
    let columns = items.map(\.expression) + list.hidden
    let found = select.isGrouped ? joined(columns, owner) : subqueries(in: columns, owner)
    guard let (aggregates, columns, select, conditions) = found else { return nil }
    let records = Self.keyed([identity]) { condition in
      DeclaredParts.select(
        columns.map(\.parenthesized), from: select.from(),
        conditions: conditions.map(\.parenthesized) + [condition], groupBy: [], having: nil)
    }
    guard (try? checkSearches(records.sql(forKeys: 1))) != nil else { return nil }
    return OwnedSyntax(records: records, key: aggregates.keys, parts: aggregates.parts)
  }

  private typealias Owned = (
    aggregates: OwnedAggregates, columns: [String], select: ResolvedSelect, conditions: [String]
  )

  /// Those that subqueries aggregate.
  private func subqueries(in columns: [String], _ owner: Int) -> Owned? {
    var aggregates = OwnedAggregates(select, ownedBy: owner, resolver)
    let columns = columns.map { aggregates.replacingSubqueries(in: $0) }
    let predicate = select.syntax.predicate.map { aggregates.replacingSubqueries(in: $0) }
    if aggregates.parts.isEmpty { return nil }
    return (aggregates, columns, select, [predicate].compactMap(\.self))
  }

  /// Those of a source of FROM, where a group is of one row of each of the others.
  private func joined(_ columns: [String], _ owner: Int) -> Owned? {
    let own = determination.closure(of: [owner])
    let others = select.sources.indices.filter {
      !own.isSuperset(of: select.tables(ofSource: $0))
    }
    guard select.syntax.joinsByConditions, others.count == 1, let index = others.first,
      case .table = select.sources[index].body,
      let (syntax, joining) = select.syntax.leavingOut(joined: select.sources[index], at: index)
    else { return nil }
    let source = select.sources[index]
    var aggregates = OwnedAggregates(select, ownedBy: owner, resolver)
    // Where nothing is joined, they are of a row of NULLs.
    let takes = { (call: AggregateSyntax.Call) in
      guard source.isLeftJoined else { return true }
      let name = call.argument.flatMap { SQLTokens.tokens(of: $0).columnName }
      return name.map(source.mayOwn) == true
    }
    var replaced: [String] = []
    for expression in columns {
      guard let text = aggregates.replacingCalls(in: expression, where: takes) else { return nil }
      replaced.append(text)
    }
    var conditions = [syntax.predicate].compactMap(\.self)
    if let having = syntax.having.map(select.withoutNames) {
      guard let text = aggregates.replacingCalls(in: having, where: takes) else { return nil }
      conditions.append(text)
    }
    if !source.isLeftJoined { conditions.append("\(aggregates.parameter(for: "count(*)")) > 0") }
    let looks = { (expression: String) in
      ResolvedSelect.references(in: SQLTokens.tokens(of: expression)[...])
        .contains(where: source.mayOwn)
    }
    guard !(replaced + conditions).contains(where: looks), aggregates.join(source, on: joining)
    else { return nil }
    var sources = select.sources
    sources.remove(at: index)
    for (number, written) in syntax.sources.enumerated() {
      sources[number].constraint = written.constraint
    }
    return (
      aggregates, replaced, ResolvedSelect(syntax: syntax, sources: sources), conditions
    )
  }
}
