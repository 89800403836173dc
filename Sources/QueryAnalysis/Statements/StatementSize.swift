/// How large a statement becomes when SQLite prepares it: each CTE and view is written out wherever it
/// is named, and the columns of subqueries where these are flattened
/// (https://www.sqlite.org/optoverview.html#flattening). So a line may become gigabytes, and preparing
/// it is not to be interrupted.
///
/// Counted in tokens. What is counted may be more than SQLite makes of it, as not everything is
/// flattened. O(m) time for ``most``.
struct StatementSize {
  /// The tokens of the largest statement that is prepared for somebody who explores: some ten pages of
  /// SQL, and some milliseconds.
  static let most = 5000
  /// A statement of that size has no more SELECTs within each other.
  private static let deepest = 64

  struct TooLarge: Error {}

  /// A column as those name it who select from its SELECT.
  fileprivate struct Column {
    /// In small letters.
    var name: String?
    /// Whether SQLite may call it by its text, as it does where there is no AS.
    var isCalledByText = false
    var size: Int
  }

  /// What a SELECT shows.
  fileprivate struct Shape {
    var columns: [Column] = []
    /// Whether ``columns`` are all of them; those of tables are not told.
    var isWhole = true
  }

  /// What can be named: the tables of each WITH around, the outermost first, and columns.
  private struct Scope {
    var commonTables: [[CommonTable]] = []
    var columns: [Column] = []
    var depth = 0
  }

  private let views: [CommonTable]
  private var size = 0

  /// - Parameters:
  ///   - sql: one SELECT.
  ///   - views: those of the schema.
  /// - Returns: its size.
  /// - Throws: ``TooLarge`` where that is more than ``most``.
  static func measure(_ sql: String, views: [CommonTable]) throws(TooLarge) -> Int {
    var measure = StatementSize(views: views)
    _ = try measure.select(SQLTokens.tokens(of: sql)[...], Scope())
    return measure.size
  }

  private init(views: [CommonTable]) { self.views = views }

  private mutating func add(_ count: Int) throws(TooLarge) {
    size += count
    if size > Self.most { throw TooLarge() }
  }

  // MARK: - SELECT

  private mutating func select(
    _ tokens: ArraySlice<SQLToken>, _ scope: Scope
  ) throws(TooLarge) -> Shape {
    var (tokens, scope) = (tokens, scope)
    scope.depth += 1
    if scope.depth > Self.deepest { throw TooLarge() }
    scope.commonTables.append(tokens.takeCommonTables())
    let isOperator = { (token: SQLToken) in
      token.depth == 0 && SelectClauses.compoundOperators.contains(where: token.isWord)
    }
    var shape: Shape?
    for var part in tokens.split(where: isOperator) {
      _ = part.take("ALL")
      let next = try simpleSelect(part, scope)
      shape = shape?.joined(next) ?? next
    }
    return shape ?? Shape()
  }

  private mutating func simpleSelect(
    _ tokens: ArraySlice<SQLToken>, _ outside: Scope
  ) throws(TooLarge) -> Shape {
    var tokens = tokens
    guard tokens.take("SELECT") else {
      _ = try expression(tokens, outside)
      return Shape(isWhole: false)
    }
    if !tokens.take("DISTINCT") { _ = tokens.take("ALL") }
    let clauses = SelectClauses(tokens)
    var (scope, sources) = (outside, Shape())
    if let from = clauses[.from] { sources = try self.sources(from, outside) }
    scope.columns = sources.columns + outside.columns
    var shape = Shape()
    for member in (clauses[.select] ?? []).members {
      let before = size
      _ = try expression(member.withoutAlias, scope)
      if member.last?.isSymbol("*") == true {
        shape.columns += sources.columns
        shape.isWhole = shape.isWhole && sources.isWhole
      } else {
        shape.columns.append(
          Column(
            name: member.alias, isCalledByText: member.lacksAlias, size: size - before))
      }
    }
    // These may name what is shown.
    scope.columns += shape.columns
    let others: [SelectClauses.Clause] = [.predicate, .groupBy, .having, .windows, .order, .limit]
    for clause in others { _ = try expression(clauses[clause] ?? [], scope) }
    return shape
  }

  // MARK: - Names

  /// Counts FROM, and what it shows. Conditions in it may name any of its columns, wherever they stand.
  private mutating func sources(
    _ tokens: ArraySlice<SQLToken>, _ outside: Scope
  ) throws(TooLarge) -> Shape {
    let shape = try walk(tokens, outside, isFrom: true)
    var scope = outside
    scope.columns = shape.columns + outside.columns
    for name in tokens where name.name != nil { try add(largest(name, scope)) }
    return shape
  }

  private mutating func expression(
    _ tokens: ArraySlice<SQLToken>, _ scope: Scope
  ) throws(TooLarge) -> Shape {
    try walk(tokens, scope, isFrom: false)
  }

