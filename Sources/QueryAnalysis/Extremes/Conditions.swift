extension SelectSyntax {
  /// The conditions of WHERE that AND joins.
  var conditions: [ArraySlice<SQLToken>] { predicate?.conditions ?? [] }

  func leavingOutCondition(_ place: Int) -> SelectSyntax {
    var copy = self
    var rest = conditions
    rest.remove(at: place)
    copy.predicate = rest.isEmpty ? nil : rest.joinedByAnd
    return copy
  }

  /// The same without a source that is no LEFT JOIN, and all conditions that its rows and those of the query fulfil.
  func leavingOutSource(
    _ index: Int
  ) -> (rest: SelectSyntax, conditions: [ArraySlice<SQLToken>]) {
    var copy = self
    var conditions = conditions
    for number in index == 0 ? [0, 1] : [index] {
      guard case .on(let condition) = sources[number].constraint else { continue }
      conditions += condition.conditions
      copy.sources[number].constraint = .none
    }
    copy.sources.remove(at: index)
    copy.predicate = nil
    return (copy, conditions)
  }
}

extension String {
  /// The conditions that AND joins, or this as one.
  var conditions: [ArraySlice<SQLToken>] {
    let tokens = SQLTokens.tokens(of: self)[...]
    return tokens.conjuncts.isEmpty ? [tokens] : tokens.conjuncts
  }

  /// `max` or `min`, and what it is called with, where this is nothing else and aggregates rows.
  var extremeOfRows: (function: String, argument: String)? {
    let tokens = SQLTokens.tokens(of: self)[...].withoutParentheses
    guard let name = tokens.first, name.isWord("max") || name.isWord("min") else { return nil }
    let arguments = tokens.dropFirst()
    let argument = arguments.withoutParentheses
    guard argument.count < arguments.count, !argument.contains(where: { $0.isSymbol(",") }),
      argument.first?.isWord("DISTINCT") == false
    else { return nil }
    return (String(name.text), argument.sourceText)
  }
}

extension [ArraySlice<SQLToken>] {
  /// All of these conditions.
  var joinedByAnd: String {
    map { condition in
      let hasOr = condition.contains { $0.depth == condition.first?.depth && $0.isWord("OR") }
      return hasOr ? condition.sourceText.parenthesized : condition.sourceText
    }.joined(separator: "\nAND ")
  }
}

extension ArraySlice<SQLToken> {
  /// What stands on both sides of `=`, outside of parentheses.
  var equalSides: (left: SubSequence, right: SubSequence)? {
    guard let (left, right) = sides(where: { $0.isSymbol("=") }) else { return nil }
    return (left, right.first?.isSymbol("=") == true ? right.dropFirst() : right)
  }

  /// What stands on both sides of a sign outside of parentheses.
  func sides(
    where isSign: (SQLToken) -> Bool
  ) -> (left: SubSequence, right: SubSequence)? {
    let tokens = withoutParentheses
    let depth = tokens.first?.depth
    guard let place = tokens.firstIndex(where: { $0.depth == depth && isSign($0) }) else {
      return nil
    }
    return (tokens[..<place], tokens[(place + 1)...])
  }

  /// The columns of which this says that they are equal, in both orders.
  var equalColumns: [(ColumnName, ColumnName)] {
    guard let (left, right) = equalSides, let first = left.columnName,
      let second = right.columnName
    else { return [] }
    return [(first, second), (second, first)]
  }
}

extension ColumnName {
  var written: String {
    [qualifier, name].compactMap { $0?.quotedIdentifier }.joined(separator: ".")
  }
}
