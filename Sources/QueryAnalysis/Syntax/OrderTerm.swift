import OrderedResults

/// One term of ORDER BY, taken apart: the expression, and how its values compare.
package struct OrderTerm: Equatable {
  package let expression: String
  /// As written; nil: that of the expression.
  let collation: String?
  let isDescending: Bool
  /// As written; nil: NULLs are the least values.
  let nullsLast: Bool?

  /// `expression [COLLATE name] [ASC|DESC] [NULLS FIRST|LAST]`:
  /// https://www.sqlite.org/syntax/ordering-term.html
  package init(_ text: String) {
    var tokens = SQLTokens.tokens(of: text)[...]
    nullsLast = Self.takeNulls(&tokens)
    isDescending = Self.takeDirection(&tokens)
    collation = Self.takeCollation(&tokens)
    let end = tokens.last?.text.endIndex ?? text.endIndex
    let start = tokens.first?.text.startIndex ?? text.startIndex
    expression = String(text[start..<end])
  }

  /// Whether NULLs come last, which are the least values where nothing is written.
  var putsNullsLast: Bool { nullsLast ?? isDescending }

  var sql: String { sql(of: expression.parenthesized) }

  /// As it may be written.
  var text: String { sql(of: expression) }

  /// Whether it is a number, and so that of a result column, if it stands behind a SELECT.
  var isNumber: Bool {
    let tokens = SQLTokens.tokens(of: expression)[...].withoutParentheses
    return tokens.count == 1 && tokens.first?.kind == .number
  }

  /// What is compared, under its collation.
  var value: String {
    expression.parenthesized + (collation.map { " COLLATE \($0.quotedIdentifier)" } ?? "")
  }

  /// The term with the number of a result column in the place of its expression.
  func sql(ordinal: Int) -> String { sql(of: "\(ordinal)") }

  /// The term with another expression.
  func sql(of expression: String) -> String {
    var words = [expression]
    if let collation { words.append("COLLATE \(collation.quotedIdentifier)") }
    if isDescending { words.append("DESC") }
    if let nullsLast { words.append(nullsLast ? "NULLS LAST" : "NULLS FIRST") }
    return words.joined(separator: " ")
  }

  private static func takeNulls(_ tokens: inout ArraySlice<SQLToken>) -> Bool? {
    guard tokens.count > 2, tokens[tokens.endIndex - 2].isWord("NULLS"), let last = tokens.last,
      last.isWord("FIRST") || last.isWord("LAST")
    else { return nil }
    tokens.removeLast(2)
    return last.isWord("LAST")
  }

  private static func takeDirection(_ tokens: inout ArraySlice<SQLToken>) -> Bool {
    guard tokens.count > 1, let last = tokens.last, last.isWord("ASC") || last.isWord("DESC")
    else { return false }
    tokens.removeLast()
    return last.isWord("DESC")
  }

  private static func takeCollation(_ tokens: inout ArraySlice<SQLToken>) -> String? {
    guard tokens.count > 2, tokens[tokens.endIndex - 2].isWord("COLLATE"),
      tokens[tokens.endIndex - 2].depth == 0, let name = tokens.last?.name
    else { return nil }
    tokens.removeLast(2)
    return name
  }
}
