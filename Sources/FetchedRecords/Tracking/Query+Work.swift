import ChangeCapture
import OrderedResults
import QueryAnalysis

/// Rows of a table that changed, and how they lead to owners; none, where a value for all records may have changed.
struct ChangedRows: Equatable {
  let lead: IncrementalPlan.Lead
  /// Of a table WITHOUT ROWID: the numbers of its rows.
  let rowIDs: [Int64]
  /// By these numbers, the keys of the rows that there are.
  var keys: [Int64: [Value]] = [:]
}

extension Query {
  /// What a refresh has to do for a query.
  struct Work {
    var records: RecordsWork
    /// The statements alongside whose tables changed.
    var alongside: [StaleStatement]
    /// By their positions among the plan's, what is known of the values that all records look at: those of their
    /// aggregates.
    var values: [Int: [Value]] = [:]
    /// What is known of its groups; nil: they are read again.
    var groups: KnownGroups?

    /// Whether statements run that may count the rows of a table.
    var mayCount: Bool {
      if alongside.contains(where: { $0.aggregates == nil }) { return true }
      return switch records {
      case .refetch, .totals(nil), .inner(nil, _), .window(nil, _): true
      case .none, .rows, .window(.some, _), .total, .totals(.some), .inner(.some, _): false
      }
    }
  }

  /// What a SELECT in FROM has, of which records are made.
  enum InnerRows: Equatable {
    /// The rowids of the rows up to LIMIT.
    case rowIDs([Int64])
    /// The values of each group.
    case groups([[Value]])
  }

  enum RecordsWork: Equatable {
    /// None of their tables changed.
    case none
    /// These rows changed, and nothing else that they come from; the query has a plan for them.
    case rows([ChangedRows])
    /// A window that is live by itself may show others; where it is now, if that is known, and which
    /// rows may have changed; nil: any.
    case window(WindowPlaces?, changed: [Int64]?)
    /// It shows the same, and only the whole result has another number of records.
    case total(WindowPlaces)
    /// The only record is made of rows that changed; what each of its columns is made of, as far as all is
    /// known. No columns: there is no record.
    case totals([[Value]]?)
    /// The records are made of the rows up to LIMIT, or the groups, that a SELECT in FROM has: these, if they are
    /// known, and whether tables beside them have changed.
    case inner(InnerRows?, othersChanged: Bool)
    /// Why the rows do not say enough: words fit to label a metric.
    case refetch(because: [String])
  }

  /// A statement alongside whose value may be another now.
  struct StaleStatement: Equatable {
    let position: Int
    /// The values of its aggregates; nil: it runs again.
    var aggregates: [Value]?
  }

  /// What has to be done after changes. O(t) for the t tables of the query.
  ///
  /// - Parameters:
  ///   - changes: what may have changed.
  ///   - isWindow: whether it is for a window that is live by itself, of which the outline tells which
  ///     rows left it.
  /// - Returns: the least that brings a result up to date.
  func work(for changes: DatabaseChanges, isWindow: Bool) -> Work {
    Work(
      records: recordsWork(for: changes, isWindow),
      alongside: staleStatements(after: changes).map { StaleStatement(position: $0) })
  }

  /// Everything anew.
  func refetch(because reasons: [String]) -> Work {
    Work(
      records: .refetch(because: reasons),
      alongside: alongside.indices.map { StaleStatement(position: $0) })
  }

  private func staleStatements(after changes: DatabaseChanges) -> [Int] {
    switch changes.extent {
    case .nothing: []
    case .everything: Array(alongside.indices)
    case .tables:
      alongside.indices.filter { alongside[$0].tables.contains { changes[table: $0] != nil } }
    }
  }

  private func recordsWork(for changes: DatabaseChanges, _ isWindow: Bool) -> RecordsWork {
    switch changes.extent {
    case .nothing: return .none
    case .everything: return .refetch(because: changes.reasons.names)
    case .tables:
      guard
        tables.contains(where: { changes[table: $0] != nil })
          || storage.contains(where: { changes[table: $0] != nil })
      else { return .none }
      if let limited = limitedRows {
        let othersChanged = limited.tablesBeside.contains { changes[table: $0] != nil }
        return .inner(nil, othersChanged: othersChanged)
      }
      if innerGroups != nil { return .inner(nil, othersChanged: false) }
      guard let plan else {
        return followsRows ? .totals(nil) : .refetch(because: ["notIncremental"])
      }
      return work(of: plan, for: changes, isWindow)
    }
  }

  private func work(
    of plan: IncrementalPlan, for changes: DatabaseChanges, _ isWindow: Bool
  ) -> RecordsWork {
    var changed: [ChangedRows] = []
    for lead in plan.leads {
      if lead.isOfValue {
        if changes[table: lead.table] != nil { changed.append(ChangedRows(lead: lead, rowIDs: [])) }
        continue
      }
      let tables = lead.isFollowed ? lead.rowTables : everyTable(of: lead)
      switch changes[tables: tables] {
      case nil: break
      case .rows(let rowIDs) where lead.isFollowed:
        changed.append(ChangedRows(lead: lead, rowIDs: rowIDs))
      case .present(let rowIDs) where isWindow:
        changed.append(ChangedRows(lead: lead, rowIDs: rowIDs))
      case .keys(let keys) where lead.isFollowed:
        changed.append(ChangedRows(lead: lead, rowIDs: keys.numbers, keys: keys.values))
      case .rows, .keys: return .refetch(because: ["noSearch"])
      case .present: return .refetch(because: [TableChanges.Reason.notFollowed.rawValue])
      case .whole(let reason): return .refetch(because: [reason.rawValue])
      }
    }
    return changed.isEmpty ? .none : .rows(changed.joiningOwners(plan))
  }

  private func everyTable(of lead: IncrementalPlan.Lead) -> [String] {
    [lead.table] + (dependencies.first { $0.table == lead.table }?.storage ?? [])
  }
}

extension DatabaseChanges {
  /// What may have changed in one of several tables; nil: nothing.
  fileprivate subscript(tables tables: [String]) -> TableChanges? {
    tables.reduce(nil) { joined, table in
      guard let changes = self[table: table] else { return joined }
      guard var joined else { return changes }
      joined.formUnion(changes)
      return joined
    }
  }
}

extension [ChangedRows] {
  /// The same with rows that lead to owners by their own rowids taken for rows of the owners' table.
  fileprivate func joiningOwners(_ plan: IncrementalPlan) -> [ChangedRows] {
    if plan.leads.count == 1 { return self }
    let isOwner = { (rows: ChangedRows) in
      rows.lead.isOwner && rows.lead.arm == nil && rows.lead.searches.isEmpty
    }
    let owners = filter(isOwner)
    guard let first = owners.first, owners.count > 1 || first.lead != plan.leads[0] else {
      return self
    }
    let rowIDs = owners.reduce(into: Set()) { $0.formUnion($1.rowIDs) }
    return [ChangedRows(lead: plan.leads[0], rowIDs: rowIDs.sorted())] + filter { !isOwner($0) }
  }
}
