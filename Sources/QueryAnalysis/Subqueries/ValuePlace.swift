import GRDB

/// Where a subquery stands that is one value, or a list.
struct ValuePlace {
  enum Kind {
    case value, existence
    /// What is looked for in it, where that is a column.
    case list(ColumnName?)
  }

  /// With its parentheses, and with EXISTS.
  let tokens: ClosedRange<Int>
  let kind: Kind

  /// Those of a text, those within others behind these. O(t · d), t tokens in d parentheses.
  ///
  /// A recursive WITH is none that is followed: what stands in it, stays there.
  static func all(
    in tokens: ArraySlice<SQLToken>, behind with: WithClause?
  ) -> [ValuePlace] {
    let start = with.map { $0.isRecursive ? $0.end : 0 } ?? 0
    return tokens.indices.dropFirst(start).compactMap { index in
      guard let end = tokens.endOfSubquery(at: index) else { return nil }
      if tokens[..<index].last?.isWord("EXISTS") == true {
        return ValuePlace(tokens: index - 1...end, kind: .existence)
      }
      if tokens[..<index].last?.isWord("IN") == true {
        let isNegated = tokens[..<(index - 1)].last?.isWord("NOT") == true
        let column = tokens[..<(index - (isNegated ? 2 : 1))].lastColumn
        return ValuePlace(tokens: index...end, kind: .list(column))
      }
      return tokens.isValue(at: index) ? ValuePlace(tokens: index...end, kind: .value) : nil
    }
  }

  var isExistence: Bool { if case .existence = kind { true } else { false } }

  func text(in all: ArraySlice<SQLToken>) -> String { all[tokens].sourceText }

  /// What stands between the parentheses.
  func body(in all: ArraySlice<SQLToken>) -> ArraySlice<SQLToken> {
    all[tokens].dropFirst(isExistence ? 2 : 1).dropLast()
  }

  /// The beginning of it, for a person.
  func shown(in all: ArraySlice<SQLToken>) -> String {
    let body = body(in: all)
    guard body.first?.isWord("SELECT") == true else {
      return (isExistence ? "EXISTS " : "") + "(\(body.first?.text ?? "") …)"
    }
    let columns = SelectClauses(body.atDepthZero[...])[.select]?.dropFirst().sourceText
    return (isExistence ? "EXISTS " : "") + "(SELECT \(columns.map { "\($0) " } ?? "")…)"
  }

  /// The tables of a WITH around it that it names, or may name.
  func tablesOfWith(_ all: ArraySlice<SQLToken>) -> [String] {
    let names =
      all[..<tokens.lowerBound].namesOfCommonTables
      + all[(tokens.upperBound + 1)...].namesOfCommonTables
    let words = body(in: all).compactMap(\.nameOrText)
    return names.filter { name in words.contains(where: name.isSameIdentifier) }
  }

  /// Whether it may be compared with a column of texts, if it is known which names are of no such column, nor may AS or a
  /// WITH have given them to something else.
  func mayMeetText(in all: ArraySlice<SQLToken>, _ isNeverText: (String) -> Bool) -> Bool {
    let isEnd = { (index: Int) in
      all.endsExpression(at: index, ofDepth: all[tokens.lowerBound].depth)
    }
    let start = (all.startIndex..<tokens.lowerBound).last(where: isEnd).map { $0 + 1 }
    let end = (tokens.upperBound + 1..<all.endIndex).first(where: isEnd)
    let before = all[(start ?? all.startIndex)..<tokens.lowerBound]
    let behind = all[(tokens.upperBound + 1)..<(end ?? all.endIndex)]
    if before.last?.isWord("CASE") == true { return true }
    let isFirst = before.allSatisfy { $0.isWord("DISTINCT") || $0.isWord("ALL") }
    if isFirst, behind.isEmpty || behind.isAlias {
      // All of an expression, which may have a name that another one uses.
      guard let opening = start.map({ all[$0 - 1] }) else { return true }
      // What it is compared with stands beyond that then.
      if opening.isWord("SELECT") || opening.isSymbol(",") && all.isInList(at: tokens.lowerBound) {
        return all.mayCompareColumn(named: behind.last?.name, at: tokens.lowerBound)
      }
      return opening.isSymbol("(") || opening.isSymbol(",") || opening.isWord("WHEN")
        || opening.isWord("AND") && all.contains { $0.isWord("BETWEEN") }
    }
    let others = before + behind
    let compares = others.contains {
      $0.kind == .symbol && "=<>".contains($0.text) || Self.comparing.contains(where: $0.isWord)
    }
    return compares
      && others.contains { token in
        guard let name = token.name, !token.isKeyword || token.isWord("CAST") else { return false }
        return !isNeverText(name)
      }
  }

  private static let comparing = ["IS", "IN", "BETWEEN"]
}

extension ArraySlice<SQLToken> {
  /// What stands around a subquery, without the WITH that it reads alone.
  func around(_ place: ValuePlace, _ with: WithClause?) -> [SubSequence] {
    var before = self[..<place.tokens.lowerBound]
    let behind = self[(place.tokens.upperBound + 1)...]
    if let with, place.tokens.lowerBound >= with.end {
      let rest = before[with.end...]
      if !with.isRead(by: rest), !with.isRead(by: behind) { before = rest }
    }
    return [before, behind]
  }

