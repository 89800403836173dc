import GRDB

/// Finds the subqueries in the expressions of a SELECT, and how what they read is joined to its rows.
///
/// Whatever a subquery makes of the rows that its FROM and WHERE give it (aggregates, groups, an
/// order, a limit), it makes of no others. So these are led to the rows around them. A condition may
/// always be left out, which leads to more rows and not to less: one that looks at another subquery
/// must be, for it comes to hold without a row of its own.
struct SubqueryAnalysis {
  let db: Database
  private let facts: SchemaFacts
  let locality: RowLocality
  private let resolver: SourceResolver
  private var count: Int
  /// How many SELECTs were found.
  private var numberOfSelects = 0
  /// The names by which SQLite knows table-valued functions in its plans.
  private(set) var functionNames: Set<String> = []
  /// Those of SELECTs in FROM that make the rows which a subquery aggregates.
  private(set) var passNames: Set<String> = []
  /// Those by which it knows FTS5 tables.
  private(set) var searchNames: Set<String> = []
  private(set) var joins: [SubqueryJoin] = []
  /// The query with subqueries in conditions that look only for what the row is compared with.
  private(set) var narrowed: ResolvedSelect
  /// By what was written, fields that look only for rows that are kept.
  private var narrowedExpressions: [String: String] = [:]
  /// Tables of which a subquery reads only rows that are kept.
  private let kept: Set<Int>
  /// Tables of which that may be, and the names by which their SELECTs know them.
  private var keepable: [Int: String] = [:]
  /// By what SQLite calls a table of which only rows that are kept are read, what its plan says if it takes these in the
  /// order in which it would take all.
  private(set) var lookups: [String: String] = [:]
  /// The columns of a group that those look at which stand elsewhere than in WHERE.
  private(set) var groupColumns: Set<BaseColumn> = []
  /// Why these are not certain, or may not keep their values.
  private(set) var groupRefusal: NotIncremental?
  /// Why the order of a subquery's rows decides about its value; nil: it does not.
  var orderRefusal: NotIncremental?
  private(set) var advice = SubqueryAdvice()
  /// Why which of several rows is a value is not certain where they are taken in another order; nil: it is.
  var tieRefusal: NotIncremental?
  /// How many of ``joins`` are for each row, and not for each group.
  private(set) var joinsOfRows = 0

  /// What stands around an expression.
  struct Surroundings {
    var names = NameScopes()
    /// All sources, as they are joined, with certain conditions only.
    var sources: [ResolvedSource] = []
    var conditions: [String] = []
    var numbers: [Int] = []
    /// Why nothing within leads to the rows around it.
    var refusal: String?
    /// Which condition is left out that may have led to the rows around, and why.
    var doubt: String?

    var select: ResolvedSelect {
      var syntax = SelectSyntax(columns: [], sources: [])
      syntax.predicate = conditions.isEmpty ? nil : conditions.joined(separator: "\nAND ")
      return ResolvedSelect(syntax: syntax, sources: sources)
    }
  }

  /// What names mean outside of subqueries.
  let outermostNames: NameScopes

  /// Looks for subqueries in a query whose names are known.
  ///
  /// - Throws: ``NotIncremental`` where a subquery is more than a function of rows.
  init(
    _ select: ResolvedSelect, hidden: [String], keeping kept: Set<Int> = [],
    _ resolver: SourceResolver, _ locality: RowLocality
  ) throws {
    self.kept = kept
    db = resolver.db
    facts = resolver.facts
    (self.resolver, self.locality) = (resolver, locality)
    let aliases = select.sources.map(\.name)
    functionNames = Set(select.functionNames)
    var outside = Surroundings()
    outside.enter(select, named: aliases, numbers: Array(select.tables.indices))
    outermostNames = outside.names
    count = select.tables.count
    narrowed = select
    narrowed = try follow(select, named: aliases, around: NameScopes(), in: outside)
    joinsOfRows = joins.count
    (groupColumns, groupRefusal) = ([], nil)
    note(select, named: [])
    advice.note(select)
    let syntax = select.syntax
    narrowed.syntax.having = try syntax.having.map {
      try follow($0, isCondition: true, in: outside)
    }
    for expression in syntax.columns.map(\.text) + hidden {
      narrowedExpressions[expression] = try follow(expression, isCondition: false, in: outside)
    }
    for term in syntax.order {
      let narrowed = try follow(term, isCondition: false, in: outside)
      narrowedExpressions[OrderTerm(term).expression.withoutTextInQuotationMarks] =
        OrderTerm(narrowed).expression
    }
  }

