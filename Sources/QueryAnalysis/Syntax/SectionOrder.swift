/// Puts the section before the order of a SELECT, as records of one section stand together.
package enum SectionOrder {
  /// The statement ordered by section first.
  ///
  /// A statement that begins with the section already keeps its direction. One with a LIMIT or a
  /// compound one stays as it is: there the order decides which records there are.
  ///
  /// Names that the section's collation takes for equal, such as `a` and `A` under NOCASE, are
  /// still different sections: so their bytes decide next.
  package static func orderingBySection(_ sql: String, _ section: String) -> String {
    let tokens = SQLTokens.tokens(of: sql).filter { $0.depth == 0 }
    let fixed = ["LIMIT", "UNION", "INTERSECT", "EXCEPT"]
    if tokens.contains(where: { token in fixed.contains(where: token.isWord) }) { return sql }
    let bytes = "\(section.parenthesized) COLLATE BINARY"
    let order = tokens.indices.dropLast().last {
      tokens[$0].isWord("ORDER") && tokens[$0 + 1].isWord("BY")
    }
    guard let order else { return "\(sql)\nORDER BY \(section.parenthesized), \(bytes)" }
    let start = tokens[order + 1].text.endIndex
    let end = tokens[(order + 2)...].first { $0.isSymbol(",") }?.text.startIndex ?? sql.endIndex
    if isSame(OrderTerm(String(sql[start..<end])).expression, section) {
      return "\(sql[..<end]), \(bytes)\(sql[end...])"
    }
    return "\(sql[..<start]) \(section.parenthesized), \(bytes), \(sql[start...])"
  }

  /// Whether both are one expression, or one column with and without its table's name.
  private static func isSame(_ left: String, _ right: String) -> Bool {
    let (left, right) = (SQLTokens.tokens(of: left), SQLTokens.tokens(of: right))
    if let left = columnName(left), let right = columnName(right) {
      return left.isSameIdentifier(as: right)
    }
    return left.map(\.text) == right.map(\.text)
  }

  /// The last part of `table.column`.
  private static func columnName(_ tokens: [SQLToken]) -> String? {
    for (index, token) in tokens.enumerated() {
      guard index.isMultiple(of: 2) ? token.name != nil : token.isSymbol(".") else { return nil }
    }
    return tokens.count.isMultiple(of: 2) ? nil : tokens.last?.name
  }
}
