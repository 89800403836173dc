/// What a commit to one of a query's tables costs, by the query's plan.
package enum CommitCost: Sendable {
  /// A search for each row that changed, and one for each record that it leads to.
  case search
  /// The rows of each group that a changed row is in, or was.
  case partition
  /// The query runs again.
  case everything
}

extension Query {
  /// What the rows that change in a table cost; O(1) for other tables, which the query does not read.
  ///
  /// O(t) for the t tables of the query.
  package func cost(ofCommitTo table: String) -> CommitCost {
    guard let plan else { return totals.isEmpty ? .everything : .search }
    let leads = plan.leads.filter { $0.table.isSameIdentifier(as: table) }
    guard !leads.isEmpty, leads.allSatisfy(\.isFollowed) else { return .everything }
    return plan.isGrouped ? .partition : .search
  }
}
