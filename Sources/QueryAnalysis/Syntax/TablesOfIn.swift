extension String {
  /// The same SQL with `x IN name` written out as what it means, `x IN (SELECT * FROM name)`, so that
  /// nobody else has to know of it.
  ///
  /// https://www.sqlite.org/lang_expr.html#the_in_and_not_in_operators
  var withTablesOfInAsSelects: String {
    let tokens = SQLTokens.tokens(of: self)
    var written = ""
    var rest = startIndex
    for (index, token) in tokens.enumerated() where token.isWord("IN") {
      guard let name = tokens[(index + 1)...].leadingTableName else { continue }
      written += "\(self[rest..<name.lowerBound])(SELECT * FROM \(self[name]))"
      rest = name.upperBound
    }
    return rest == startIndex ? self : written + self[rest...]
  }
}

extension ArraySlice<SQLToken> {
  /// Where the name of a table stands, with that of its schema if it has one; nil: something else comes
  /// first, as a function with its arguments.
  fileprivate var leadingTableName: Range<String.Index>? {
    guard first?.name != nil else { return nil }
    let isQualified = dropFirst().first?.isSymbol(".") == true && dropFirst(2).first?.name != nil
    let name = prefix(isQualified ? 3 : 1)
    guard let first = name.first, let last = name.last,
      self[name.endIndex...].first?.isSymbol("(") != true
    else { return nil }
    return first.text.startIndex..<last.text.endIndex
  }
}
