extension SelectSyntax {
  private static let onlySource = "didchange rows"

  /// The same, and its text, with a name for a subquery that is all of FROM and has none; nil: it is another SELECT.
  func namingSource(in sql: String) -> (syntax: SelectSyntax, sql: String)? {
    guard sources.count == 1, sources[0].alias == nil, case .select(let body) = sources[0].origin,
      let place = sql.firstRange(of: body), !sql[place.upperBound...].contains(body)
    else { return nil }
    let rest = sql[place.upperBound...].drop(while: \.isWhitespace)
    guard rest.first == ")" else { return nil }
    var copy = self
    copy.sources[0].alias = Self.onlySource
    let name = " AS \(Self.onlySource.quotedIdentifier)"
    return (copy, sql[...rest.startIndex] + name + rest.dropFirst())
  }

  /// What a source of FROM that is no table stands for: a subquery, a table of WITH or a view.
  ///
  /// - Parameters:
  ///   - source: one of ``sources``.
  ///   - facts: knows the views.
  /// - Returns: its SELECT, the names of its columns where they are not those of the SELECT, and the tables of WITH that
  ///   this may read; nil: it is a table, or a function.
  func definition(
    of source: SourceSyntax, _ facts: SchemaFacts
  ) -> (sql: String, names: [String]?, tables: [CommonTable])? {
    switch source.origin {
    case .function: return nil
    case .select(let sql): return (sql, nil, commonTables)
    case .table(let schema, let name):
      var others = commonTables
      if schema == nil, let index = others.firstIndex(where: { $0.name.isSameIdentifier(as: name) })
      {
        let table = others.remove(at: index)
        return (table.select, table.columns, others)
      }
      guard schema?.isSameIdentifier(as: "main") != false, let view = try? facts.view(name) else {
        return nil
      }
      return (view.select, view.columns, [])
    }
  }
}
