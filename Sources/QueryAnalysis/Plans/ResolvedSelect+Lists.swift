// Lists of columns that a column is looked for in.
extension ResolvedSelect {
  /// The same, down to views and subqueries of FROM, where `a IN (b, c)` is `(a = b OR a = c)`: SQLite searches by
  /// `b` and by `c` then, and not only by `a`.
  ///
  /// IN takes the values in its list for such without a type: https://www.sqlite.org/datatype3.html#comparison_expressions.
  /// So it says the same where all columns compare alike.
  func comparingWithLists(_ facts: SchemaFacts) -> ResolvedSelect {
    var copy = self
    copy.syntax.predicate = syntax.predicate.map { comparingWithLists($0, facts) }
    for (index, source) in sources.enumerated() {
      if case .select(let inner, let names) = source.body {
        copy.sources[index].body = .select(inner.comparingWithLists(facts), names: names)
      }
      guard case .on(let condition) = source.constraint else { continue }
      copy.sources[index].constraint = .on(comparingWithLists(condition, facts))
    }
    return copy
  }

  private func comparingWithLists(_ condition: String, _ facts: SchemaFacts) -> String {
    let tokens = SQLTokens.tokens(of: condition)[...]
    // Names within a subquery may be those of others.
    let others = Subquery.all(in: condition).map(\.body.indices)
    var text = ""
    var end = condition.startIndex
    for index in tokens.indices
    where tokens[index].isWord("IN") && !others.contains(where: { $0.contains(index) }) {
      var rest = tokens[(index + 1)...]
      guard let list = rest.takeParentheses(), let operand = tokens.operand(before: index),
        let column = operand.columnName.flatMap(origin),
        let own = comparison(of: column, facts)
      else { continue }
      let depth = list.first?.depth
      let members = list.split { $0.isSymbol(",") && $0.depth == depth }
      let areAlike = members.allSatisfy { member in
        member.columnName.flatMap(origin).flatMap { comparison(of: $0, facts) } == own
      }
      guard !members.isEmpty, areAlike, let start = operand.first?.text.startIndex else {
        continue
      }
      let comparisons = members.map { "\(operand.sourceText) = \($0.sourceText)" }
      text += condition[end..<start] + comparisons.joined(separator: " OR ").parenthesized
      end = tokens[rest.startIndex - 1].text.endIndex
    }
    return text + condition[end...]
  }

  private func comparison(of column: BaseColumn, _ facts: SchemaFacts) -> SchemaFacts.Comparison? {
    facts.comparison(of: column.name, in: tables[column.table].name)
  }
}
