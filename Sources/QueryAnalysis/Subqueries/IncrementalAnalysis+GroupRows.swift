// Subqueries beside GROUP BY: what they read is joined to groups, not to each of their rows.
extension IncrementalAnalysis {
  private static let groupsName = "\"didchange groups\""

  /// FROM of a subquery's join with one row of each group in the place of all of them; nil: there are
  /// more than tables in the groups' own FROM.
  ///
  /// Any row will do: a subquery looks at nothing of which a group has several values. Else as many
  /// combinations would be read as a group has rows, for each row that belongs to it.
  func oneRowOfEachGroup(_ terms: [String], joinedBy joined: ResolvedSelect) -> String? {
    let rows = select.certain
    let isOfTables = rows.sources.allSatisfy { if case .table = $0.body { true } else { false } }
    let rowIDs = rows.tables.compactMap(\.rowID)
    // What is equal in a group may look different in another row of it.
    let lookAlike = collations(of: select.groupTerms.map { GroupTerm($0, in: select) }).isEmpty
    guard isOfTables, lookAlike, rowIDs.count == rows.sources.count else { return nil }
    let names = rowIDs.indices.map(ResolvedSelect.rowIDName)
    let groups = DeclaredParts.select(
      zip(rowIDs, names).map { "\($0) AS \($1)" }, from: rows.from(),
      conditions: [rows.syntax.predicate?.parenthesized].compactMap(\.self), groupBy: terms,
      having: nil)
    var again = joined
    for (index, name) in names.enumerated() {
      again.sources[index].constraint = .on("\(rowIDs[index]) = \(Self.groupsName).\(name)")
    }
    return "(\n\(groups)\n) AS \(Self.groupsName)\n\(again.from(joiningFirst: true))"
  }
}
