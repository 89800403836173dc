/// A SELECT cut by the keywords that begin its clauses, outside of parentheses.
///
/// FROM, WHERE, GROUP, HAVING, ORDER, LIMIT and the compound operators are reserved words, which no
/// name can be without quotes: https://www.sqlite.org/lang_keywords.html
struct SelectClauses {
  enum Clause {
    case select, from, predicate, groupBy, having, windows, order, limit
  }

  static let compoundOperators = ["UNION", "INTERSECT", "EXCEPT"]

  /// An operator that joins several SELECTs to one statement; nil: it is one SELECT.
  let compoundOperator: String?
  private var clauses: [Clause: ArraySlice<SQLToken>] = [:]

  /// The tokens of a clause without the keywords that begin it; in a compound statement, those of
  /// its last one.
  subscript(clause: Clause) -> ArraySlice<SQLToken>? { clauses[clause] }

  /// O(t), t tokens. What stands before FROM is in the clause SELECT, with the keyword if it is there.
  init(_ tokens: ArraySlice<SQLToken>) {
    let outer = tokens.indices.filter { tokens[$0].depth == 0 }
    compoundOperator = Self.compoundOperators.first { word in
      outer.contains { tokens[$0].isWord(word) }
    }
    var clause = Clause.select
    var start = tokens.startIndex
    for index in outer {
      guard let (next, length) = Self.clause(in: tokens, at: index) else { continue }
      clauses[clause] = tokens[start..<index]
      (clause, start) = (next, index + length)
    }
    clauses[clause] = tokens[min(start, tokens.endIndex)...]
  }

  /// The clause that begins with a token, and how many words that takes.
  private static func clause(
    in tokens: ArraySlice<SQLToken>, at index: Int
  ) -> (clause: Clause, length: Int)? {
    let token = tokens[index]
    let isBy = index + 1 < tokens.endIndex && tokens[index + 1].isWord("BY")
    // `a IS DISTINCT FROM b` is an operator: https://www.sqlite.org/lang_expr.html
    let isOperator = index > tokens.startIndex && tokens[index - 1].isWord("DISTINCT")
    if token.isWord("FROM"), !isOperator { return (.from, 1) }
    if token.isWord("WHERE") { return (.predicate, 1) }
    if token.isWord("GROUP"), isBy { return (.groupBy, 2) }
    if token.isWord("HAVING") { return (.having, 1) }
    // WINDOW may be a name, too.
    if token.isWord("WINDOW"), index + 2 < tokens.endIndex, tokens[index + 2].isWord("AS") {
      return (.windows, 1)
    }
    if token.isWord("ORDER"), isBy { return (.order, 2) }
    if token.isWord("LIMIT") { return (.limit, 1) }
    return nil
  }
}

extension ArraySlice<SQLToken> {
  /// The members of a list, between the commas outside of parentheses.
  var members: [ArraySlice<SQLToken>] { split { $0.isSymbol(",") && $0.depth == 0 } }

  /// The conditions that AND joins outside of parentheses, each of which a row must fulfil; none
  /// where that is not certain.
  var conjuncts: [ArraySlice<SQLToken>] {
    // OR binds weaker than AND; BETWEEN has an AND of its own, and CASE has conditions of its own.
    let others = ["OR", "BETWEEN", "CASE"]
    if contains(where: { $0.depth == 0 && others.contains(where: $0.isWord) }) { return [] }
    return split { $0.depth == 0 && $0.isWord("AND") }
  }

  /// The sides of a comparison, and what stands between them; nil: it is something else, or several.
  var comparison: (left: SubSequence, sign: String, right: SubSequence)? {
    let isSign = { (token: SQLToken) in token.kind == .symbol && "=<>!".contains(token.text) }
    guard let start = firstIndex(where: isSign), start > startIndex else { return nil }
    let right = self[start...].drop(while: isSign)
    guard !right.isEmpty, !right.contains(where: isSign) else { return nil }
    return (self[..<start], self[start..<right.startIndex].map(\.text).joined(), right)
  }

  /// The column that must equal one number, text or parameter here; nil: it is another condition.
  var columnOfOneValue: (column: SubSequence, value: SQLToken)? {
    guard let (left, sign, right) = withoutParentheses.comparison, ["=", "=="].contains(sign)
    else { return nil }
    let (column, value) = left.columnName == nil ? (right, left) : (left, right)
    let kinds = [SQLToken.Kind.number, .string, .parameter]
    guard column.columnName != nil, value.count == 1, let token = value.first,
      kinds.contains(token.kind)
    else { return nil }
    return (column, token)
  }

  /// Whether this is a comparison of columns or values, which nothing fulfils that is NULL.
  var rejectsNull: Bool {
    guard let (left, _, right) = comparison else { return false }
    return [left, right].allSatisfy { side in
      side.columnName != nil
        || side.count == 1 && side.first.map { $0.kind != .symbol } == true
    }
  }
}
