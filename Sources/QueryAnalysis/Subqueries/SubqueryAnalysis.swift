import GRDB

/// Finds the subqueries in the expressions of a SELECT, and how what they read is joined to its rows.
///
/// Whatever a subquery makes of the rows that its FROM and WHERE give it (aggregates, groups, an
/// order, a limit), it makes of no others. So these are led to the rows around them. A condition may
/// always be left out, which leads to more rows and not to less: one that looks at another subquery
/// must be, for it comes to hold without a row of its own.
struct SubqueryAnalysis {
  private let db: Database
  private let facts: SchemaFacts
  private let locality: RowLocality
  private let resolver: SourceResolver
  private var count: Int
  /// How many SELECTs were found.
  private var numberOfSelects = 0
  /// The names by which SQLite knows table-valued functions in its plans.
  private(set) var functionNames: Set<String> = []
  /// Those by which it knows FTS5 tables.
  private(set) var searchNames: Set<String> = []
  private(set) var joins: [SubqueryJoin] = []
  /// WHERE with subqueries that look only for what the row is compared with.
  private(set) var narrowedPredicate: String?
  /// The columns of a group that those look at which stand elsewhere than in WHERE; nil: not certain,
  /// or they may not leave their values alone.
  private(set) var groupColumns: Set<BaseColumn>? = []

  /// What stands around an expression.
  fileprivate struct Surroundings {
    var names = NameScopes()
    /// All sources, as they are joined.
    var sources: [SourceSyntax] = []
    var commonTables: [CommonTable]
    var conditions: [String] = []
    var numbers: [Int]
    /// Why nothing within leads to the rows around it.
    var refusal: String?

    var predicate: String? { conditions.isEmpty ? nil : conditions.joined(separator: "\nAND ") }
  }

  private let outside: Surroundings
  /// What names mean outside of subqueries.
  var outermostNames: NameScopes { outside.names }
  /// What of WHERE leads to owners: it looks at no subquery, and at nothing that a LEFT JOIN leaves out
  /// unless it must be there; nil: nothing.
  var certainPredicate: String? { outside.predicate }

  /// Looks for subqueries in a query whose names are known.
  ///
  /// - Throws: ``NotIncremental`` where a subquery is more than a function of rows.
  init(
    _ select: ResolvedSelect, hidden: [String], _ resolver: SourceResolver, _ locality: RowLocality
  ) throws {
    db = resolver.db
    facts = resolver.facts
    (self.resolver, self.locality) = (resolver, locality)
    var outside = Surroundings(
      commonTables: select.syntax.commonTables, numbers: Array(select.tables.indices))
    outside.enter(select, named: select.sources.map(\.name), numbers: [])
    self.outside = outside
    count = select.tables.count
    let syntax = select.syntax
    narrowedPredicate = try syntax.predicate.map {
      try follow($0, isCondition: true, in: outside)
    }
    groupColumns = []
    note(select, named: [])
    if let having = syntax.having { _ = try follow(having, isCondition: true, in: outside) }
    for expression in syntax.columns.map(\.text) + hidden + syntax.order {
      _ = try follow(expression, isCondition: false, in: outside)
    }
  }

  /// Looks for subqueries in an expression.
  ///
  /// - Parameters:
  ///   - expression: of the query, or of a subquery.
  ///   - isCondition: whether NULL is as good as false for it.
  ///   - surroundings: what stands around it.
  /// - Returns: the same expression, where each list that a value is looked for in has only what the
  ///   value is compared with: for a few rows that is a search in the place of a list.
  /// - Throws: ``NotIncremental`` where a subquery is more than a function of rows.
  private mutating func follow(
    _ expression: String, isCondition: Bool, in surroundings: Surroundings
  ) throws -> String {
    var text = ""
    var end = expression.startIndex
    for subquery in Subquery.all(in: expression) {
      let known = surroundings.commonTables.map(\.name)
      if let name = subquery.body.compactMap(\.name).first(where: { name in
        known.contains { $0.isSameIdentifier(as: name) }
      }) {
        throw NotIncremental(reason: "a subquery names the CTE \(name)")
      }
      let parts = try SelectParser.parseParts(subquery.body.sourceText)
      var predicates: [String] = []
      for part in parts {
        predicates += try follow(
          part, of: parts, subquery, isCondition: isCondition, in: surroundings)
      }
      guard parts.count == 1, let predicate = predicates.first,
        let (first, last) = subquery.placeOfPredicate
      else { continue }
      text += expression[end..<first] + predicate
      end = last
    }
    return text + expression[end...]
  }

