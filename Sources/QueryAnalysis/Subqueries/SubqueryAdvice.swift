/// What a person may write in the place of a subquery for which SQLite would look at all rows of a table, whatever
/// index there were.
struct SubqueryAdvice {
  /// By what SQLite calls a table in its plan, in a sentence.
  private var sentences: [String: String] = [:]
  /// How many tables it calls by a name.
  private var uses: [String: Int] = [:]

  /// What may be written where SQLite looks through what it calls by a name; nil: an index may help, or more than one
  /// table has the name.
  subscript(name: String) -> String? { uses[name] == 1 ? sentences[name] : nil }

  /// Notes what a SELECT reads, within its views, too.
  mutating func note(_ select: ResolvedSelect, _ sentence: String? = nil) {
    for source in select.sources {
      uses[source.name, default: 0] += 1
      sentences[source.name] = sentence
      if case .select(let inner, _) = source.body { note(inner) }
    }
  }
}

extension ResolvedSelect {
  /// What may be written in the place of this subquery.
  ///
  /// - Parameters:
  ///   - role: what is made of its rows.
  ///   - around: what names mean around it.
  ///   - functions: which of them aggregate.
  /// - Returns: a sentence; nil: an index may help.
  func advice(
    as role: Subquery.Role, around: NameScopes, _ functions: FunctionList
  ) -> String? {
    guard case .value = role else { return nil }
    let isOwn = { (name: ColumnName) in sources.contains { $0.mayOwn(name) } }
    let looksOutside = { (tokens: ArraySlice<SQLToken>) in
      ResolvedSelect.references(in: tokens).contains { !isOwn($0) && around.knows($0) }
    }
    let columns = syntax.columns.map(\.text)
    let others = (columns + syntax.groupBy + syntax.order).map { SQLTokens.tokens(of: $0)[...] }
    if others.contains(where: looksOutside) { return nil }
    let conditions =
      [syntax.predicate, syntax.having].compactMap(\.self) + sources.compactMap(\.condition)
    let joining = conditions.flatMap { condition in
      let tokens = SQLTokens.tokens(of: condition)[...]
      return tokens.conjuncts.isEmpty ? [tokens] : tokens.conjuncts
    }.filter(looksOutside)
    let shown = "(SELECT \(columns.joined(separator: ", ")) …)"
    if joining.isEmpty {
      return """
        \(shown) is one value for all records, and each new one changes them all: it may stand \
        alongside
        """
    }
    let isOfRowsBefore = joining.allSatisfy { condition in
      guard let (left, sign, right) = condition.withoutParentheses.comparison else { return false }
      return ["<", "<=", ">", ">="].contains(sign) && looksOutside(left) != looksOutside(right)
        && [left, right].contains { ResolvedSelect.references(in: $0).contains(where: isOwn) }
    }
    // What windows look at are rows of the query's own table.
    let isOfOwnTable =
      tables.count == 1
      && around.levels.last?.select.tables.contains { $0.name == tables[0].name } == true
    guard isOfRowsBefore, isOfOwnTable else { return nil }
    return columns.contains(where: functions.callsAggregate)
      ? "if \(shown) is of the rows before one, rank() or an aggregate OVER (ORDER BY …) says it"
      : "if \(shown) is of the row before or behind, lag() or lead() OVER (ORDER BY …) says it"
  }
}
