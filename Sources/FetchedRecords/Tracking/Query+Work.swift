import ChangeCapture
import QueryAnalysis

/// Rows of a table that changed, and how they lead to owners.
struct ChangedRows: Equatable {
  let lead: IncrementalPlan.Lead
  let rowIDs: [Int64]
}

extension Query {
  /// What a refresh has to do for a query.
  enum Work: Equatable {
    /// None of its tables changed.
    case none
    /// These rows changed, and nothing else that it looks at.
    case rows([ChangedRows], IncrementalPlan)
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
      var changed: [ChangedRows] = []
      for lead in plan.leads {
        switch changes[table: lead.table] {
        case nil: break
        case .rows(let rowIDs) where lead.search != nil || lead.isOwner:
          changed.append(ChangedRows(lead: lead, rowIDs: rowIDs))
        case .rows: return .refetch(because: ["noSearch"])
        case .whole(let reason): return .refetch(because: [reason.rawValue])
        }
      }
      // Alongside statements may look at other tables than the records come from.
      return .rows(changed, plan)
    }
  }
}
