import GRDB

/// Whether each row that a SELECT returns depends on one row of each of its tables, and on nothing
/// else but subqueries, which are looked at by themselves.
struct RowLocality {
  let functions: FunctionList

  init(_ db: Database) throws { functions = try FunctionList(db) }

  /// Aggregates may be allowed in the list, HAVING and ORDER BY.
  ///
  /// Where subqueries are allowed, which is everywhere but in ON and GROUP BY, WHERE may look at what a
  /// LEFT JOIN leaves out, too: neither is asked where changed rows are led to owners.
  ///
  /// Window functions may be allowed, which are looked at by themselves, in the list and ORDER BY.
  ///
  /// - Throws: ``NotIncremental`` where something else than one row of each table counts.
  func check(
    _ select: ResolvedSelect, allowingAggregates: Bool = false, allowingSubqueries: Bool = false,
    allowingWindows: Bool = false
  ) throws(NotIncremental) {
    try checkJoins(select)
    let syntax = select.syntax
    let arguments = select.sources.compactMap(\.arguments)
    for expression in syntax.groupBy + arguments { try check(expression, of: select) }
    for condition in select.sources.compactMap(\.condition) {
      try check(condition, of: select, isCondition: true)
    }
    if let predicate = syntax.predicate {
      if !allowingSubqueries { try checkNotNullable(predicate, "WHERE", select) }
      try check(
        predicate, of: select, isCondition: true, allowingSubqueries: allowingSubqueries)
    }
    for expression in syntax.columns.map(\.text) + [syntax.having].compactMap(\.self) + syntax.order
    {
      try check(
        expression, of: select, allowingAggregates: allowingAggregates,
        allowingSubqueries: allowingSubqueries, allowingWindows: allowingWindows)
    }
  }

  /// Each row of a SELECT over groups is a function of one of these, whatever its conditions look at.
  func checkOverGroups(_ select: ResolvedSelect) throws(NotIncremental) {
    let syntax = select.syntax
    let conditions = [syntax.predicate].compactMap(\.self)
    for expression in syntax.columns.map(\.text) + conditions + syntax.order {
      try check(expression)
    }
  }

  func check(
    _ expression: String, of select: ResolvedSelect? = nil, isCondition: Bool = false,
    allowingAggregates: Bool = false, allowingSubqueries: Bool = false,
    allowingWindows: Bool = false
  ) throws(NotIncremental) {
    var tokens = SQLTokens.tokens(of: expression)
    if let select {
      tokens = try withoutSearchFunctions(tokens, of: select, isCondition: isCondition)
    }
    if allowingSubqueries { tokens = tokens[...].withoutSubqueries }
    if allowingWindows { tokens = tokens[...].withoutWindowFunctions }
    do {
      try functions.check(tokens, allowingAggregates: allowingAggregates)
    } catch {
      throw NotIncremental(reason: "\(error.description): \(expression.trimmingSpaces)")
    }
  }

  /// A row that a LEFT JOIN leaves out must not decide which others are joined: else the row could
  /// come or go, and none of the records shown would lead to what it changes.
  private func checkJoins(_ select: ResolvedSelect) throws(NotIncremental) {
    for (index, source) in select.sources.enumerated() {
      switch source.constraint {
      case .none: break
      case .on(let condition) where source.isLeftJoined:
        try checkRejectsNull(condition, of: index, select)
      case .on(let condition): try checkNotNullable(condition, "ON", select)
      case .using where source.isLeftJoined: break
      case .using(let names):
        for name in names {
          let before = select.sources[..<index].first { $0.has(column: name) }
          if let before, before.isNullable {
            throw NotIncremental(
              reason: "USING (\(name)) looks at \(before.name), which a LEFT JOIN may leave out")
          }
        }
      }
    }
  }

  /// Where a row that is left out would let others be joined, nothing would lead from these to the
  /// record when it is gone.
  private func checkRejectsNull(
    _ condition: String, of index: Int, _ select: ResolvedSelect
  ) throws(NotIncremental) {
    let tokens = SQLTokens.tokens(of: condition)[...]
    for term in tokens.conjuncts.isEmpty ? [tokens] : tokens.conjuncts where !term.rejectsNull {
      let owners = ResolvedSelect.references(in: term).flatMap { name in
        select.sources[..<index].filter { $0.mayOwn(name) }
      }
      if let owner = owners.first(where: \.isNullable) {
        throw NotIncremental(
          reason: """
            ON looks at \(owner.name), which a LEFT JOIN may leave out, by more than a comparison
            """)
      }
    }
  }

  private func checkNotNullable(
    _ condition: String, _ clause: String, _ select: ResolvedSelect
  ) throws(NotIncremental) {
    let tokens = SQLTokens.tokens(of: condition)
    if let name = select.nameOfNullable(in: tokens[...]) {
      throw NotIncremental(reason: "\(clause) looks at \(name), which a LEFT JOIN may leave out")
    }
  }
}

extension ResolvedSource {
  var arguments: String? {
    switch body {
    case .function(let arguments): arguments
    case .search(_, let arguments): arguments
    case .table, .select: nil
    }
  }

  var condition: String? { if case .on(let condition) = constraint { condition } else { nil } }
}
