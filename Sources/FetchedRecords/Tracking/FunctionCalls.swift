import GRDB

/// Why an expression's value may change though its row does not, or depends on more than its row.
enum OutsideInfluence: Error, Equatable {
  case subquery
  case aggregate(String)
  case window
  case nondeterministic(String)
  case present(String)

  var description: String {
    switch self {
    case .subquery: "it has a subquery"
    case .aggregate(let name): "\(name)() is an aggregate"
    case .window: "it has a window function"
    case .nondeterministic(let name): "\(name)() need not return the same value again"
    case .present(let name): "\(name) depends on the present time"
    }
  }
}

/// What SQLite knows of its functions: https://www.sqlite.org/pragma.html#pragma_function_list
struct FunctionList {
  private struct Function {
    let isAggregate: Bool
    let isDeterministic: Bool
    /// -1: any number.
    let arguments: Int
  }

  private var functions: [String: [Function]] = [:]

  init(_ db: Database) throws {
    // SQLITE_DETERMINISTIC is 0x800: https://www.sqlite.org/c3ref/c_deterministic.html
    let rows = try Row.fetchCursor(
      db,
      sql: "SELECT lower(name), type = 's', flags & 0x800 <> 0, narg FROM pragma_function_list")
    while let row = try rows.next() {
      functions[row[0], default: []].append(
        Function(isAggregate: !row[1], isDeterministic: row[2], arguments: row[3]))
    }
  }

  /// Looks for whatever makes an expression more than a function of its row.
  func check(_ expression: String) throws(OutsideInfluence) {
    let tokens = SQLTokens.tokens(of: expression)
    for (index, token) in tokens.enumerated() {
      if token.isWord("SELECT") || token.isWord("VALUES") { throw .subquery }
      for word in ["CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP"] where token.isWord(word) {
        throw .present(word)
      }
      if token.kind == .string, token.text.lowercased() == "'now'" { throw .present("'now'") }
      guard token.kind == .word, index + 1 < tokens.count, tokens[index + 1].isSymbol("(") else {
        continue
      }
      try check(call: token, tokens[(index + 1)...])
    }
  }

  private func check(
    call token: SQLToken, _ rest: ArraySlice<SQLToken>
  ) throws(OutsideInfluence) {
    if token.isWord("OVER") || token.isWord("FILTER") { throw .window }
    let name = token.text.lowercased()
    // A keyword before a parenthesis, such as IN or AND, calls nothing.
    guard let candidates = functions[name] else { return }
    let count = Self.argumentCount(rest)
    let matching = candidates.filter { $0.arguments == count }
    let chosen = matching.isEmpty ? candidates.filter { $0.arguments < 0 } : matching
    if chosen.contains(where: \.isAggregate) { throw .aggregate(name) }
    if !chosen.allSatisfy(\.isDeterministic) { throw .nondeterministic(name) }
    let timeValue = [
      "date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1,
    ]
    // Without a time value these functions take the present: https://www.sqlite.org/lang_datefunc.html
    if let least = timeValue[name], count <= least { throw .present("\(name)()") }
  }

  /// The arguments between a parenthesis and the one that closes it.
  private static func argumentCount(_ tokens: ArraySlice<SQLToken>) -> Int {
    guard let open = tokens.first else { return 0 }
    let inner = tokens.dropFirst().prefix { !($0.isSymbol(")") && $0.depth == open.depth) }
    if inner.isEmpty { return 0 }
    return 1 + inner.count { $0.isSymbol(",") && $0.depth == open.depth + 1 }
  }
}
