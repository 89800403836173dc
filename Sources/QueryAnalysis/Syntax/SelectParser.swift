/// Takes a SELECT apart.
///
/// SQLite has prepared the text before, so that it is right; here it only matters where its parts
/// begin.
struct SelectParser {
  private var tokens: ArraySlice<SQLToken>

  /// - Throws: ``NotIncremental``, with the name of what it does not follow.
  static func parse(_ sql: String) throws(NotIncremental) -> SelectSyntax {
    var tokens = tokens(of: sql)
    while tokens.last?.isSymbol(";") == true { tokens.removeLast() }
    var parser = SelectParser(tokens: tokens)
    let commonTables = try parser.takeWith()
    var syntax = try parser.takeSelect()
    syntax.commonTables = commonTables
    return syntax
  }

  /// The SELECTs that compound operators join to one.
  ///
  /// - Throws: ``NotIncremental``, with the name of what it does not follow.
  static func parseParts(_ sql: String) throws(NotIncremental) -> [SelectSyntax] {
    var parser = SelectParser(tokens: tokens(of: sql))
    let commonTables = try parser.takeWith()
    let isOperator = { (token: SQLToken) in
      token.depth == 0 && SelectClauses.compoundOperators.contains(where: token.isWord)
    }
    var parts: [SelectSyntax] = []
    for var part in parser.tokens.split(where: isOperator) {
      if !parts.isEmpty { _ = part.take("ALL") }
      var parser = SelectParser(tokens: part)
      var syntax = try parser.takeSelect()
      syntax.commonTables = commonTables
      parts.append(syntax)
    }
    return parts
  }

  private init(tokens: ArraySlice<SQLToken>) { self.tokens = tokens }

  // MARK: - WITH

  private mutating func takeWith() throws(NotIncremental) -> [CommonTable] {
    guard tokens.take("WITH") else { return [] }
    if tokens.take("RECURSIVE") { throw NotIncremental(reason: "it has WITH RECURSIVE") }
    var tables: [CommonTable] = []
    repeat {
      guard let name = tokens.popFirst()?.name else { throw Self.unknown(tokens) }
      let columns = tokens.takeParentheses()?.names
      guard tokens.take("AS") else { throw Self.unknown(tokens) }
      _ = tokens.take("NOT")
      _ = tokens.take("MATERIALIZED")
      guard let body = tokens.takeParentheses() else { throw Self.unknown(tokens) }
      tables.append(CommonTable(name: name, columns: columns, select: body.sourceText))
    } while tokens.takeSymbol(",")
    return tables
  }

  /// The tokens of a SELECT, or of several, as all that parses them takes them.
  static func tokens(of sql: String) -> ArraySlice<SQLToken> {
    SQLTokens.tokens(of: sql.withTablesOfInAsSelects)[...]
  }

  // MARK: - Clauses

  /// What says the same as a compound operator and is followed.
  private static func advice(on compoundOperator: String) -> String {
    switch compoundOperator {
    case "EXCEPT": ": SELECT DISTINCT … WHERE NOT EXISTS (SELECT 1 …) says the same"
    case "INTERSECT": ": SELECT DISTINCT … WHERE EXISTS (SELECT 1 …) says the same"
    default: ""
    }
  }

  private mutating func takeSelect() throws(NotIncremental) -> SelectSyntax {
    guard tokens.take("SELECT") else { throw NotIncremental(reason: "it is no plain SELECT") }
    let isDistinct = tokens.take("DISTINCT")
    _ = tokens.take("ALL")
    let clauses = SelectClauses(tokens)
    if let word = clauses.compoundOperator {
      throw NotIncremental(reason: "it joins several SELECTs with \(word)" + Self.advice(on: word))
    }
    guard let from = clauses[.from] else {
      throw NotIncremental(reason: "a SELECT reads no table: SELECT \(tokens.sourceText)")
    }
    var syntax = SelectSyntax(
      columns: Self.list(clauses[.select] ?? []).map(ResultColumn.init),
      sources: try SourceParser.parse(from))
    syntax.isDistinct = isDistinct
    syntax.predicate = clauses[.predicate]?.sourceText
    syntax.groupBy = clauses[.groupBy].map(Self.list) ?? []
    syntax.having = clauses[.having]?.sourceText
    syntax.windows = clauses[.windows].map(Self.list) ?? []
    syntax.order = clauses[.order].map(Self.list) ?? []
    syntax.limit = try clauses[.limit].map(Self.limit)
    return syntax
  }

  // MARK: - Pieces

  private static func list(_ tokens: ArraySlice<SQLToken>) -> [String] {
    tokens.members.map(\.sourceText)
  }

  /// `LIMIT n OFFSET m`, or `LIMIT m, n`.
  private static func limit(_ tokens: ArraySlice<SQLToken>) throws(NotIncremental) -> LimitSyntax {
    let byComma = list(tokens)
    if byComma.count == 2 { return LimitSyntax(limit: byComma[1], offset: byComma[0]) }
    let byWord = tokens.split { $0.isWord("OFFSET") && $0.depth == 0 }.map(\.sourceText)
    return LimitSyntax(limit: byWord[0], offset: byWord.count > 1 ? byWord[1] : nil)
  }

  private static func unknown(_ tokens: ArraySlice<SQLToken>) -> NotIncremental {
    NotIncremental(
      reason: "its WITH clause is not understood\(tokens.beginning)")
  }
}

// What a parser takes from the front of what is left.
extension ArraySlice<SQLToken> {
  mutating func take(_ word: String) -> Bool { take { $0.isWord(word) } }

  mutating func takeSymbol(_ symbol: Character) -> Bool { take { $0.isSymbol(symbol) } }

  private mutating func take(where isMeant: (SQLToken) -> Bool) -> Bool {
    guard let first, isMeant(first) else { return false }
    removeFirst()
    return true
  }

  /// The names of a list that consists of names.
  var names: [String] { split { $0.isSymbol(",") }.compactMap { $0.first?.name } }

  /// Where it stopped, for a message.
  var beginning: String { first.map { " at \($0.text)" } ?? "" }

  /// What stands between the parenthesis that comes next and the one that closes it.
  mutating func takeParentheses() -> ArraySlice<SQLToken>? {
    guard let open = first, open.isSymbol("("),
      let end = firstIndex(where: { $0.isSymbol(")") && $0.depth == open.depth })
    else { return nil }
    defer { self = self[(end + 1)...] }
    return self[(startIndex + 1)..<end]
  }
}
