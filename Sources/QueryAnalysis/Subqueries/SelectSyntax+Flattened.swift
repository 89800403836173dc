import OrderedResults

// What a subquery aggregates may come from a SELECT that is all of its FROM, mostly for the sake of an
// order: `(SELECT group_concat(name) FROM (SELECT name FROM … WHERE … ORDER BY name))`.
extension SelectSyntax {
  /// The SELECT of rows that is all of FROM; nil: FROM is something else.
  var inner: SelectSyntax? {
    guard sources.count == 1, case .select(let sql) = sources[0].origin, hasOnlyRows,
      let inner = try? SelectParser.parse(sql), inner.hasOnlyRows,
      inner.columns.allSatisfy({
        $0.kind == .expression && !SQLTokens.tokens(of: $0.text)[...].callsWindowFunction
      })
    else { return nil }
    return inner
  }

  /// One SELECT that reads the same rows under the same conditions, and computes the same of each.
  ///
  /// Unlike the SELECT of FROM it may look at what is around the subquery.
  ///
  /// - Parameter inner: the SELECT of FROM.
  /// - Returns: nil where that is not certain.
  func flattened(_ inner: SelectSyntax) -> SelectSyntax? {
    let columns = inner.columns.map { column in
      (column.alias ?? SQLTokens.tokens(of: column.expression).columnName?.name, column.expression)
    }
    func written(_ expression: String) -> String? {
      guard Subquery.all(in: expression).isEmpty else { return nil }
      var isCertain = true
      let text = expression.replacingNames { name, token in
        let isOfInner =
          name.qualifier.map { sources[0].alias?.isSameIdentifier(as: $0) == true } ?? true
        let shown =
          isOfInner ? columns.first { $0.0?.isSameIdentifier(as: name.name) == true }?.1 : nil
        // A keyword is no name, unless a column has it, too.
        if token.isKeyword, name.qualifier == nil {
          isCertain = isCertain && shown == nil
          return nil
        }
        isCertain = isCertain && shown != nil
        return shown
      }
      return isCertain ? text : nil
    }
    let shown = self.columns.compactMap { written($0.expression) }
    let own = predicate.map { written($0) }
    let terms = order.compactMap { written($0) }
    guard shown.count == self.columns.count, terms.count == order.count, own != .some(nil) else {
      return nil
    }
    var copy = inner
    copy.columns = shown.map { ResultColumn($0) }
    let conditions = [inner.predicate, own?.flatMap(\.self)].compactMap { $0?.parenthesized }
    copy.predicate = conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
    copy.order += terms
    return copy
  }

  /// Whether it makes one row of each row of FROM, or one of all.
  private var hasOnlyRows: Bool {
    commonTables.isEmpty && !isDistinct && groupBy.isEmpty && having == nil && windows.isEmpty
      && limit == nil
  }
}
