import GRDB
import OrderedResults

/// Finds out whether what a query shows is made of the groups that a SELECT within it makes, and of nothing else.
struct InnerGroupsAnalysis {
  let definition: QueryDefinition
  let budget: AnalysisBudget
  let db: Database

  /// What runs in the place of a query, and what is made of its groups where these are known.
  struct Found {
    /// The query, whose order leaves nothing open.
    let sql: String
    let groups: InnerGroups
    let reason: String
  }

  /// - Parameters:
  ///   - sql: the query, without a semicolon.
  ///   - list: its columns.
  ///   - ending: those with which its order is to end.
  /// - Returns: nil where it is another query.
  /// - Throws: ``NotIncremental`` where its groups cannot be followed; `DatabaseError` where the schema cannot be read.
  func groups(in sql: String, _ list: SelectList, ending: [Int]) throws -> Found? {
    let locality = try RowLocality(db)
    guard let syntax = try? SelectParser.parse(sql),
      let written = try? SourceResolver(locality, budget, db).resolveWithParts(syntax),
      written.grouped != nil, !written.windowed.isEmpty
    else { return nil }
    if written.syntax.isDistinct {
      throw NotIncremental(reason: "DISTINCT makes one record of several groups")
    }
    guard
      let split = written.splittingGroups(
        named: Array(list.visible), locality.functions)
    else { throw NotIncremental(reason: "what its window functions look at is not certain") }
    let completed = split.completingWindows(locality, db)
    let shown = completed?.select ?? split
    guard let grouped = shown.grouped else { return nil }
    if shown.syntax.order.isEmpty, !shown.hasWindows {
      throw NotIncremental(
        reason: "window functions stand within it: write ORDER BY outside of these")
    }
    if shown.syntax.order.isEmpty, shown.syntax.limit != nil {
      throw NotIncremental(reason: "it has LIMIT, and no ORDER BY")
    }
    try locality.checkOverParts(shown, allowingWindows: true)
    let limit = shown.syntax.limit
    for expression in list.hidden + [limit?.limit, limit?.offset].compactMap(\.self) {
      try locality.check(expression)
    }
    var areAdded = false
    for select in shown.windowed {
      areAdded = try checkWindows(of: select, locality) || areAdded
    }
    let text = grouped.subquery(requiring: nil, asWritten: true)
    let whole = list.added(to: try statement(shown, ending: ending, locality))
    let parts = whole.split(separator: text, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      throw NotIncremental(reason: "it reads the groups more than once")
    }
    // What is JSON is known to be, on its way from one function to another, and not where it comes as a value.
    let calls = parts.flatMap { SQLTokens.tokens(of: String($0)).compactMap(\.name) }
    if let call = calls.first(where: { $0.lowercased().hasPrefix("json") }) {
      throw NotIncremental(reason: "\(call) may be called with JSON that its groups show")
    }
    let (definition, query) = try analyzed(text)
    let columns = try columns(of: grouped, named: namesOfGroups(shown))
    guard query.layout.columns.count == columns.count else {
      throw NotIncremental(reason: "what * stands for is not certain")
    }
    let note = completed.map {
      "; groups that the ORDER BY of a window takes for equal come in the order of \($0.key.joined(separator: ", "))"
    }
    return Found(
      sql: whole,
      groups: InnerGroups(
        groups: definition, before: String(parts[0]), after: String(parts[1]), columns: columns,
        areToAddExactly: areAdded && !Aggregate.addsWithCompensation),
      reason: """
        where running the query takes long, its groups are followed, and what is made of all of them is worked out \
        again: \(query.tracking.reason)\(note ?? "")
        """)
  }

  /// The query with its order ended by columns, in the direction of its last term.
  private func statement(
    _ shown: ResolvedSelect, ending: [Int], _ locality: RowLocality
  ) throws -> String {
    var syntax = shown.syntax
    if syntax.order.isEmpty {
      // As SQLite returns them, where there is one window.
      let windows = try WindowFunctions(syntax, hidden: [], locality).functions.map(\.window)
      let order = windows.max { $0.order.count < $1.order.count }?.order ?? []
      // Behind the SELECT, a name is that of a result column first, and a number is one's.
      let names = shown.columns.compactMap(\.alias)
      let isCaptured = order.contains { term in
        let name = SQLTokens.tokens(of: term.expression).columnName?.name
        return term.isNumber || names.contains { name?.isSameIdentifier(as: $0) == true }
      }
      syntax.order = (isCaptured ? [] : order.map(\.text)) + shown.hiddenColumns.map(\.expression)
    }
    let direction = syntax.order.last.map { OrderTerm($0).isDescending } == true ? " DESC" : ""
    let sql = DeclaredParts.select(
      shown.columns.map(\.text), from: shown.from(asWritten: true),
      conditions: [syntax.predicate?.parenthesized].compactMap(\.self), groupBy: [], having: nil,
      windows: syntax.windows, order: syntax.order + ending.map { "\($0 + 1)\(direction)" })
    return sql + (syntax.limit.map { "\n" + $0.sql } ?? "")
  }

