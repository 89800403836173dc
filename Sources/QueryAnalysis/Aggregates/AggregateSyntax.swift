/// A statement that aggregates rows to one value, taken apart.
struct AggregateSyntax {
  struct Call {
    let function: Aggregate.Function
    /// The expression over a row that it is of; nil: the row itself.
    let argument: String?
    /// Whether equal values count once.
    var isDistinct = false

    /// `min` and `max` are found at the ends of an order.
    /// Whether it is found among rows in the order of its argument: so are, among the rows of groups, values that
    /// count once, of which equal ones stand side by side.
    func needsOrder(in groups: Bool) -> Bool {
      function.isExtreme || isDistinct && groups
    }
  }

  /// What stands before SELECT, and from FROM on.
  let prefix: String
  let suffix: String
  let calls: [Call]
  /// The expression with a `?` for each call; nil: it is nothing but a call.
  let expression: String?

  /// The columns of a SELECT, each in a statement of its own; none where it aggregates nothing, or
  /// groups, or is one of several.
  static func columns(of sql: String, _ functions: FunctionList) -> [String] {
    let tokens = SQLTokens.tokens(of: sql)
    guard let select = tokens.firstIndex(where: { $0.depth == 0 && $0.isWord("SELECT") }) else {
      return []
    }
    let clauses = SelectClauses(tokens[(select + 1)...])
    let items = clauses[.select]?.members ?? []
    let expressions = items.map { ResultColumn($0.sourceText).expression }
    guard clauses.compoundOperator == nil, clauses[.groupBy] == nil,
      let from = clauses[.from], let first = from.first,
      expressions.contains(where: functions.callsAggregate)
    else { return [] }
    let prefix = sql[..<tokens[select].text.startIndex]
    let suffix = sql[first.text.startIndex...]
    return expressions.map { "\(prefix)SELECT \($0)\nFROM \(suffix)" }
  }

  /// - Throws: ``NotIncremental`` where it is more than aggregates of rows.
  init(_ sql: String, _ functions: FunctionList) throws(NotIncremental) {
    let tokens = SQLTokens.tokens(of: sql)
    guard let select = tokens.firstIndex(where: { $0.depth == 0 && $0.isWord("SELECT") }) else {
      throw NotIncremental(reason: "it is no plain SELECT")
    }
    let clauses = SelectClauses(tokens[(select + 1)...])
    for (isThere, clause) in [
      (clauses.compoundOperator != nil, "a compound operator"),
      (clauses[.windows] != nil, "WINDOW"), (clauses[.groupBy] != nil, "GROUP BY"),
      (clauses[.having] != nil, "HAVING"),
      (clauses[.order] != nil, "ORDER BY"), (clauses[.limit] != nil, "LIMIT"),
    ] where isThere {
      throw NotIncremental(reason: "it has \(clause)")
    }
    guard let list = clauses[.select], let from = clauses[.from], !from.isEmpty else {
      throw NotIncremental(reason: "it reads no table")
    }
    if let first = list.first, first.isWord("DISTINCT") || first.isWord("ALL") {
      throw NotIncremental(reason: "it has \(first.text)")
    }
    prefix = String(sql[..<tokens[select].text.startIndex])
    // The word FROM stands before what it is of.
    suffix = tokens[(from.startIndex - 1)...].sourceText
    (calls, expression) = try Self.calls(in: ResultColumn(list.sourceText).expression, functions)
  }

  /// The calls of aggregates in an expression, and what is left of it.
  private static func calls(
    in expression: String, _ functions: FunctionList
  ) throws(NotIncremental) -> ([Call], String?) {
    do {
      try functions.check(expression, allowingAggregates: true)
    } catch {
      throw NotIncremental(reason: error.description)
    }
    var rest = SQLTokens.tokens(of: expression)[...]
    var calls: [Call] = []
    var (text, end) = ("", expression.startIndex)
    while let token = rest.first {
      guard let function = functions.aggregate(calledBy: rest) else {
        // In double quotation marks it would become text where there are no columns.
        if token.kind == .quotedName {
          throw NotIncremental(reason: "\(token.text) stands outside of its aggregates")
        }
        rest.removeFirst()
        continue
      }
      rest.removeFirst()
      let arguments = rest.takeParentheses() ?? []
      calls.append(takeCall(function, arguments, &rest))
      text += expression[end..<token.text.startIndex] + "? "
      end = rest.first?.text.startIndex ?? expression.endIndex
    }
    if calls.isEmpty { throw NotIncremental(reason: "it aggregates nothing") }
    text += expression[end...]
    let isOnlyCall = SQLTokens.tokens(of: text).map(\.text) == ["?"]
    return (calls, isOnlyCall ? nil : text)
  }

  private static func takeCall(
    _ function: Aggregate.Function, _ arguments: ArraySlice<SQLToken>,
    _ rest: inout ArraySlice<SQLToken>
  ) -> Call {
    var arguments = arguments
    let isDistinct = arguments.take("DISTINCT") && !function.isExtreme
    let isOfRows = arguments.allSatisfy { $0.isSymbol("*") }
    var argument = isOfRows ? nil : arguments.sourceText
    if rest.take("FILTER"), var condition = rest.takeParentheses(), condition.take("WHERE") {
      // NULL is aggregated by none of them.
      let value = (argument ?? "1").parenthesized
      argument = "CASE WHEN \(condition.sourceText.parenthesized) THEN \(value) END"
    }
    return Call(function: function, argument: argument, isDistinct: isDistinct)
  }
}
