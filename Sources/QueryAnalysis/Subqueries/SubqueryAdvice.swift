// What a person may write in the place of a subquery for which SQLite would look at all rows of a table, whatever
// index there were.
extension ResolvedSelect {
  /// - Parameters:
  ///   - role: what is made of its rows.
  ///   - around: what names mean around it.
  ///   - functions: which of them aggregate.
  /// - Returns: a sentence; nil: an index may help.
  func advice(
    as role: Subquery.Role, around: NameScopes, _ functions: FunctionList
  ) -> String? {
    guard case .value = role else { return nil }
    let isOutside = { (name: ColumnName) in
      !sources.contains { $0.mayOwn(name) } && around.knows(name)
    }
    let looksOutside = { (tokens: ArraySlice<SQLToken>) in
      ResolvedSelect.references(in: tokens).contains(where: isOutside)
    }
    let columns = syntax.columns.map(\.text)
    let conditions =
      [syntax.predicate, syntax.having].compactMap(\.self) + sources.compactMap(\.condition)
    let conjuncts = conditions.flatMap { condition in
      let tokens = SQLTokens.tokens(of: condition)[...]
      return tokens.conjuncts.isEmpty ? [tokens] : tokens.conjuncts
    }
    let shown = "(SELECT \(columns.joined(separator: ", ")) …)"
    let others = (columns + syntax.groupBy + syntax.order).map { SQLTokens.tokens(of: $0)[...] }
    guard !others.contains(where: looksOutside) else { return nil }
    let joining = conjuncts.filter(looksOutside)
    if joining.isEmpty {
      return
        "\(shown) is one value for all records, and each new one changes them all: it may stand alongside"
    }
    guard joining.allSatisfy({ $0.withoutParentheses.comparison?.sign.isOfOrder == true }) else {
      return nil
    }
    return columns.contains(where: functions.callsAggregate)
      ? "if \(shown) counts what comes before a row, rank() OVER (ORDER BY …) says it"
      : "if \(shown) is of the row before or behind, lag() or lead() OVER (ORDER BY …) says it"
  }
}

extension String {
  /// Whether this sign says which of two values is greater.
  fileprivate var isOfOrder: Bool { ["<", "<=", ">", ">="].contains(self) }
}