  /// The names, in small letters, that may be those of other columns than tables have: AS gives them, or a WITH; nil: a
  /// function's columns have names of their own.
  var givenNames: Set<String>? {
    if contains(where: { token in ["json_each", "json_tree"].contains(where: token.isWord) }) {
      return nil
    }
    let given = indices.dropFirst().filter { index in
      let before = self[index - 1]
      let endsExpression =
        before.isSymbol(")") || [.number, .string, .parameter, .quotedName].contains(before.kind)
        || before.kind == .word && !before.isKeyword || before.isWord("END")
      return endsExpression || before.isWord("AS")
    }
    let names = given.compactMap { self[$0].name } + commonTables.flatMap(\.columns)
    return Set(names.map { $0.lowercased() })
  }

  /// The column that ends here, where nothing else belongs to it.
  fileprivate var lastColumn: ColumnName? {
    let isQualified = dropLast().last?.isSymbol(".") == true
    let column = suffix(isQualified ? 3 : 1)
    guard let before = self[..<column.startIndex].last else { return column.columnName }
    let begins =
      before.isSymbol("(") || before.isSymbol(",") || Self.openings.contains(where: before.isWord)
      || before.isWord("AND") && !contains { $0.isWord("BETWEEN") }
    return begins ? column.columnName : nil
  }

  private static var openings: [String] {
    ["SELECT", "WHERE", "OR", "NOT", "ON", "HAVING", "BY", "WHEN", "THEN", "ELSE"]
  }

  /// Whether a parenthesis begins a value, and not a list, a table of FROM or one of WITH.
  fileprivate func isValue(at index: Int) -> Bool {
    guard let before = self[..<index].last else { return true }
    // `a IS DISTINCT FROM (SELECT …)`
    if before.isWord("FROM") { return self[..<(index - 1)].last?.isWord("DISTINCT") == true }
    if ["JOIN", "AS", "MATERIALIZED"].contains(where: before.isWord) { return false }
    guard before.isSymbol(",") else { return true }
    let depth = self[index].depth
    let opening = self[..<index].lastIndex { $0.depth < depth } ?? startIndex
    let clause = self[opening..<index].last { token in
      token.depth == depth && Self.clauses.contains(where: token.isWord)
    }
    return clause.map { token in !["FROM", "JOIN", "ON", "USING"].contains(where: token.isWord) }
      ?? true
  }

  private static var clauses: [String] {
    ["SELECT", "FROM", "JOIN", "ON", "USING", "WHERE", "BY", "HAVING", "LIMIT", "VALUES"]
  }

  /// Whether no expression that is in so many parentheses goes beyond a token.
  fileprivate func endsExpression(at index: Int, ofDepth depth: Int) -> Bool {
    let token = self[index]
    if token.depth != depth { return token.depth < depth }
    if token.isWord("FROM") { return self[..<index].last?.isWord("DISTINCT") != true }
    return token.isSymbol(",") || Self.ends.contains(where: token.isWord)
  }

  private static var ends: [String] {
    [
      "AND", "OR", "SELECT", "WHERE", "GROUP", "BY", "HAVING", "WINDOW", "ORDER", "LIMIT", "ON",
      "WHEN", "THEN", "ELSE", "END", "UNION", "EXCEPT", "INTERSECT",
    ]
  }

  /// Whether these are a name, with or without AS.
  fileprivate var isAlias: Bool {
    last?.name != nil && (count == 1 || count == 2 && first?.isWord("AS") == true)
  }

  /// Whether a token is in a list of columns or of terms, and in no parentheses within that.
  fileprivate func isInList(at index: Int) -> Bool {
    let depth = self[index].depth
    guard let opening = self[..<index].lastIndex(where: { $0.depth < depth }) else { return true }
    return ["SELECT", "WITH"].contains { self[(opening + 1)...].first?.isWord($0) == true }
  }

  /// Whether something may be compared with a column that a SELECT shows at a place.
  fileprivate func mayCompareColumn(named name: String?, at index: Int) -> Bool {
    if self[index].depth > 0 { return true }
    return name.map { name in
      count { $0.name?.isSameIdentifier(as: name) == true } > 1
    } ?? false
  }

  var namesOfCommonTables: [String] { commonTables.map(\.name) }

  /// What stands before `AS (SELECT …)`: the names of tables, and of the columns behind these.
  private var commonTables: [(name: String, columns: [String])] {
    indices.compactMap { index in
      guard endOfSubquery(at: index) != nil else { return nil }
      var before = self[..<index]
      for word in ["MATERIALIZED", "NOT"] where before.last?.isWord(word) == true {
        before.removeLast()
      }
      guard before.popLast()?.isWord("AS") == true else { return nil }
      var columns: [String] = []
      if let last = before.last, last.isSymbol(")"),
        let open = before.lastIndex(where: { $0.isSymbol("(") && $0.depth == last.depth })
      {
        columns = before[open...].compactMap(\.nameOrText)
        before = before[..<open]
      }
      return before.last?.nameOrText.map { ($0, columns) }
    }
  }
}
