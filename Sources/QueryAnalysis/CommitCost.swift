/// What a commit to one of a query's tables costs, by the query's plan.
package enum CommitCost: String, Sendable {
  /// A search for each row that changed, and one for each record that it leads to.
  case search
  /// The same, and each record whose place among all, or running sum, is another one then; or all groups, where each
  /// record looks at all.
  case running
  /// The first rows of an order, up to LIMIT or a place.
  case window
  /// The rows of each group, or partition, that a changed row is in, or was.
  case partition
  /// What all records are compared with is looked up again, beside what else the rows that changed cost; and the query
  /// runs again where that is another value.
  case value
  /// The query runs again.
  case everything
}

extension CommitCost {
  /// What a commit costs, in words that follow "cost".
  package var inWords: String {
    switch self {
    case .search: "a search for each changed row and each record that it leads to"
    case .running:
      "a search for each changed row, and each record that has another place or sum then, or all groups that these look at"
    case .window: "the first rows, up to LIMIT or a place"
    case .partition: "the rows of each group, or partition, that a changed row is in"
    case .value:
      "a subquery that all records look at, and the whole query where that comes to something else"
    case .everything: "the whole query"
    }
  }
}

extension Query {
  /// What a commit to each of the query's tables costs: tables of one cost together, in their order.
  ///
  /// O(t log t) for the t tables of the query.
  package var commitCosts: [(tables: [String], cost: CommitCost)] {
    Dictionary(grouping: tables) { cost(ofCommitTo: $0) }
      .sorted { $0.value[0] < $1.value[0] }
      .map { (tables: $0.value, cost: $0.key) }
  }

  /// What the rows that change in a table cost; O(1) for other tables, which the query does not read.
  ///
  /// O(t) for the t tables of the query.
  package func cost(ofCommitTo table: String) -> CommitCost {
    guard let plan else {
      if limitedRows != nil { return .window }
      return lookup != nil || innerGroups != nil ? .running : totals.isEmpty ? .everything : .search
    }
    let leads = plan.leads.filter { $0.table.isSameIdentifier(as: table) }
    guard !leads.isEmpty, leads.allSatisfy(\.isFollowed) else { return .everything }
    if leads.contains(where: \.isOfValue) { return plan.tally == nil ? .value : .running }
    if plan.isPrefix { return .window }
    if !plan.running.isEmpty { return .running }
    if plan.owned != nil { return .search }
    let isTallied = plan.tally?.tables.allSatisfy { $0.isSameIdentifier(as: table) } == true
    return plan.isGrouped && !isTallied ? .partition : .search
  }
}
