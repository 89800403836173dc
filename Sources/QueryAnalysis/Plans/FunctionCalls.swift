package import GRDB
import OrderedResults

/// Why an expression's value may change though its row does not, or depends on more than its row.
enum OutsideInfluence: Error, Equatable {
  case subquery
  case aggregate(String)
  /// An aggregate whose value depends on the order of its rows.
  case ordered(String)
  case window
  case nondeterministic(String)
  case present(String)

  var description: String {
    switch self {
    case .subquery: "it has a subquery"
    case .aggregate(let name): "\(name)() is an aggregate"
    case .ordered(let name): "\(name)() depends on the order of a group's rows"
    case .window: "it has a window function"
    case .nondeterministic(let name): "\(name)() need not return the same value again"
    case .present(let name): "\(name) depends on the present time"
    }
  }
}

/// What SQLite knows of its functions: https://www.sqlite.org/pragma.html#pragma_function_list
package struct FunctionList {
  private struct Function {
    let isAggregate: Bool
    let isDeterministic: Bool
    let isBuiltIn: Bool
    /// -1: any number.
    let arguments: Int
  }

  private var functions: [String: [Function]] = [:]
  private var allowsOrder = false

  package init(_ db: Database) throws {
    // SQLITE_DETERMINISTIC is 0x800: https://www.sqlite.org/c3ref/c_deterministic.html
    let rows = try Row.fetchCursor(
      db,
      sql: """
        SELECT lower(name), type = 's', flags & 0x800 <> 0, builtin, narg FROM pragma_function_list
        """)
    while let row = try rows.next() {
      functions[row[0], default: []].append(
        Function(
          isAggregate: !row[1], isDeterministic: row[2], isBuiltIn: row[3], arguments: row[4]))
    }
  }

  /// Aggregates of SQLite's own whose value is that of the order of the rows.
  private static let ordered = [
    "group_concat", "string_agg", "json_group_array", "json_group_object",
  ]

  /// The same where somebody else sees to the order of a group's rows.
  var allowingOrder: FunctionList {
    var copy = self
    copy.allowsOrder = true
    return copy
  }

  /// Whether an expression calls an aggregate that depends on the order of its rows, which is not settled.
  func dependsOnOrder(
    _ expression: String, unless isSettled: (ArraySlice<SQLToken>) -> Bool
  ) -> Bool {
    do {
      try check(
        SQLTokens.tokens(of: expression)[...].withoutSubqueries, allowingAggregates: true,
        whereSettled: isSettled)
      return false
    } catch {
      if case .ordered = error { return true }
      return false
    }
  }

  /// Whether SQL gives the same result for the same database, in this process and in the next.
  package func areStable(in sql: String) -> Bool {
    let tokens = SQLTokens.tokens(of: sql)
    return zip(tokens, tokens.dropFirst().map(Optional.init) + [nil]).allSatisfy { token, next in
      if PresentTime.words.contains(where: token.isWord) || token.text.lowercased() == "'now'" {
        return false
      }
      guard next?.isSymbol("(") == true, let name = token.name?.lowercased(),
        let called = functions[name]
      else { return true }
      return called.allSatisfy { $0.isBuiltIn && $0.isDeterministic }
        && PresentTime.functions[name] == nil && name != PresentTime.difference
    }
  }

  /// Whether SQL calls what makes JSON, which is known from a text by its subtype, or may look at a subtype.
  ///
  /// https://www.sqlite.org/c3ref/value_subtype.html
  func mayUseSubtypes(in tokens: some BidirectionalCollection<SQLToken>) -> Bool {
    var before: SQLToken?
    for (token, next) in zip(tokens, tokens.dropFirst()) {
      // `->` makes JSON, and `->>` does not.
      if before?.isSymbol("-") == true, token.isSymbol(">"), !next.isSymbol(">") { return true }
      before = token
      guard next.isSymbol("("), let name = token.name?.lowercased(), let called = functions[name]
      else { continue }
      if name.hasPrefix("json") || !called.allSatisfy(\.isBuiltIn) { return true }
    }
    return false
  }

  /// Whether SQL calls something else than an aggregate: a function whose one call may take long.
  func callsFunctionOfRows(in sql: String) -> Bool {
    let tokens = SQLTokens.tokens(of: sql)
    return zip(tokens, tokens.dropFirst()).contains { token, next in
      guard next.isSymbol("("), let name = token.name?.lowercased() else { return false }
      return functions[name]?.contains { !$0.isAggregate } == true
    }
  }

  /// Whether SQL compares only by collations of SQLite's own.
  package static func namesKnownCollations(_ sql: String) -> Bool {
    let tokens = SQLTokens.tokens(of: sql)
    return !zip(tokens, tokens.dropFirst()).contains { word, name in
      word.isWord("COLLATE") && Collation(rawValue: (name.name ?? "").uppercased()) == nil
    }
  }

  /// Looks for whatever makes an expression more than a function of its row, or of the rows of its
  /// group.
  func check(
    _ expression: String, allowingAggregates: Bool = false
  ) throws(OutsideInfluence) {
    try check(SQLTokens.tokens(of: expression), allowingAggregates: allowingAggregates)
  }

  /// The same of its tokens; `isSettled` tells whether what an aggregate is called with settles the order of its rows.
  func check(
    _ tokens: [SQLToken], allowingAggregates: Bool = false,
    whereSettled isSettled: (ArraySlice<SQLToken>) -> Bool = { _ in false }
  ) throws(OutsideInfluence) {
    if tokens.indices.dropFirst().contains(where: {
      tokens[$0].isWord("OVER") && tokens[$0 - 1].isSymbol(")")
    }) {
      throw .window
    }
    for (index, token) in tokens.enumerated() {
      if token.isWord("SELECT") || token.isWord("VALUES") { throw .subquery }
      // `x IN name` is a subquery too: https://www.sqlite.org/lang_expr.html#the_in_and_not_in_operators
      if token.isWord("IN"), index + 1 < tokens.count, !tokens[index + 1].isSymbol("(") {
        throw .subquery
      }
      try checkIsNotPresent(token)
      // A name in quotes is called as well: `"count"(*)`.
      guard let name = token.name?.lowercased(), index + 1 < tokens.count,
        tokens[index + 1].isSymbol("(")
      else { continue }
      try check(call: name, tokens[(index + 1)...], allowingAggregates, isSettled)
    }
  }

  private func check(
    call name: String, _ rest: ArraySlice<SQLToken>, _ allowingAggregates: Bool,
    _ isSettled: (ArraySlice<SQLToken>) -> Bool
  ) throws(OutsideInfluence) {
    // A keyword before a parenthesis, such as IN or AND, calls nothing.
    if functions[name] == nil { return }
    let count = Self.argumentCount(rest)
    let chosen = functions(named: name, arguments: count)
    if chosen.contains(where: \.isAggregate) {
      guard allowingAggregates else { throw .aggregate(name) }
      let isOrdered =
        Self.ordered.contains(name) && chosen.allSatisfy(\.isBuiltIn)
        && (allowsOrder || isSettled(rest))
      guard Aggregate.Function(rawValue: name) != nil || isOrdered else { throw .ordered(name) }
      return
    }
    try checkStability(ofCall: name, chosen, rest)
  }

  /// Looks for chance and the present time in a statement, whatever else it is.
  func checkStability(of sql: String) throws(OutsideInfluence) {
    let tokens = SQLTokens.tokens(of: sql)
    for (index, token) in tokens.enumerated() {
      try checkIsNotPresent(token)
      guard let name = token.name?.lowercased(), functions[name] != nil,
        index + 1 < tokens.count, tokens[index + 1].isSymbol("(")
      else { continue }
      let rest = tokens[(index + 1)...]
      let chosen = functions(named: name, arguments: Self.argumentCount(rest))
      if !chosen.contains(where: \.isAggregate) {
        try checkStability(ofCall: name, chosen, rest)
      }
    }
  }

  private func checkIsNotPresent(_ token: SQLToken) throws(OutsideInfluence) {
    for word in PresentTime.words where token.isWord(word) {
      throw .present(word)
    }
    // What is no column's name in double quotation marks is text, too:
    // https://www.sqlite.org/quirks.html#double_quoted_string_literals_are_accepted
    if ["'now'", "\"now\""].contains(token.text.lowercased()) { throw .present("'now'") }
  }

  private func checkStability(
    ofCall name: String, _ chosen: [Function], _ rest: ArraySlice<SQLToken>
  ) throws(OutsideInfluence) {
    if !chosen.allSatisfy(\.isDeterministic) { throw .nondeterministic(name) }
    if let question = PresentTime.question(inCallOf: name, rest) { throw .present(question) }
    // It may be 'now'.
    guard PresentTime.functions[name] != nil || name == PresentTime.difference else { return }
    if Self.arguments(rest).contains(where: { $0.kind == .parameter }) {
      throw .present("\(name)() of a parameter")
    }
  }

  private func functions(named name: String, arguments count: Int) -> [Function] {
    let candidates = functions[name] ?? []
    let matching = candidates.filter { $0.arguments == count }
    return matching.isEmpty ? candidates.filter { $0.arguments < 0 } : matching
  }

  /// The expression without the aggregates that it calls, what they are called with, and subqueries.
  func withoutAggregates(_ expression: String) -> ArraySlice<SQLToken> {
    var result: [SQLToken] = []
    var rest = SQLTokens.tokens(of: expression)[...].withoutSubqueries[...]
    while let token = rest.popFirst() {
      guard let name = token.name?.lowercased(), rest.first?.isSymbol("(") == true,
        token.isWord("FILTER")
          || functions(named: name, arguments: Self.argumentCount(rest))
            .contains(where: \.isAggregate)
      else {
        result.append(token)
        continue
      }
      _ = rest.takeParentheses()
    }
    return result[...]
  }

  /// Whether an expression calls an aggregate outside of its subqueries, and not as a window function.
  func callsAggregate(_ expression: String) -> Bool {
    let tokens = SQLTokens.tokens(of: expression)[...].withoutSubqueries[...]
      .withoutWindowFunctions
    return tokens.indices.contains { isAggregate(calledBy: tokens[$0...]) }
  }

  /// Whether SQL calls an aggregate whose last digits depend on the order of its rows.
  func sums(in sql: String) -> Bool {
    let tokens = SQLTokens.tokens(of: sql)[...]
    return tokens.indices.contains { index in
      aggregate(calledBy: tokens[index...])?.adds == true
    }
  }

  /// Whether these tokens begin with the call of an aggregate.
  func isAggregate(calledBy tokens: ArraySlice<SQLToken>) -> Bool {
    let rest = tokens.dropFirst()
    guard rest.first?.isSymbol("(") == true, let name = tokens.first?.name?.lowercased() else {
      return false
    }
    return functions(named: name, arguments: Self.argumentCount(rest))
      .contains(where: \.isAggregate)
  }

  /// The aggregate whose call these tokens begin with, if it is one of those whose order does not matter.
  func aggregate(calledBy tokens: ArraySlice<SQLToken>) -> Aggregate.Function? {
    let rest = tokens.dropFirst()
    guard rest.first?.isSymbol("(") == true, let name = tokens.first?.name?.lowercased(),
      let function = Aggregate.Function(rawValue: name),
      functions(named: name, arguments: Self.argumentCount(rest)).contains(where: \.isAggregate)
    else { return nil }
    return function
  }

  private static func arguments(_ tokens: ArraySlice<SQLToken>) -> ArraySlice<SQLToken> {
    guard let open = tokens.first else { return [] }
    return tokens.dropFirst().prefix { !($0.isSymbol(")") && $0.depth == open.depth) }
  }

  /// The arguments between a parenthesis and the one that closes it.
  private static func argumentCount(_ tokens: ArraySlice<SQLToken>) -> Int {
    guard let open = tokens.first else { return 0 }
    // From SQLite 3.44 on the order follows in which an aggregate takes its rows.
    let inner = arguments(tokens)
      .prefix { !($0.isWord("ORDER") && $0.depth == open.depth + 1) }
    if inner.isEmpty { return 0 }
    return 1 + inner.count { $0.isSymbol(",") && $0.depth == open.depth + 1 }
  }
}
