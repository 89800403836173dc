import ChangeCapture

extension Query {
  /// What a refresh has to do for a query.
  enum Work: Equatable {
    /// None of its tables changed.
    case none
    /// These rows changed, and nothing else that it looks at.
    case rows([Int64], IncrementalPlan)
    /// Why its rows do not say enough: words fit to label a metric.
    case refetch(because: [String])
  }

  /// What has to be done after changes. O(t) for the t tables of the query.
  func work(for changes: DatabaseChanges) -> Work {
    switch changes.extent {
    case .nothing: return .none
    case .everything: return .refetch(because: changes.reasons.names)
    case .tables:
      guard dependencies.contains(where: { changes[table: $0.table] != nil }) else { return .none }
      guard let plan else { return .refetch(because: ["notIncremental"]) }
      switch changes[table: plan.table] {
      // Alongside statements may look at other tables than the records come from.
      case nil: return .rows([], plan)
      case .rows(let rowIDs): return .rows(rowIDs, plan)
      case .whole(let reason): return .refetch(because: [reason.rawValue])
      }
    }
  }
}
