/// Takes FROM apart: https://www.sqlite.org/syntax/join-clause.html
struct SourceParser {
  private var tokens: ArraySlice<SQLToken>

  static func parse(_ tokens: ArraySlice<SQLToken>) throws(NotIncremental) -> [SourceSyntax] {
    var parser = SourceParser(tokens: tokens)
    var sources = [try parser.takeSource()]
    while !parser.tokens.isEmpty {
      let join = try parser.takeJoin()
      var source = try parser.takeSource()
      source.isLeftJoined = join.keeps == .left
      source.isFullJoined = join.keeps == .both
      source.isNatural = join.isNatural
      source.isCrossJoined = join.isCross
      source.constraint = try parser.takeConstraint()
      sources.append(source)
      if join.keeps == .right { try sources.joinLeft() }
    }
    try sources.checkNames()
    return sources
  }

  private init(tokens: ArraySlice<SQLToken>) { self.tokens = tokens }

  /// Whose rows an outer join keeps where nothing matches.
  private enum Side {
    case left, right, both
  }

  private mutating func takeJoin() throws(NotIncremental) -> (
    keeps: Side?, isNatural: Bool, isCross: Bool
  ) {
    if tokens.takeSymbol(",") { return (nil, false, false) }
    let isNatural = tokens.take("NATURAL")
    let side: Side? =
      tokens.take("LEFT")
      ? .left : tokens.take("RIGHT") ? .right : tokens.take("FULL") ? .both : nil
    let isCross = side == nil && tokens.take("CROSS")
    if !isCross { _ = tokens.take(side == nil ? "INNER" : "OUTER") }
    guard tokens.take("JOIN") else { throw unknown }
    return (side, isNatural, isCross)
  }

  private mutating func takeSource() throws(NotIncremental) -> SourceSyntax {
    let origin: SourceSyntax.Origin
    if let body = tokens.takeParentheses() {
      guard let first = body.first, first.isWord("SELECT") || first.isWord("WITH") else {
        throw NotIncremental(reason: "FROM has parentheses around something else than a SELECT")
      }
      origin = .select(body.sourceText)
    } else {
      origin = try takeTable()
    }
    let alias = try takeAlias()
    if tokens.first?.isWord("INDEXED") == true || tokens.first?.isWord("NOT") == true {
      throw NotIncremental(reason: "it prescribes an index")
    }
    return SourceSyntax(origin: origin, alias: alias)
  }

  private mutating func takeTable() throws(NotIncremental) -> SourceSyntax.Origin {
    guard let first = tokens.popFirst()?.name else { throw unknown }
    var names = [first]
    if tokens.first?.isSymbol(".") == true {
      guard let name = tokens.dropFirst().first?.name else { throw unknown }
      names.append(name)
      tokens.removeFirst(2)
    }
    if names.count == 1, let arguments = tokens.takeParentheses() {
      return .function(name: first, arguments: arguments.sourceText)
    }
    return .table(schema: names.count > 1 ? names[0] : nil, name: names[names.count - 1])
  }

  private mutating func takeAlias() throws(NotIncremental) -> String? {
    if tokens.take("AS") {
      guard let name = tokens.popFirst()?.name else { throw unknown }
      return name
    }
    guard let next = tokens.first, let name = next.name, !isJoinWord(next) else { return nil }
    tokens.removeFirst()
    return name
  }

  private mutating func takeConstraint() throws(NotIncremental) -> SourceSyntax.Constraint {
    if tokens.take("USING") {
      guard let names = tokens.takeParentheses() else { throw unknown }
      return .using(names.names)
    }
    guard tokens.take("ON") else { return .none }
    let end =
      tokens.indices.first { index in
        tokens[index].depth == 0
          && (tokens[index].isSymbol(",") || beginsJoin(at: index))
      } ?? tokens.endIndex
    let condition = tokens[..<end]
    tokens = tokens[end...]
    guard !condition.isEmpty else { throw unknown }
    return .on(condition.sourceText)
  }

  private func beginsJoin(at index: Int) -> Bool {
    guard isJoinWord(tokens[index]) else { return false }
    if tokens[index].isWord("JOIN") { return true }
    return tokens[index...].prefix(4).contains { $0.isWord("JOIN") }
      && tokens[index...].prefix { !$0.isWord("JOIN") }.allSatisfy(isJoinWord)
  }

  private func isJoinWord(_ token: SQLToken) -> Bool {
    [
      "JOIN", "LEFT", "INNER", "CROSS", "NATURAL", "RIGHT", "FULL", "OUTER", "ON", "USING",
      "INDEXED", "NOT",
    ].contains { token.isWord($0) }
  }

  private var unknown: NotIncremental {
    NotIncremental(
      reason: "its FROM clause is not understood\(tokens.beginning)")
  }
}

extension [SourceSyntax] {
  /// Writes `a RIGHT JOIN b`, of which these are the sides, as `b LEFT JOIN a`.
  fileprivate mutating func joinLeft() throws(NotIncremental) {
    guard count == 2 else {
      throw NotIncremental(
        reason: """
          it has a RIGHT JOIN of several tables: begin with its right side, and LEFT JOIN them
          """)
    }
    self[0].constraint = self[1].constraint
    self[0].isNatural = self[1].isNatural
    self[1].constraint = .none
    self[1].isNatural = false
    self[0].isLeftJoined = true
    self[0].isWrittenFirst = true
    swapAt(0, 1)
  }

  /// A column that USING joins is that of the side which is written first.
  fileprivate func checkNames() throws(NotIncremental) {
    let isFull = contains(where: \.isFullJoined)
    guard isFull || contains(where: \.isWrittenFirst) else { return }
    let name = isFull ? "FULL" : "RIGHT"
    for source in self {
      if case .using = source.constraint {
        throw NotIncremental(reason: "it has a \(name) JOIN and USING: write ON")
      }
      if source.isNatural {
        throw NotIncremental(reason: "it has a \(name) JOIN and a NATURAL one: write ON")
      }
    }
    if isFull, count > 2 {
      throw NotIncremental(reason: "it has a FULL JOIN of more than two tables")
    }
  }
}
