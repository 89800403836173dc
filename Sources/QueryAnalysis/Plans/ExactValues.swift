// Expressions whose values cannot be equal and look different.
extension ArraySlice<SQLToken> {
  /// Whether its values look the same where they are equal under BINARY: it is never a real number,
  /// for 1.0 equals 1.
  ///
  /// Read from the expression's outermost form, so that others may be so, too.
  var isExactValue: Bool {
    let tokens = withoutParentheses
    if Array(tokens).isOneCall {
      return Self.exactFunctions.contains(tokens.first?.text.lowercased() ?? "")
    }
    if tokens.isOneCase { return tokens.results.allSatisfy { $0.isLiteral || $0.isExactValue } }
    return tokens.isExactCast || tokens.isCondition || tokens.isConcatenation
  }

  /// https://www.sqlite.org/lang_corefunc.html and https://www.sqlite.org/lang_datefunc.html
  private static let exactFunctions: Set<String> = [
    // Not "replace": where there is nothing to replace, it returns the number that it was given.
    "substr", "substring", "lower", "upper", "trim", "ltrim", "rtrim", "hex", "quote", "printf",
    "format", "char", "typeof", "date", "time", "datetime", "strftime", "length", "instr",
    "unicode", "unixepoch",
  ]

  /// Text that is a value, NULL, or an integer.
  private var isLiteral: Bool {
    guard count == 1, let first else { return false }
    return first.kind == .string || first.isWord("NULL") || first.isInteger
  }

  /// What CASE returns: https://www.sqlite.org/lang_expr.html#the_case_expression
  private var results: [ArraySlice<SQLToken>] {
    var results: [ArraySlice<SQLToken>] = []
    var (depth, start) = (0, nil as Int?)
    for (index, token) in zip(indices, self) {
      let isOwn = depth == 1
      if token.isWord("CASE") { depth += 1 }
      if token.isWord("END") { depth -= 1 }
      guard isOwn else { continue }
      if let first = start, token.isWord("WHEN") || token.isWord("ELSE") || token.isWord("END") {
        results.append(self[first..<index])
        start = nil
      }
      if token.isWord("THEN") || token.isWord("ELSE") { start = index + 1 }
    }
    return results
  }

  private var isExactCast: Bool {
    guard let type = typeOfCast, type.count == 1 else { return false }
    return ["TEXT", "INTEGER", "INT"].contains { type.first?.isWord($0) == true }
  }

  /// What stands behind AS in `CAST(… AS type)`, if that is all; nil: it is something else.
  var typeOfCast: ArraySlice<SQLToken>? {
    guard count > 4, first?.isWord("CAST") == true, let last, last.isSymbol(")"),
      !dropFirst(2).dropLast().contains(where: { $0.depth == last.depth }),
      let word = dropLast().lastIndex(where: { $0.isWord("AS") && $0.depth == last.depth + 1 })
    else { return nil }
    return self[(word + 1)..<(endIndex - 1)]
  }

  /// Whether it is 0, 1 or NULL: comparisons bind weaker than all that makes numbers.
  private var isCondition: Bool {
    let own = outermost
    let words = ["AND", "OR", "NOT", "IS", "ISNULL", "NOTNULL", "BETWEEN", "IN"]
    return !own.contains { $0.isWord("CASE") } && !own.indices.contains(where: own.isOperandNot)
      && own.indices.contains { index in
        words.contains(where: own[index].isWord) || own.isComparison(at: index)
      }
  }

  /// Whether it is a number or NULL, of whatever collation its parts are: so is what arithmetic makes, and
  /// what binds weaker.
  var isNumber: Bool {
    let tokens = withoutParentheses
    let own = tokens.outermost
    if tokens.isCondition { return true }
    return !own.contains { $0.isWord("CASE") } && own.indices.contains(where: own.isArithmetic)
  }

  /// Whether `||`, or else `|`, is its only operator.
  private var isConcatenation: Bool {
    let own = outermost
    return own.contains { $0.isSymbol("|") } && !own.contains { $0.isWord("CASE") }
      && own.allSatisfy { $0.kind != .symbol || "|.()".contains($0.text) }
  }

  private var outermost: [SQLToken] {
    let depth = first?.depth ?? 0
    return filter { $0.depth == depth }
  }
}

extension Array<SQLToken> {
  /// Whether a symbol stands between two operands that it makes a number of; `->` and `->>` are others, and
  /// a sign before an operand may leave it as it is.
  fileprivate func isArithmetic(at index: Int) -> Bool {
    guard index > 0, "+-*/%".contains(self[index].text), self[index].kind == .symbol,
      index + 1 < count, !self[index + 1].isSymbol(">")
    else { return false }
    let before = self[index - 1]
    switch before.kind {
    case .symbol: return before.isSymbol(")")
    case .word: return !before.isKeyword
    case .quotedName, .string, .number, .parameter: return true
    }
  }

  /// Whether this is a NOT behind an operator that binds stronger: `1.5 + NOT 0` is 2.5.
  fileprivate func isOperandNot(at index: Int) -> Bool {
    guard self[index].isWord("NOT"), index > 0 else { return false }
    let before = self[index - 1]
    return before.kind == .symbol && !before.isSymbol(")")
  }

  /// Whether a symbol is, or is part of, an operator that compares; `<<`, `>>`, `->` and `->>` are others.
  fileprivate func isComparison(at index: Int) -> Bool {
    let token = self[index]
    let before = index > 0 ? self[index - 1] : nil
    let after = index + 1 < count ? self[index + 1] : nil
    if token.isSymbol("<") { return ![before, after].contains { $0?.isSymbol("<") == true } }
    if token.isSymbol(">") {
      return
        !(before.map { $0.isSymbol(">") || $0.isSymbol("-") } == true
        || after?.isSymbol(">") == true)
    }
    return token.isSymbol("=")
  }
}
