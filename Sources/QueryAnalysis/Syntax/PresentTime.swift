/// Where SQL asks what time it is: https://www.sqlite.org/lang_datefunc.html
///
/// What a statement gives then changes without a commit.
package enum PresentTime {
  static let words = ["CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP"]

  /// The functions of one time value, and how many arguments stand before it. Without a time value
  /// they take the present.
  static let functions = [
    "date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1,
  ]
  /// Of two time values.
  static let difference = "timediff"

  /// Time values that are the present; the latter two are modifiers where there is another one.
  private static let values = ["now", "subsec", "subsecond"]

  /// What in a statement asks for the present time, if its text shows it.
  ///
  /// A time value from a column or a parameter may be 'now' as well, and a view may ask: that is not
  /// seen here. O(t²), t tokens.
  package static func question(in sql: String) -> String? {
    let tokens = SQLTokens.tokens(of: sql)
    return tokens.indices.lazy.compactMap { question(at: $0, of: tokens) }.first
  }

  private static func question(at index: Int, of tokens: [SQLToken]) -> String? {
    let token = tokens[index]
    if let word = words.first(where: token.isWord) {
      let isName = index > 0 && (tokens[index - 1].isSymbol(".") || tokens[index - 1].isWord("AS"))
      return isName ? nil : word
    }
    return token.name.flatMap { question(inCallOf: $0.lowercased(), tokens[(index + 1)...]) }
  }

  /// The same of the call of a function.
  ///
  /// - Parameters:
  ///   - name: of the function, in lower case.
  ///   - rest: what stands behind it.
  /// - Returns: the call; nil: its text shows no such thing.
  static func question(inCallOf name: String, _ rest: ArraySlice<SQLToken>) -> String? {
    var rest = rest
    guard functions[name] != nil || name == difference, let open = rest.first,
      let inner = rest.takeParentheses()
    else { return nil }
    let arguments = inner.arguments(at: open.depth + 1)
    if let before = functions[name] {
      if arguments.count <= before { return "\(name)()" }
      return value(arguments[before]).map { "\(name)(\($0))" }
    }
    return arguments.lazy.compactMap(value).first.map { "\(name)(\($0))" }
  }

  /// The literal that an argument is, where it is the present.
  private static func value(_ argument: ArraySlice<SQLToken>) -> String? {
    var argument = argument
    while argument.first?.isSymbol("(") == true, let inner = argument.takeParentheses() {
      guard argument.isEmpty else { return nil }
      argument = inner
    }
    // What is no column's name in double quotation marks is text, too:
    // https://www.sqlite.org/quirks.html#double_quoted_string_literals_are_accepted
    guard argument.count == 1, let token = argument.first,
      token.kind == .string || token.text.first == "\""
    else { return nil }
    return values.contains(token.text.dropFirst().dropLast().lowercased())
      ? String(token.text) : nil
  }
}

extension ArraySlice<SQLToken> {
  /// What commas of that depth separate.
  fileprivate func arguments(at depth: Int) -> [ArraySlice<SQLToken>] {
    if isEmpty { return [] }
    return split(omittingEmptySubsequences: false) { $0.isSymbol(",") && $0.depth == depth }
  }
}