  /// - Returns: what may stand behind WHERE instead, if anything does.
  private mutating func follow(
    _ part: SelectSyntax, of parts: [SelectSyntax], _ subquery: Subquery, isCondition: Bool,
    in surroundings: Surroundings
  ) throws -> [String] {
    try checkSources(of: part, in: surroundings)
    let inner = try resolver.resolve(part)
    try check(inner)
    var within = surroundings
    within.commonTables += part.commonTables
    let numbers = Array(count..<count + inner.tables.count)
    count += inner.tables.count
    numberOfSelects += 1
    let aliases = inner.sources.indices.map { "didchange \(numberOfSelects).\($0)" }
    for (source, alias) in zip(inner.sources, aliases) where source.isFunction {
      functionNames.formUnion([source.name, alias])
    }
    note(inner, named: aliases)
    within.enter(inner, named: aliases, numbers: numbers)
    try checkAggregates(of: inner, within.names)
    var narrowing: String?
    if case .membership(let operand) = subquery.role {
      let membership = Membership(
        operand: operand, parts: parts, select: inner,
        ignoresNull: isCondition && subquery.isPlainCondition)
      do {
        within.conditions.append(
          try membership.condition(surroundings.names, within.names, locality.functions, facts))
        narrowing = membership.narrowing(surroundings.names)
      } catch {
        within.refusal = within.refusal ?? error.reason
      }
    }
    groupColumns = groupColumns.flatMap { known in
      within.names.outermostColumns(in: subquery.body, of: part, facts).map(known.union)
    }
    let join = join(inner, within)
    if case .value = subquery.role { try checkIsCertain(inner, parts, join) }
    joins.append(join)
    for expression in part.columns.map(\.text) + [part.having].compactMap(\.self) + part.order {
      _ = try follow(expression, isCondition: false, in: within)
    }
    guard let predicate = part.predicate else { return [] }
    let narrowed = try follow(predicate, isCondition: true, in: within)
    return [narrowing.map { "\(narrowed.parenthesized) AND \($0)" } ?? narrowed]
  }

  private mutating func note(_ select: ResolvedSelect, named aliases: [String]) {
    searchNames.formUnion(select.searchNames)
    for (source, alias) in zip(select.sources, aliases) {
      if case .search = source.body { searchNames.insert(alias) }
    }
  }

  // MARK: - Joining

  private func join(_ inner: ResolvedSelect, _ within: Surroundings) -> SubqueryJoin {
    func made(_ select: ResolvedSelect?, _ refusal: String?) -> SubqueryJoin {
      SubqueryJoin(
        select: select, tables: inner.tables, numbers: within.numbers, refusal: refusal)
    }
    var syntax = SelectSyntax(columns: [], sources: within.sources)
    syntax.commonTables = within.commonTables
    syntax.predicate = within.predicate
    do {
      let select = try resolver.resolve(readBy: syntax)
      guard select.tables.count == within.numbers.count else { return made(nil, "it is not plain") }
      try locality.check(select, allowingSubqueries: true)
      return made(select, within.refusal)
    } catch let refusal as NotIncremental {
      return made(nil, within.refusal ?? refusal.reason)
    } catch {
      return made(nil, within.refusal ?? "SQLite does not take its tables in a join")
    }
  }

  /// A subquery in FROM may look at what is around the SELECT that it is in. It cannot where all are
  /// joined, and SQLite says so, but for a name in double quotation marks, which becomes a text.
  private func checkSources(of part: SelectSyntax, in surroundings: Surroundings) throws {
    for case .select(let sql) in part.sources.map(\.origin) {
      for token in SQLTokens.tokens(of: sql) where token.text.first == "\"" {
        let name = ColumnName(qualifier: nil, name: token.name ?? "")
        guard !surroundings.names.knows(name) else {
          throw NotIncremental(reason: "\(token.text) may be a column around a subquery in FROM")
        }
      }
    }
  }

  // MARK: - What it returns