  // MARK: - Looking for them

  /// Looks for subqueries in the conditions of a SELECT, and in its views.
  ///
  /// - Parameters:
  ///   - select: the query, a subquery of it, or a view.
  ///   - aliases: the names that its sources have where all are joined.
  ///   - around: what names mean in its FROM: not yet what they mean behind it.
  ///   - surroundings: its own sources, and what stands around it.
  /// - Returns: the same, where each list that a value is looked for in has only what the value is
  ///   compared with: for a few rows that is a search in the place of a list.
  /// - Throws: ``NotIncremental`` where a subquery is more than a function of rows.
  private mutating func follow(
    _ select: ResolvedSelect, named aliases: [String], around: NameScopes,
    in surroundings: Surroundings
  ) throws -> ResolvedSelect {
    var narrowed = select
    narrowed.syntax.predicate = try select.syntax.predicate.map {
      try follow($0, isCondition: true, in: surroundings)
    }
    for (index, source) in select.sources.enumerated() {
      if let condition = source.condition {
        narrowed.sources[index].constraint = .on(
          try follow(condition, isCondition: true, in: surroundings))
      }
      guard case .select(let inner, let names) = source.body, inner.hasSubqueries else { continue }
      numberOfSelects += 1
      let inside = inner.sources.indices.map { "didchange \(numberOfSelects).\($0)" }
      note(inner, named: inside)
      var within = surroundings
      within.names = around
      within.enterAgain(inner, shownBy: aliases[index], named: inside)
      narrowed.sources[index].body = .select(
        try follow(inner, named: inside, around: around, in: within), names: names)
      let columns = try inner.syntax.columns.map { column in
        let text = try follow(column.text, isCondition: false, in: within)
        // Without an alias its text is its name.
        return kept.isEmpty || column.alias == nil ? column : ResultColumn(text)
      }
      narrowed.sources[index].narrow(columns)
    }
    return narrowed
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
      let parts = try SelectParser.parseParts(subquery.body.sourceText)
      var predicates: [String] = []
      for part in parts {
        predicates += try follow(
          part, of: parts, subquery, isCondition: isCondition, in: surroundings)
      }
      guard parts.count == 1, let predicate = predicates.first,
        let (first, last, keyword) = subquery.placeOfPredicate(
          isOfInner: flattened(parts[0], subquery.role) != nil)
      else { continue }
      text += expression[end..<first] + keyword + predicate
      end = last
    }
    return text + expression[end...]
  }

  /// - Returns: what may stand behind WHERE instead, if anything does.
  private mutating func follow(
    _ part: SelectSyntax, of parts: [SelectSyntax], _ subquery: Subquery, isCondition: Bool,
    in surroundings: Surroundings
  ) throws -> [String] {
    let flattened = flattened(part, subquery.role)
    if flattened != nil, let name = part.sources[0].alias { passNames.insert(name) }
    let part = flattened ?? part
    try checkSources(of: part, in: surroundings)
    let inner = try resolver.resolve(readBy: part)
    try check(inner, subquery.role)
    var within = surroundings
    let numbers = Array(count..<count + inner.tables.count)
    count += inner.tables.count
    numberOfSelects += 1
    let aliases = inner.sources.indices.map { "didchange \(numberOfSelects).\($0)" }
    functionNames.formUnion(inner.functionNames)
    for (source, alias) in zip(inner.sources, aliases) where source.isFunction {
      functionNames.insert(alias)
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
        within.doubt = within.doubt ?? error.reason
      }
    }
    noteGroup(
      GroupRegisters(names: within.names, part: part, select: inner, facts: facts), subquery.role,
      around: surroundings.names)
    advice.note(
      inner,
      within.doubt
        ?? inner.advice(as: subquery.role, around: surroundings.names, locality.functions))
    let join = join(inner, within)
    if case .value = subquery.role { try checkIsCertain(inner, parts, join) }
    joins.append(join)
    let syntax = inner.syntax
    for expression in syntax.columns.map(\.text) + [syntax.having].compactMap(\.self) + syntax.order
    {
      _ = try follow(expression, isCondition: false, in: within)
    }
    let narrowed = try follow(inner, named: aliases, around: surroundings.names, in: within)
    let rows = keptConditions(of: inner, numbers)
    if flattened != nil, rows.isEmpty { return [] }
    // What is looked for in a table alone, SQLite searches.
    let isSearched =
      narrowed.syntax.predicate == nil && !inner.sources.contains(where: \.isRewritten)
    let conditions = [isSearched ? nil : narrowing].compactMap(\.self) + rows
    guard let predicate = narrowed.syntax.predicate else {
      return conditions.isEmpty ? [] : [conditions.joined(separator: " AND ")]
    }
    return [
      conditions.isEmpty
        ? predicate : ([predicate.parenthesized] + conditions).joined(separator: " AND ")
    ]
  }

  /// A value that aggregates the rows of another SELECT, as one that reads them itself.
  private func flattened(_ part: SelectSyntax, _ role: Subquery.Role) -> SelectSyntax? {
    let aggregates = { (column: ResultColumn) in
      locality.functions.callsAggregate(column.expression)
    }
    guard case .value = role, part.columns.contains(where: aggregates), let inner = part.inner,
      !inner.columns.contains(where: aggregates)
    else { return nil }
    return part.flattened(inner)
  }

  /// Notes which tables of a subquery may have rows kept, and asks for these where they have.
  private mutating func keptConditions(of select: ResolvedSelect, _ numbers: [Int]) -> [String] {
    var conditions: [String] = []
    for (index, source) in select.sources.enumerated() {
      guard case .table = source.body, !source.isNullable else { continue }
      let number = numbers[select.firstTable(ofSource: index)]
      let parameter = IncrementalAnalysis.keptParameter(number)
      guard let condition = facts.listCondition(source.tables[0], in: parameter) else { continue }
      keepable[number] = source.name
      if kept.contains(number) {
        conditions.append(condition)
        lookups[source.name] = facts.orderedLookup(source.tables[0], named: source.name)
      }
    }
    return conditions
  }

  /// A field or a hidden column of the query, for a few owners.
  func narrowed(expression: String) -> String {
    kept.isEmpty ? expression : narrowedExpressions[expression] ?? expression
  }

  /// The tables of subqueries of which rows may be kept.
  var keepableTables: Set<Int> { Set(keepable.keys) }

  /// The tables of subqueries that have a name in SQLite's plan.
  func keepable(named name: String) -> Set<Int> {
    Set(keepable.filter { $0.value.isSameIdentifier(as: name) }.keys)
  }

  private mutating func note(_ select: ResolvedSelect, named aliases: [String]) {
    searchNames.formUnion(select.searchNames)
    for (source, alias) in zip(select.sources, aliases) {
      if case .search = source.body { searchNames.insert(alias) }
    }
  }

  private mutating func noteGroup(
    _ registers: GroupRegisters, _ role: Subquery.Role, around: NameScopes
  ) {
    do {
      groupColumns.formUnion(try registers.columns())
      if case .membership(let operand) = role {
        try registers.check(operand, isMemberFor: around)
      }
    } catch {
      groupRefusal = groupRefusal ?? error
    }
  }

  // MARK: - Joining

  private func join(_ inner: ResolvedSelect, _ within: Surroundings) -> SubqueryJoin {
    SubqueryJoin(
      select: within.select, tables: inner.tables, numbers: within.numbers,
      refusal: within.refusal, doubt: within.doubt)
  }

  /// A subquery in FROM may look at what is around the SELECT that it is in. It cannot where all are
  /// joined, and SQLite says so, but for a name in double quotation marks, which becomes a text where it has
  /// no qualifier.
  private func checkSources(of part: SelectSyntax, in surroundings: Surroundings) throws {
    for case .select(let sql) in part.sources.map(\.origin) {
      let tokens = SQLTokens.tokens(of: sql)
      for (index, token) in tokens.enumerated() where token.text.first == "\"" {
        let besides = tokens[max(index - 1, 0)..<min(index + 2, tokens.count)]
        if besides.contains(where: { $0.isSymbol(".") }) { continue }
        let name = ColumnName(qualifier: nil, name: token.name ?? "")
        guard !surroundings.names.knows(name) else {
          throw NotIncremental(reason: "\(token.text) may be a column around a subquery in FROM")
        }
      }
    }
  }
}

extension ResolvedSource {
  /// Has a view, a CTE or a subquery of FROM show other columns, with the same names.
  fileprivate mutating func narrow(_ columns: [ResultColumn]) {
    guard case .select(var select, let names) = body else { return }
    select.syntax.columns = columns
    body = .select(select, names: names)
  }
}