  /// Counts tokens with all that they name.
  private mutating func walk(
    _ tokens: ArraySlice<SQLToken>, _ scope: Scope, isFrom: Bool
  ) throws(TooLarge) -> Shape {
    var (rest, before) = (tokens, SQLToken?.none)
    var shape = Shape()
    while let token = rest.first {
      defer { before = token }
      if token.isSymbol("("), rest.dropFirst().first?.beginsSelect == true,
        let inner = rest.takeParentheses()
      {
        shape.add(try select(SQLTokens.tokens(of: inner.sourceText)[...], scope))
        continue
      }
      rest.removeFirst()
      let mayBeTable = before?.isWord("IN") ?? isFrom || isFrom && before?.endsSource == true
      if mayBeTable, let name = token.name, rest.first?.isSymbol(".") != true {
        shape.add(try table(name, scope) ?? Shape(isWhole: false))
      }
      try add(token.name == nil ? 1 : largest(token, scope))
    }
    return shape
  }

  /// Counts a table of WITH, or a view; nil: it is neither.
  private mutating func table(_ name: String, _ scope: Scope) throws(TooLarge) -> Shape? {
    var inside = scope
    inside.columns = []
    for level in scope.commonTables.indices.reversed() {
      let tables = scope.commonTables[level]
      guard let index = tables.firstIndex(where: { $0.name.isSameIdentifier(as: name) }) else {
        continue
      }
      inside.commonTables = Array(scope.commonTables[...level])
      return try shape(of: inside.commonTables[level].remove(at: index), inside)
    }
    inside.commonTables = []
    guard let view = views.first(where: { $0.name.isSameIdentifier(as: name) }) else { return nil }
    return try shape(of: view, inside)
  }

  private mutating func shape(of table: CommonTable, _ scope: Scope) throws(TooLarge) -> Shape {
    let shape = try select(SQLTokens.tokens(of: table.select)[...], scope)
    return table.columns.map(shape.named) ?? shape
  }

  /// What stands for a name: one token, or the largest expression of a column that may be meant.
  private func largest(_ token: SQLToken, _ scope: Scope) -> Int {
    let name = token.name?.lowercased()
    var most = 1
    for column in scope.columns where column.size > most {
      // A text takes quotation marks.
      if column.name == name || column.isCalledByText && token.kind == .quotedName {
        most = column.size
      }
    }
    return most
  }
}

extension StatementSize.Shape {
  fileprivate mutating func add(_ other: StatementSize.Shape) {
    columns += other.columns
    isWhole = isWhole && other.isWhole
  }

  /// With other names, one for each column.
  fileprivate func named(_ names: [String]) -> StatementSize.Shape {
    var shape = StatementSize.Shape()
    let most = columns.map(\.size).max() ?? 1
    shape.columns = names.enumerated().map { index, name in
      let isKnown = isWhole && index < columns.count
      return .init(name: name.lowercased(), size: isKnown ? columns[index].size : most)
    }
    return shape
  }

  /// The columns of a compound SELECT, which have the names of its first part.
  fileprivate func joined(_ other: StatementSize.Shape) -> StatementSize.Shape {
    var shape = self
    let most = other.columns.map(\.size).max() ?? 1
    let isAligned = isWhole && other.isWhole && columns.count == other.columns.count
    for index in columns.indices {
      shape.columns[index].size = max(
        columns[index].size, isAligned ? other.columns[index].size : most)
    }
    return shape
  }
}

extension ArraySlice<SQLToken> {
  /// Takes WITH from the front; of what is not understood, nothing.
  fileprivate mutating func takeCommonTables() -> [CommonTable] {
    guard take("WITH") else { return [] }
    _ = take("RECURSIVE")
    var tables: [CommonTable] = []
    repeat {
      guard let name = popFirst()?.name else { return tables }
      let columns = takeParentheses()?.names
      guard take("AS") else { return tables }
      _ = take("NOT")
      _ = take("MATERIALIZED")
      guard let body = takeParentheses() else { return tables }
      tables.append(CommonTable(name: name, columns: columns, select: body.sourceText))
    } while takeSymbol(",")
    return tables
  }

  /// The word that ends a result column, if it may be what that is called.
  fileprivate var alias: String? {
    guard let before = dropLast().last else { return last?.name?.lowercased() }
    let isOperand = before.kind == .symbol && !before.isSymbol(")") && !before.isSymbol(".")
    return isOperand ? nil : last?.name?.lowercased()
  }

  fileprivate var withoutAlias: ArraySlice<SQLToken> {
    dropLast().last?.isWord("AS") == true ? dropLast(2) : self
  }

  /// Whether a result column is neither a column nor has AS.
  fileprivate var lacksAlias: Bool {
    guard let before = dropLast().last else { return false }
    return !(before.isSymbol(".") || before.isWord("AS"))
  }
}

extension SQLToken {
  fileprivate var beginsSelect: Bool { ["SELECT", "WITH", "VALUES"].contains(where: isWord) }

  /// Whether a table may stand behind it in FROM.
  fileprivate var endsSource: Bool {
    isWord("JOIN") || isSymbol(",") || isSymbol("(") || isSymbol(".")
  }
}
