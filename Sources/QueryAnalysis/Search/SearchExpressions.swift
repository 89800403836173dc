extension RowLocality {
  /// The functions of FTS5 that look at one row, and at what is searched for.
  ///
  /// https://www.sqlite.org/fts5.html#_auxiliary_functions_
  fileprivate static let functionsOfRows = ["highlight", "snippet"]

  /// An expression without the names of such functions, which SQLite's list of functions does not tell
  /// from others.
  ///
  /// - Throws: ``NotIncremental`` where it looks at more of an FTS5 table than at one row and at what is
  ///   searched for.
  func withoutSearchFunctions(
    _ tokens: [SQLToken], of select: ResolvedSelect, isCondition: Bool
  ) throws(NotIncremental) -> [SQLToken] {
    if select.searchNames.isEmpty { return tokens }
    var calls: Set<Int> = []
    let equated = isCondition ? select.tablesEquated(in: tokens[...]) : []
    for index in tokens.indices {
      guard let name = ResolvedSelect.reference(at: index, in: tokens[...]),
        let table = select.searchTable(hiding: name)
      else { continue }
      if name.name.isSameIdentifier(as: SearchTable.rank) {
        throw NotIncremental(reason: "the rank of a row depends on every row of \(table.name)")
      }
      if tokens.dropFirst(index + 1).first?.isWord("MATCH") == true || equated.contains(index) {
        continue
      }
      let first = name.qualifier == nil ? index : index - 2
      guard first > 1, tokens[first - 1].isSymbol("("), let function = tokens[first - 2].name else {
        throw NotIncremental(
          reason: "\(table.name) is no value: search for something in it by MATCH")
      }
      guard Self.functionsOfRows.contains(where: function.isSameIdentifier) else {
        throw NotIncremental(
          reason: "\(function)() may depend on every row of \(table.name)")
      }
      calls.insert(first - 2)
    }
    return tokens.indices.filter { !calls.contains($0) }.map { tokens[$0] }
  }
}

extension ResolvedSelect {
  /// The FTS5 table of FROM that has a hidden column of that name.
  fileprivate func searchTable(hiding name: ColumnName) -> SearchTable? {
    for source in sources {
      if let qualifier = name.qualifier, !source.isNamed(qualifier) { continue }
      if case .search(let table, _) = source.body, source.hides(column: name.name) { return table }
    }
    return nil
  }

  /// Where a side of `table = text` ends that is a hidden column. Among conditions of which each must
  /// be fulfilled that is a search; elsewhere it compares numbers that mean nothing.
  ///
  /// https://www.sqlite.org/fts5.html#full_text_query_syntax
  fileprivate func tablesEquated(in tokens: ArraySlice<SQLToken>) -> Set<Int> {
    var found: Set<Int> = []
    for term in tokens.conjuncts {
      let sides = term.split { $0.isSymbol("=") && $0.depth == 0 }
      guard sides.count == 2 else { continue }
      for side in sides where side.columnName.flatMap(searchTable) != nil {
        found.insert(side.endIndex - 1)
      }
    }
    return found
  }

  /// The names by which FTS5 tables are known, here and in FROM-subqueries.
  var searchNames: Set<String> {
    sources.reduce(into: []) { names, source in
      switch source.body {
      case .search: names.insert(source.name)
      case .select(let inner, _): names.formUnion(inner.searchNames)
      case .table, .function: break
      }
    }
  }
}

extension ArraySlice<SQLToken> {
  /// Whether something is called that looks at what is searched for.
  var callsSearchFunction: Bool {
    zip(self, dropFirst()).contains { token, next in
      guard next.isSymbol("("), let name = token.name else { return false }
      return RowLocality.functionsOfRows.contains(where: name.isSameIdentifier)
    }
  }
}