  /// Everything that it returns is a function of its rows.
  private func check(_ inner: ResolvedSelect) throws {
    try locality.check(inner, allowingAggregates: true, allowingSubqueries: true)
    let limit = inner.syntax.limit
    for expression in [limit?.limit, limit?.offset].compactMap(\.self) {
      try locality.check(expression)
    }
  }

  /// An aggregate that names columns around the subquery only is one of the rows around it.
  private func checkAggregates(of inner: ResolvedSelect, _ names: NameScopes) throws {
    let syntax = inner.syntax
    for expression in syntax.columns.map(\.text) + [syntax.having].compactMap(\.self) + syntax.order
    {
      let tokens = SQLTokens.tokens(of: expression)
      for index in tokens.indices {
        guard locality.functions.aggregate(calledBy: tokens[index...]) != nil else { continue }
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
  private func checkIsCertain(
    _ inner: ResolvedSelect, _ parts: [SelectSyntax], _ join: SubqueryJoin
  ) throws {
    let syntax = inner.syntax
    if !syntax.order.isEmpty { return }
    if parts.count == 1, syntax.groupBy.isEmpty {
      let isAggregate = syntax.columns.contains { locality.functions.callsAggregate($0.expression) }
      // The rows of a function have an order of their own.
      if isAggregate || inner.sources.count == 1 && inner.sources[0].isFunction { return }
      if let select = join.select, !inner.sources.contains(where: \.isFunction) {
        let around = Set(select.tables.indices.dropLast(inner.tables.count))
        let known = RowDetermination(select, db).closure(of: around)
        if known.count == select.tables.count { return }
      }
    }
    throw NotIncremental(
      reason: """
        several rows of a subquery may match, and which of them is its value is not certain: write \
        ORDER BY in (SELECT \(syntax.columns.map(\.text).joined(separator: ", ")) …)
        """)
  }
}

extension SubqueryAnalysis.Surroundings {
  /// Adds the sources of a SELECT, and its conditions as far as they are certain without looking at
  /// subqueries.
  fileprivate mutating func enter(
    _ select: ResolvedSelect, named aliases: [String], numbers: [Int]
  ) {
    names.enter(select, named: aliases)
    self.numbers += numbers
    for (index, (source, alias)) in zip(select.syntax.sources, aliases).enumerated() {
      guard let origin = origin(of: source) else {
        refusal = refusal ?? "what \(source.alias ?? "a function") is called with is not certain"
        continue
      }
      var joined = SourceSyntax(origin: origin, alias: alias)
      joined.isLeftJoined = source.isLeftJoined
      switch select.sources[index].constraint {
      case .none: break
      case .on(let condition):
        guard let qualified = names.qualified(condition) else {
          refusal = refusal ?? "what \(condition) means is not certain"
          continue
        }
        joined.constraint = .on(qualified)
      case .using(let columns):
        // There may be columns of these names around the SELECT, too.
        let equalities = columns.compactMap { column -> String? in
          guard let before = select.sources[..<index].firstIndex(where: { $0.has(column: column) })
          else { return nil }
          let name = column.quotedIdentifier
          return "\(aliases[before].quotedIdentifier).\(name) = \(alias.quotedIdentifier).\(name)"
        }
        joined.constraint = .on(equalities.joined(separator: " AND "))
      }
      sources.append(joined)
    }
    guard let predicate = select.syntax.predicate else { return }
    let tokens = SQLTokens.tokens(of: predicate)[...]
    let conjuncts = tokens.conjuncts
    conditions +=
      conjuncts.isEmpty
      ? [condition(tokens)?.parenthesized].compactMap(\.self) : conjuncts.compactMap(condition)
  }

  /// What stands in FROM where all sources are joined; nil: not certain.
  private func origin(of source: SourceSyntax) -> SourceSyntax.Origin? {
    guard case .function(let name, let arguments) = source.origin else { return source.origin }
    return names.qualified(arguments).map { .function(name: name, arguments: $0) }
  }

  /// A condition as it is asked where all sources are joined; nil: it is left out.
  ///
  /// One that holds for what a LEFT JOIN has left out could do so from one commit to the next, without
  /// a row that leads to it.
  private func condition(_ tokens: ArraySlice<SQLToken>) -> String? {
    guard tokens.withoutSubqueries.count == tokens.count,
      tokens.rejectsNull || !names.lookAtNullable(tokens)
    else { return nil }
    return names.qualified(tokens)
  }
}
