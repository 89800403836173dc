/// A source of FROM that shows groups, and is to be left out.
struct JoinedValues {
  let alias: String
  let names: [String?]

  func number(of name: ColumnName) -> Int? {
    guard name.qualifier.map(alias.isSameIdentifier) != false else { return nil }
    return names.firstIndex { $0?.isSameIdentifier(as: name.name) == true }
  }

  private func number(ofColumn expression: String) -> Int? {
    SQLTokens.tokens(of: expression).columnName.flatMap(number)
  }

  private func isRead(by expression: String) -> Bool {
    ResolvedSelect.references(in: SQLTokens.tokens(of: expression)[...])
      .contains { number(of: $0) != nil }
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

  /// A SELECT in which other columns stand for those of the source; nil: it shows all of them, does more with one than to
  /// show it and to order by it, or a subquery may look at one.
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
    // A value has another type and collation than a column: it may be shown, and not be compared.
    let conditions = syntax.sources.compactMap { source in
      if case .on(let condition) = source.constraint { condition } else { nil }
    }
    if (conditions + [syntax.predicate].compactMap(\.self)).contains(where: isRead) { return nil }
    var copy = syntax
    for (index, column) in syntax.columns.enumerated() {
      switch column.kind {
      case .all: return nil
      case .allOf(let name):
        if alias.isSameIdentifier(as: name) { return nil }
      case .expression:
        guard isRead(by: column.expression) else { continue }
        guard let number = number(ofColumn: column.expression), let name = column.name else {
          return nil
        }
        copy.columns[index] = ResultColumn("\(columns[number].written) AS \(name.quotedIdentifier)")
      }
    }
    for (index, term) in syntax.order.enumerated() {
      let expression = OrderTerm(term).expression
      // The name of a result column comes first.
      if syntax.columns.contains(where: { $0.isNamed(by: expression) }) || !isRead(by: expression) {
        continue
      }
      guard let number = number(ofColumn: expression), let end = term.firstRange(of: expression)
      else { return nil }
      copy.order[index] = columns[number].written + term[end.upperBound...]
    }
    return copy
  }
}

extension ResultColumn {
  /// How the result calls it; nil: by its text.
  var name: String? { alias ?? SQLTokens.tokens(of: expression).columnName?.name }
}
