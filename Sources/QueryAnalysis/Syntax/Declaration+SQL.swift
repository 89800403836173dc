/// Takes a SELECT over one table apart: `SELECT … FROM table [WHERE …] [ORDER BY …]`.
package enum PlainSelect {
  /// The parts; nil: the statement is of another form.
  ///
  /// O(b), b bytes. The statement has been prepared, so that it is right SQL.
  package static func parts(of sql: String) -> QueryDefinition.Declaration? {
    let tokens = SQLTokens.tokens(of: sql).filter { $0.depth == 0 }
    guard tokens.count > 3, tokens[0].isWord("SELECT"),
      let from = tokens.firstIndex(where: { $0.isWord("FROM") }), from > 1, from + 1 < tokens.count,
      let table = tokens[from + 1].name
    else { return nil }
    let others = [
      "DISTINCT", "GROUP", "HAVING", "LIMIT", "WINDOW", "UNION", "INTERSECT", "EXCEPT", "JOIN",
    ]
    guard !tokens.contains(where: { token in others.contains(where: token.isWord) }) else {
      return nil
    }
    let order = tokens.indices.dropLast().last {
      tokens[$0].isWord("ORDER") && tokens[$0 + 1].isWord("BY")
    }
    let rest = from + 2
    let isBare = rest == tokens.count || rest == order
    guard isBare || tokens[rest].isWord("WHERE") else { return nil }
    let end = order.map { tokens[$0].text.startIndex } ?? sql.endIndex
    return QueryDefinition.Declaration(
      table: table,
      fields: pieces(tokens[1..<from], of: sql, upTo: tokens[from].text.startIndex),
      predicate: isBare ? nil : String(sql[tokens[rest].text.endIndex..<end]).trimmingSpaces,
      order: order.map { pieces(tokens[($0 + 2)...], of: sql, upTo: sql.endIndex) } ?? [])
  }

  /// The text between commas.
  private static func pieces(
    _ tokens: ArraySlice<SQLToken>, of sql: String, upTo end: String.Index
  ) -> [String] {
    guard var start = tokens.first?.text.startIndex else { return [] }
    var pieces: [String] = []
    for comma in tokens where comma.isSymbol(",") {
      pieces.append(String(sql[start..<comma.text.startIndex]).trimmingSpaces)
      start = comma.text.endIndex
    }
    return pieces + [String(sql[start..<end]).trimmingSpaces]
  }
}
