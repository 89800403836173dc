extension SelectSyntax {
  /// The same with other names for those of its sources that have one of these names, so that it can stand where
  /// these mean others.
  ///
  /// - Returns: nil where a subquery may know one by that name.
  func renamingSources(named names: [String]) -> SelectSyntax? {
    let renamed = sources.compactMap(\.name).filter { name in
      names.contains(where: name.isSameIdentifier)
    }
    if renamed.isEmpty { return self }
    guard (expressions + groupBy).allSatisfy({ Subquery.all(in: $0).isEmpty }) else { return nil }
    let other = { (name: String) in
      renamed.first(where: name.isSameIdentifier).map { "didchange own \($0)" }
    }
    let written = { (text: String) in
      text.replacingNames { name, _ in
        guard let alias = name.qualifier.flatMap(other) else { return nil }
        return "\(alias.quotedIdentifier).\(name.name.quotedIdentifier)"
      }
    }
    var copy = mapExpressions(written)
    copy.groupBy = groupBy.map(written)
    for (index, column) in columns.enumerated() {
      guard case .allOf(let name) = column.kind, let alias = other(name) else { continue }
      copy.columns[index] = ResultColumn("\(alias.quotedIdentifier).*")
    }
    for (index, source) in sources.enumerated() {
      guard let name = source.name.flatMap(other) else { continue }
      copy.sources[index].alias = name
    }
    return copy
  }
}
