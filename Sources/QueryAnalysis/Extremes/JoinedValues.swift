/// A source of FROM that shows groups, and is to be left out.
struct JoinedValues {
  let alias: String
  let names: [String?]

  func number(of name: ColumnName) -> Int? {
    guard name.qualifier.map(alias.isSameIdentifier) != false else { return nil }
    return names.firstIndex { $0?.isSameIdentifier(as: name.name) == true }
  }

  /// Whether a SELECT names none of its columns. They have the names of others, too: so it is asked for that of the source.
  func isUnread(in syntax: SelectSyntax) -> Bool {
    !syntax.columns.contains { $0.kind == .all }
      && syntax.expressions.allSatisfy { expression in
        !SQLTokens.tokens(of: expression).contains { token in
          token.name.map(alias.isSameIdentifier) == true
        }
      }
  }

  /// A SELECT in which other columns stand for those of the source; nil: it shows all of them, or a subquery may look at one.
  func replaced(in syntax: SelectSyntax, by columns: [ColumnName]) -> SelectSyntax? {
    let mayLook = syntax.expressions.flatMap(Subquery.all).contains { subquery in
      subquery.body.contains { token in
        token.name.map { name in
          alias.isSameIdentifier(as: name)
            || names.contains { $0?.isSameIdentifier(as: name) == true }
        } == true
      }
    }
    if mayLook { return nil }
    let written = { (text: String) in
      text.replacingNames { name, _ in number(of: name).map { columns[$0].written } }
    }
    var copy = syntax
    for (index, column) in syntax.columns.enumerated() {
      switch column.kind {
      case .all: return nil
      case .allOf(let name):
        if alias.isSameIdentifier(as: name) { return nil }
      case .expression:
        let text = written(column.expression)
        if text == column.expression { continue }
        guard let name = column.name else { return nil }
        copy.columns[index] = ResultColumn("\(text) AS \(name.quotedIdentifier)")
      }
    }
    for (index, source) in syntax.sources.enumerated() {
      guard case .on(let condition) = source.constraint else { continue }
      copy.sources[index].constraint = .on(written(condition))
    }
    copy.predicate = syntax.predicate.map(written)
    copy.order = syntax.order.map { term in
      // The name of a result column comes first.
      syntax.columns.contains { $0.isNamed(by: OrderTerm(term).expression) } ? term : written(term)
    }
    return copy
  }
}

extension ResultColumn {
  /// How the result calls it; nil: by its text.
  var name: String? { alias ?? SQLTokens.tokens(of: expression).columnName?.name }
}
