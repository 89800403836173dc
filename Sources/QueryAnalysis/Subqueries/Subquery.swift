/// A SELECT in parentheses that is part of an expression: https://www.sqlite.org/lang_expr.html
struct Subquery {
  enum Role {
    /// The value of its first row.
    case value
    /// `EXISTS (SELECT …)`
    case existence
    /// `operand IN (SELECT …)`; nil: where the operand begins is not certain.
    case membership(operand: ArraySlice<SQLToken>?)

    /// Whether it matters which values its rows have, and not only whether there are any.
    var isOfValues: Bool { if case .existence = self { false } else { true } }
  }

  let role: Role
  /// What stands between its parentheses.
  let body: ArraySlice<SQLToken>
  /// Whether NULL is as good as false for it, where its expression is a condition.
  let isPlainCondition: Bool

  /// The outermost subqueries of an expression. O(t · d), t tokens in d parentheses.
  static func all(in expression: String) -> [Subquery] {
    let tokens = SQLTokens.tokens(of: expression)[...]
    var found: [Subquery] = []
    var index = tokens.startIndex
    while index < tokens.endIndex {
      guard let end = tokens.endOfSubquery(at: index) else {
        index += 1
        continue
      }
      found.append(Subquery(tokens, index, end))
      index = end + 1
    }
    return found
  }

  /// Where its WHERE stands in the expression that it was found in, or would stand.
  ///
  /// - Parameter isOfInner: whether the WHERE is that of the SELECT that is all of its FROM.
  /// - Returns: the place, and what has to be written before it; nil: there is none.
  func placeOfPredicate(
    isOfInner: Bool
  ) -> (start: String.Index, end: String.Index, keyword: String)? {
    var clauses = SelectClauses(body.atDepthZero[...])
    if isOfInner {
      guard let from = clauses[.from], let open = from.firstIndex(where: { $0.isSymbol("(") }),
        let close = from[open...].firstIndex(where: {
          $0.isSymbol(")") && $0.depth == from[open].depth
        })
      else { return nil }
      clauses = SelectClauses(from[(open + 1)..<close].atDepthZero[...])
    }
    if let predicate = clauses[.predicate], let first = predicate.first, let last = predicate.last {
      return (first.text.startIndex, last.text.endIndex, "")
    }
    return clauses[.from]?.last.map { ($0.text.endIndex, $0.text.endIndex, "\nWHERE ") }
  }

  private init(_ tokens: ArraySlice<SQLToken>, _ open: Int, _ close: Int) {
    body = tokens[(open + 1)..<close]
    let before = tokens[..<open].last
    guard before?.isWord("IN") == true else {
      role = before?.isWord("EXISTS") == true ? .existence : .value
      isPlainCondition = false
      return
    }
    let isNegated = open - 2 >= tokens.startIndex && tokens[open - 2].isWord("NOT")
    let operand = tokens.operand(before: open - (isNegated ? 2 : 1))
    role = .membership(operand: operand)
    isPlainCondition =
      !isNegated && operand.map { tokens.isPlainCondition($0.startIndex...close) } == true
  }
}

extension ArraySlice<SQLToken> {
  /// The parenthesis that closes the subquery that begins here, if one does.
  func endOfSubquery(at index: Int) -> Int? {
    guard self[index].isSymbol("("), index + 1 < endIndex,
      ["SELECT", "WITH", "VALUES"].contains(where: self[index + 1].isWord)
    else { return nil }
    return self[index...].firstIndex { $0.isSymbol(")") && $0.depth == self[index].depth }
  }

  /// The tokens as if the parentheses around them were not there.
  var atDepthZero: [SQLToken] {
    guard let depth = first?.depth else { return [] }
    return map { SQLToken(kind: $0.kind, text: $0.text, depth: $0.depth - depth) }
  }

  /// The tokens without what stands between the parentheses of subqueries.
  var withoutSubqueries: [SQLToken] {
    var rest: [SQLToken] = []
    var index = startIndex
    while index < endIndex {
      rest.append(self[index])
      index = endOfSubquery(at: index) ?? index + 1
    }
    return rest
  }

  /// The operand that ends before an operator, where it is a column, a literal, a parameter, a call
  /// or something in parentheses, and nothing else can belong to it.
  func operand(before end: Int) -> ArraySlice<SQLToken>? {
    guard let last = self[..<end].last else { return nil }
    var start = end - 1
    if last.isSymbol(")") {
      guard
        let open = self[..<start].lastIndex(where: { $0.depth == last.depth && $0.isSymbol("(") })
      else { return nil }
      start = open
      if let name = self[..<open].last, name.name != nil, !name.beginsOperand { start -= 1 }
    } else if last.name != nil {
      if self[..<start].last?.isSymbol(".") == true { start -= 2 }
    } else if last.kind == .symbol {
      return nil
    }
    guard start >= startIndex, isBoundary(before: start), !group(of: start).hasOwnAnd else {
      return nil
    }
    return self[start..<end]
  }

  /// Whether an operand may begin here.
  private func isBoundary(before index: Int) -> Bool {
    guard let before = self[..<index].last else { return true }
    if before.isWord("NOT") { return index - 2 < startIndex || !self[index - 2].isWord("IS") }
    return before.isSymbol("(") || before.isSymbol(",") || before.beginsOperand
  }

  /// Whether only AND, OR and parentheses stand around these tokens.
  fileprivate func isPlainCondition(_ range: ClosedRange<Int>) -> Bool {
    var (first, last) = (range.lowerBound, range.upperBound)
    while true {
      let group = group(of: first)
      let before = self[group.startIndex..<first].last
      let after = self[(last + 1)..<group.endIndex].first
      let isJoined = [before, after].compactMap(\.self).allSatisfy {
        $0.isWord("AND") || $0.isWord("OR")
      }
      if !isJoined || group.hasOwnAnd { return false }
      if group.startIndex == startIndex { return group.endIndex == endIndex }
      (first, last) = (group.startIndex - 1, group.endIndex)
    }
  }

  /// What stands in the innermost parentheses around a token.
  private func group(of index: Int) -> ArraySlice<SQLToken> {
    let depth = self[index].depth
    let open = self[..<index].lastIndex { $0.isSymbol("(") && $0.depth < depth }
    let close = self[index...].firstIndex { $0.isSymbol(")") && $0.depth < depth }
    return self[(open.map { $0 + 1 } ?? startIndex)..<(close ?? endIndex)]
  }

  /// Whether AND may mean something else here than that both conditions hold, or a comma stands here.
  private var hasOwnAnd: Bool {
    guard let depth = first?.depth else { return false }
    return contains {
      $0.depth == depth && ($0.isWord("BETWEEN") || $0.isWord("CASE") || $0.isSymbol(","))
    }
  }
}

extension SQLToken {
  /// Whether this is a keyword behind which an operand begins.
  fileprivate var beginsOperand: Bool {
    ["AND", "OR", "NOT", "WHEN", "THEN", "ELSE"].contains(where: isWord)
  }
}
