// A view, a CTE or a subquery that shows some of the groups that another makes:
//
//     WITH t AS (SELECT purchase, sum(price) AS total FROM line GROUP BY purchase),
//     large AS (SELECT * FROM t WHERE total > 500)
extension SelectSyntax {
  /// One SELECT that makes the groups which this one shows: its WHERE is a HAVING of theirs.
  ///
  /// - Parameters:
  ///   - groups: the SELECT with GROUP BY that is all of this one's FROM.
  ///   - names: those of its columns, where they are not its own.
  ///   - functions: knows aggregates.
  /// - Returns: nil where it makes more of them than to show them, or that is not certain.
  func flattened(
    over groups: SelectSyntax, names: [String]?, _ functions: FunctionList
  ) -> SelectSyntax? {
    let own = groups.columns.map { $0.kind == .expression ? $0.name : nil }
    let texts = columns.map(\.expression) + [predicate].compactMap(\.self)
    guard let names = names ?? (own as? [String]), names.count == groups.columns.count,
      !groups.isDistinct, groups.limit == nil, sources.count == 1, !isDistinct, groupBy.isEmpty,
      having == nil, windows.isEmpty, limit == nil,
      !texts.contains(where: { text in
        functions.callsAggregate(text) || !Subquery.all(in: text).isEmpty
          || SQLTokens.tokens(of: text)[...].callsWindowFunction
      })
    else { return nil }
    let columns = zip(names, groups.columns.map(\.expression)).map { $0 }
    var copy = groups
    copy.columns = []
    for column in self.columns {
      guard column.kind == .expression else {
        // There is no other source whose columns it may mean.
        copy.columns += columns.map { ResultColumn("\($1) AS \($0.quotedIdentifier)") }
        continue
      }
      guard let name = column.name, let text = written(column.expression, columns) else {
        return nil
      }
      copy.columns.append(ResultColumn("\(text) AS \(name.quotedIdentifier)"))
    }
    guard let predicate else { return copy }
    guard let condition = written(predicate, columns) else { return nil }
    copy.having = [groups.having, condition].compactMap { $0?.parenthesized }
      .joined(separator: " AND ")
    return copy
  }

  /// An expression over the one source's columns, as one of what they show; nil: it may look at something else.
  private func written(
    _ expression: String, _ columns: [(name: String, expression: String)]
  ) -> String? {
    if let name = SQLTokens.tokens(of: expression).columnName, isOfOnlySource(name) {
      return columns.first { $0.name.isSameIdentifier(as: name.name) }?.expression
    }
    var isCertain = true
    let text = expression.replacingNames { name, token in
      let shown =
        isOfOnlySource(name)
        ? columns.first { $0.name.isSameIdentifier(as: name.name) }?.expression : nil
      isCertain = isCertain && (shown != nil || name.qualifier == nil && token.isOperator)
      return shown
    }
    return isCertain ? text : nil
  }

  private func isOfOnlySource(_ name: ColumnName) -> Bool {
    name.qualifier.map { sources[0].name?.isSameIdentifier(as: $0) == true } ?? true
  }
}
