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
    let clauses = SelectClauses(SQLTokens.tokens(of: sql)[...])
    if clauses.compoundOperator != nil || clauses[.limit] != nil { return sql }
    let bytes = "\(section.parenthesized) COLLATE BINARY"
    guard let first = clauses[.order]?.members.first, let word = first.first, let last = first.last
    else { return "\(sql)\nORDER BY \(section.parenthesized), \(bytes)" }
    if isSame(OrderTerm(first.sourceText).expression, section) {
      let end = last.text.endIndex
      return "\(sql[..<end]), \(bytes)\(sql[end...])"
    }
    let start = word.text.startIndex
    return "\(sql[..<start])\(section.parenthesized), \(bytes), \(sql[start...])"
  }

  /// Whether both are one expression, or one column with and without its table's name.
  private static func isSame(_ left: String, _ right: String) -> Bool {
    let (left, right) = (SQLTokens.tokens(of: left), SQLTokens.tokens(of: right))
    if let left = left.columnName, let right = right.columnName {
      return left.name.isSameIdentifier(as: right.name)
    }
    return left.map(\.text) == right.map(\.text)
  }
}
