import OrderedResults

// Names of result columns in longer expressions.
extension ResolvedSelect {
  /// The same with a result column's expression in the place of its name, wherever a term of ORDER BY has
  /// one within a longer expression: SQLite copies it as well.
  ///
  /// A name is that of a column of FROM first. Window functions stay where they are.
  /// https://www.sqlite.org/lang_select.html#the_order_by_clause
  var withoutNamesInOrder: ResolvedSelect {
    var copy = self
    copy.syntax.order = syntax.order.map(withoutNamesInTerm)
    return copy
  }

  private func withoutNamesInTerm(_ term: String) -> String {
    let whole = SQLTokens.tokens(of: OrderTerm(term).expression)[...].withoutParentheses
    if whole.count < 2 { return term }
    return withoutNames(term)
  }

  /// An expression with those of result columns in the place of their names.
  func withoutNames(_ expression: String) -> String {
    expression.replacingNames { name, token in
      token.isKeyword ? nil : self.expression(named: name)
    }
  }

  /// What the first result column of a name shows, if no column of FROM has it.
  private func expression(named name: ColumnName) -> String? {
    guard name.qualifier == nil, !sources.contains(where: { $0.mayOwn(name) }),
      let column = syntax.columns.first(where: {
        $0.alias?.isSameIdentifier(as: name.name) == true
      }), !SQLTokens.tokens(of: column.expression).contains(where: { $0.isWord("OVER") })
    else { return nil }
    return column.expression
  }
}