  /// Which of the groups that ORDER BY takes for equal comes first must not matter.
  ///
  /// - Returns: whether columns are added up in whatever order.
  private func checkWindows(
    of select: ResolvedSelect, _ locality: RowLocality
  ) throws(NotIncremental) -> Bool {
    var areAdded = false
    for function in try WindowFunctions(select.syntax, hidden: [], locality).functions {
      if select.isTotalForGroups(function.window) { continue }
      let isSum = Aggregate.Function(rawValue: function.name.lowercased())?.adds == true
      areAdded = areAdded || isSum
      if function.hasOneValue, !function.showsOneOfEqualValues,
        !isSum || Aggregate.addsWithCompensation || function.arguments.columnName != nil
      {
        continue
      }
      throw NotIncremental(
        reason: """
          \(function.name)() depends on the order of groups that the ORDER BY of its window may take for equal: end \
          that with what they are grouped by
          """)
    }
    return areAdded
  }

  // MARK: - The groups

  /// By which names the SELECT around the groups knows their columns; nil: not certain.
  private func namesOfGroups(_ shown: ResolvedSelect) -> [String]? {
    guard case .select(let inner, _) = shown.sources[0].body else { return nil }
    return inner.isGrouped ? shown.sources[0].columns : namesOfGroups(inner)
  }

  /// The SELECT that makes groups as a query by itself.
  private func analyzed(_ sql: String) throws -> (QueryDefinition, Query) {
    let used = Set(SQLFragment.parameterNames(of: sql))
    var groups = QueryDefinition(
      name: "groups", form: .sql(sql),
      parameters: definition.parameters.filter { used.contains($0.name) })
    (groups.servesOthers, groups.followsRows, groups.repeatsColumnNames) = (true, true, true)
    let query: Query
    do {
      query = try Query.analyzed(groups, budget, in: db)
    } catch let problems as QueryProblems {
      let problem = problems.problems.first?.message
      throw NotIncremental(reason: problem ?? "its groups cannot be read by themselves")
    }
    guard let plan = query.plan else { throw NotIncremental(reason: query.tracking.reason) }
    guard plan.running.isEmpty, plan.leads.allSatisfy(\.isFollowed) else {
      throw NotIncremental(reason: "its groups are not followed one by one")
    }
    return (groups, query)
  }

  /// The columns of the groups, under names, and those behind them.
  private func columns(
    of grouped: ResolvedSelect, named names: [String]?
  ) throws -> [InnerGroups.Column] {
    let facts = SchemaFacts(db: db)
    guard let names, let own = grouped.expandedColumns, own.count == names.count,
      try facts.textEncoding() == .utf8
    else { throw NotIncremental(reason: "what its groups show is not certain") }
    let hidden = grouped.hiddenColumns.map {
      ($0.expression, SQLTokens.tokens(of: $0.name).first?.name ?? $0.name)
    }
    return try (zip(own.map(\.expression), names) + hidden).map { expression, name in
      InnerGroups.Column(name: name, affinity: try affinity(of: expression, in: grouped, facts))
    }
  }

  /// As what a column of the groups is compared around them; nil: as what its values are.
  ///
  /// https://www.sqlite.org/datatype3.html#column_affinity_for_views_and_subqueries
  private func affinity(
    of expression: String, in grouped: ResolvedSelect, _ facts: SchemaFacts
  ) throws(NotIncremental) -> ColumnAffinity? {
    let tokens = Array(SQLTokens.tokens(of: expression)[...].withoutParentheses)
    if let (operand, type) = tokens.cast {
      // It has the collation of what is cast, and the affinity of the type.
      _ = try affinity(of: operand, in: grouped, facts)
      let affinity = ColumnAffinity(declaredType: type)
      return affinity == .blob ? nil : affinity
    }
    if let origin = grouped.origin(of: expression) {
      let comparison = facts.comparison(of: origin.name, in: grouped.tables[origin.table].name)
      guard let comparison, comparison.collation == "BINARY" else {
        throw NotIncremental(
          reason: "\(expression) is compared under another collation than BINARY around its groups")
      }
      return comparison.affinity == .blob ? nil : comparison.affinity
    }
    let areBinary = grouped.tables.allSatisfy { table in
      facts.collations(of: table.name).values.allSatisfy { $0 == "BINARY" }
    }
    let words = ["COLLATE", "CAST", "SELECT"]
    guard tokens.columnName == nil, areBinary || tokens.isOneCall,
      !tokens.contains(where: { token in words.contains(where: token.isWord) })
    else {
      throw NotIncremental(reason: "how \(expression) is compared around its groups is not certain")
    }
    return nil
  }
}

extension [SQLToken] {
  /// What is cast, and to which type, if this is `CAST(… AS …)` and nothing else; nil: it is something else.
  fileprivate var cast: (operand: String, type: String)? {
    var rest = self[...]
    guard rest.take("CAST"), let body = rest.takeParentheses(), rest.isEmpty,
      let word = body.lastIndex(where: { $0.isWord("AS") })
    else { return nil }
    return (body[..<word].sourceText, body[(word + 1)...].sourceText)
  }
}
