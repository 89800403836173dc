import OrderedResults

extension String {
  /// This expression with others in the place of names of columns, outside of its subqueries.
  ///
  /// O(t), t tokens, and the subqueries among them.
  ///
  /// - Parameter replacement: what stands for a name, whose last token may be a keyword here; nil: it stays.
  /// - Returns: the expression, in which each replacement is in parentheses.
  func replacingNames(_ replacement: (ColumnName, SQLToken) -> String?) -> String {
    let tokens = SQLTokens.tokens(of: self)[...]
    let subqueries = Subquery.all(in: self)
    var text = ""
    var end = startIndex
    for index in tokens.indices {
      if subqueries.contains(where: { $0.body.indices.contains(index) }) { continue }
      guard let name = ResolvedSelect.reference(at: index, in: tokens) else { continue }
      let before = index > tokens.startIndex ? tokens[index - 1] : nil
      // CAST(… AS type), COLLATE name, NULLS LAST
      if name.qualifier == nil,
        ["AS", "COLLATE", "NULLS"].contains(where: { before?.isWord($0) == true })
      {
        continue
      }
      guard let shown = replacement(name, tokens[index]) else { continue }
      let first = name.qualifier == nil ? index : index - 2
      text += self[end..<tokens[first].text.startIndex] + shown.parenthesized
      end = tokens[index].text.endIndex
    }
    return text + self[end...]
  }
}
