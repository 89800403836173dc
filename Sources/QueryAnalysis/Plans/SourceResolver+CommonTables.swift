extension SourceResolver {
  /// An expression whose subqueries have in a WITH of their own which tables of WITH they name: they
  /// mean the same in any place.
  ///
  /// - Throws: ``NotIncremental`` where the names would get in each other's way.
  func bringingCommonTables(_ expression: String) throws -> String {
    var text = ""
    var end = expression.startIndex
    for subquery in Subquery.all(in: expression) {
      guard let first = subquery.body.first else { continue }
      let tables = try tables(namedIn: subquery.body)
      if tables.isEmpty { continue }
      if first.isWord("WITH") {
        throw NotIncremental(
          reason: "a subquery with a WITH of its own names \(tables[0].name), too")
      }
      let list = tables.map(\.sql).joined(separator: ", ")
      text += "\(expression[end..<first.text.startIndex])WITH \(list)\n"
      end = first.text.startIndex
    }
    return text + expression[end...]
  }

  /// The tables of WITH that may be named, and those that these name.
  private func tables(namedIn tokens: ArraySlice<SQLToken>) throws -> [CommonTable] {
    var found: [CommonTable] = []
    for name in tokens.compactMap(\.name) {
      guard let (table, scope) = commonTable(named: name), !found.contains(table) else { continue }
      let inner = try scope.tables(namedIn: SQLTokens.tokens(of: table.select)[...])
      found += [table] + inner.filter { !found.contains($0) }
    }
    // What one of them reads could have the name of another, of a WITH within or around its own.
    let isOfOne = commonTables.contains { level in found.allSatisfy(level.contains) }
    guard found.isEmpty || isOfOne else {
      throw NotIncremental(reason: "a subquery names tables of more than one WITH")
    }
    return found
  }
}

extension CommonTable {
  var sql: String {
    let list = columns.map { "(\($0.map(\.quotedIdentifier).joined(separator: ", ")))" } ?? ""
    return "\(name.quotedIdentifier)\(list) AS \(select.parenthesized)"
  }
}
