import Algorithms

/// Looks whether a text is one whole piece of SQL, which cannot leave its place in a statement.
///
/// Pieces of a query are put between others that the engine writes. One that closes a parenthesis
/// which it has not opened, or begins another clause, would prepare well and mean something else
/// than the part of the definition that it is.
package enum SQLFragment {
  /// The keywords that end an expression: https://www.sqlite.org/syntax/select-core.html
  private static let clauses = [
    "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT",
  ]

  package enum Mismatch: String {
    case parentheses
    case quotes = "quotation marks or comments"
  }

  /// What a text opens and does not close, or closes and has not opened.
  package static func mismatch(in text: String) -> Mismatch? {
    let tokens = SQLTokens.tokens(of: text)
    // What is open at the end takes this in.
    guard SQLTokens.tokens(of: text + "\n;").count == tokens.count + 1 else { return .quotes }
    let depth = tokens.reduce(0) { $0 + ($1.isSymbol("(") ? 1 : $1.isSymbol(")") ? -1 : 0) }
    return depth == 0 && tokens.allSatisfy { $0.depth >= 0 } ? nil : .parentheses
  }

  /// Whether there are commas outside of parentheses.
  package static func isList(_ text: String) -> Bool {
    SQLTokens.tokens(of: text)[...].members.count > 1
  }

  /// What is wrong, and how to mend it; nil: nothing. O(n), n bytes.
  static func flaw(_ text: String) -> (message: String, mend: String)? {
    if text.utf8.contains(0) { return ("it contains a NUL character", "take the character out") }
    if let mismatch = mismatch(in: text) {
      return ("its \(mismatch.rawValue) do not match", "close what it opens, and nothing else")
    }
    let tokens = SQLTokens.tokens(of: text)
    if tokens.contains(where: { $0.isSymbol(";") }) {
      return ("it has a semicolon", "write one expression, without a semicolon")
    }
    for (index, token) in tokens.enumerated() where token.depth == 0 {
      // `a IS DISTINCT FROM b` is an expression.
      if token.isWord("FROM"), index > 0, tokens[index - 1].isWord("DISTINCT") { continue }
      if clauses.contains(where: token.isWord) {
        return (
          "\(token.text) begins another clause",
          "write an expression only; put a subquery in parentheses"
        )
      }
    }
    return nil
  }
}

extension QueryProblem {
  /// - Throws: `QueryProblem` where a piece of SQL would leave its place; SQLite would speak of a
  ///   statement that nobody wrote.
  static func check(fragment text: String, part: QueryPart) throws(QueryProblem) {
    if let flaw = SQLFragment.flaw(text) {
      throw QueryProblem(part: part, message: flaw.message, mend: flaw.mend)
    }
  }
}

extension SQLFragment {
  /// The names of the parameters of a text without their sigil, each once, in their order.
  package static func parameterNames(of text: String) -> [String] {
    let names = SQLTokens.tokens(of: text).filter { $0.kind == .parameter }
      .map { String($0.text.dropFirst()) }
    return Array(names.uniqued())
  }
}
