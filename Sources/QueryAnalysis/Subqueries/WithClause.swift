/// The WITH that a statement begins with.
struct WithClause {
  /// With the keyword.
  let text: String
  /// The names of its tables, and of those within them.
  let names: [String]
  /// The token behind it.
  let end: Int
  let isRecursive: Bool

  /// Nil where there is none.
  init?(_ tokens: ArraySlice<SQLToken>) {
    guard tokens.first?.isWord("WITH") == true,
      let end = tokens.firstIndex(where: { $0.depth == 0 && $0.isWord("SELECT") })
    else { return nil }
    text = tokens[..<end].sourceText
    names = tokens[..<end].namesOfCommonTables
    self.end = end
    isRecursive = tokens.dropFirst().first?.isWord("RECURSIVE") == true
  }

  /// A statement that begins with it, without it, if it reads none of its tables.
  func leftOut(of sql: String) -> String {
    guard sql.hasPrefix(text) else { return sql }
    let rest = String(sql.dropFirst(text.count))
    return isRead(by: SQLTokens.tokens(of: rest)) ? sql : rest
  }

  /// Whether tokens name one of its tables.
  func isRead(by tokens: some Sequence<SQLToken>) -> Bool {
    tokens.lazy.compactMap(\.nameOrText).contains { word in
      names.contains(where: word.isSameIdentifier)
    }
  }
}
