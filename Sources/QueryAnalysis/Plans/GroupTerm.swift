/// A term of GROUP BY, as an expression over FROM.
struct GroupTerm: Equatable {
  let expression: String
  /// The column that it is; nil: it is more than a column.
  let origin: BaseColumn?
  /// The tables that it looks at, also by what a table-valued function is called with.
  let tables: Set<Int>
  /// Whether there may be several values for one row of each table.
  let looksAtFunction: Bool

  init(_ expression: String, in select: ResolvedSelect) {
    self.expression = expression
    origin = select.origin(of: expression)
    let sources = select.sources(in: expression, allowingAliases: false)
    tables = origin.map { [$0.table] } ?? select.tables(behind: sources)
    looksAtFunction = origin == nil && sources.contains { !select.sources[$0].functionIDs.isEmpty }
  }

  /// Whether both are the same column, or are written with the same words.
  static func == (left: GroupTerm, right: GroupTerm) -> Bool {
    left.origin == right.origin
      && (left.origin != nil || left.words == right.words)
  }

  private var words: [String] {
    SQLTokens.tokens(of: expression)[...].withoutParentheses.map(\.folded)
  }

  /// These tokens without those that are this term, which has one value in a group.
  func removed(from tokens: ArraySlice<SQLToken>) -> ArraySlice<SQLToken> {
    var rest: [SQLToken] = []
    var index = tokens.startIndex
    while index < tokens.endIndex {
      if let length = length(at: index, in: tokens) {
        index += length
      } else {
        rest.append(tokens[index])
        index += 1
      }
    }
    return rest[...]
  }

  /// How many tokens, from one on, are this term as it is written; nil: they are not.
  func length(at index: Int, in tokens: ArraySlice<SQLToken>) -> Int? {
    let own = SQLTokens.tokens(of: expression)[...].withoutParentheses
    let end = index + own.count
    guard end <= tokens.endIndex,
      zip(tokens[index..<end], own).allSatisfy({ $0.folded == $1.folded }),
      own.isOneOperand && !Self.isName(before: index, tokens) || Self.isAlone(index..<end, tokens)
    else { return nil }
    return own.count
  }

  /// Whether a token belongs to the name that ends before it.
  private static func isName(before index: Int, _ tokens: ArraySlice<SQLToken>) -> Bool {
    tokens[..<index].last?.isSymbol(".") == true
  }

  /// Whether no operator can take a part of these tokens for its own.
  private static func isAlone(_ range: Range<Int>, _ tokens: ArraySlice<SQLToken>) -> Bool {
    let before = tokens[..<range.lowerBound].last
    let after = tokens[range.upperBound...].first
    return before.map { $0.isSymbol("(") || $0.isSymbol(",") } != false
      && after.map { $0.isSymbol(")") || $0.isSymbol(",") } != false
  }
}

extension ArraySlice<SQLToken> {
  /// Whether this is a call or CASE … END, which operators around it leave together.
  fileprivate var isOneOperand: Bool { Array(self).isOneCall || isOneCase }

  /// Whether this is CASE … END, and nothing else.
  var isOneCase: Bool {
    guard first?.isWord("CASE") == true else { return false }
    var depth = 0
    for (index, token) in zip(indices, self) {
      if token.isWord("CASE") { depth += 1 }
      if token.isWord("END") { depth -= 1 }
      if depth == 0 { return index == endIndex - 1 }
    }
    return false
  }
}
