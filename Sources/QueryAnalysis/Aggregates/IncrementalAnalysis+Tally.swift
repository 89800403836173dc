import OrderedResults

// Groups that may be kept up to date by what their rows come to.
extension IncrementalAnalysis {
  /// The parts of a query whose groups are made of aggregates and of what all rows of a group have in common.
  ///
  /// - Parameter plan: how the groups are read again otherwise.
  /// - Returns: nil where a record is made of more than that.
  func groupSyntax(_ plan: IncrementalPlan) -> GroupSyntax? {
    guard select.isGrouped, !isOverParts, !ownersArePartitions, !dependsOnOrder, choice == nil,
      candidate.whole == nil, candidate.extreme == nil,
      candidate.resultExpressions.isEmpty, encoding == .utf8,
      plan.collations.allSatisfy({ $0 == .binary })
    else { return nil }
    let groups = select.groupTerms
    let keyColumns = groups.compactMap { group in
      let term = GroupTerm(group, in: select)
      return (0..<list.count).first { shows(term, at: $0) }
    }
    guard keyColumns.count == groups.count else { return nil }
    var terms = groups
    var columns: [GroupSyntax.Column] = []
    for position in 0..<list.count {
      guard let expression = expression(ofColumn: position), Subquery.all(in: expression).isEmpty
      else {
        return nil
      }
      if let group = keyColumns.firstIndex(of: position) {
        columns.append(.term(group))
      } else if SQLTokens.tokens(of: expression)[...].callsWindowFunction {
        columns.append(.running)
      } else if locality.functions.callsAggregate(expression) {
        columns.append(.value(expression))
      } else {
        // It has one value in a group, or the query would depend on the order of the rows.
        let known = terms.firstIndex(of: expression)
        columns.append(.term(known ?? terms.count))
        if known == nil { terms.append(expression) }
      }
    }
    guard terms.count <= Self.mostTerms else { return nil }
    return GroupSyntax(
      terms: terms, keyColumns: keyColumns, columns: columns,
      having: select.syntax.having.map(select.withoutNames),
      from: DeclaredParts.select(
        [], from: select.from(),
        conditions: [select.syntax.predicate?.parenthesized].compactMap(\.self), groupBy: [],
        having: nil))
  }

  /// Each row is held with all of them.
  private static var mostTerms: Int { 8 }
}
