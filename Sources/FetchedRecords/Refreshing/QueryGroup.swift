import ChangeCapture
import GRDB
import QueryAnalysis

/// The live results of one query, which differ in their arguments only.
///
/// Used in the engine's turns only.
final class QueryGroup {
  /// What the query is under the present schema.
  let query: Query
  /// Whether they are windows that are live by themselves.
  let isOfWindows: Bool
  private(set) var members: [ObjectIdentifier: LiveResult] = [:]
  /// nil: every member has to look at every row.
  private var argumentIndex: ArgumentIndex?

  init(_ query: Query, isOfWindows: Bool = false) {
    self.query = query
    self.isOfWindows = isOfWindows
    if let plan = query.plan { argumentIndex = query.routing.map { ArgumentIndex($0, plan) } }
  }

  /// The tables that the query reads.
  var tables: [String] { query.dependencies.flatMap { [$0.table] + $0.storage } }

  /// Those of which it must be known which rows changed. Of windows, the outline knows where they are.
  var followedTables: [String] { isOfWindows ? [] : query.plan?.followedTables ?? [] }

  /// Those of FTS5 that tell which documents changed.
  var searchIndexes: [SearchIndex] {
    guard !isOfWindows, let plan = query.plan else { return [] }
    return plan.leads.filter(\.isFollowed).compactMap(\.storage?.index)
  }

  func add(_ live: LiveResult) {
    live.group = self
    members[ObjectIdentifier(live)] = live
    argumentIndex?.add(live)
  }

  /// Notes that a member was brought up to date by some of its rows.
  func note(_ live: LiveResult, _ changed: [ChangedRows]) {
    for rows in changed where rows.lead.isOwner { argumentIndex?.note(live, rows.rowIDs) }
  }

  /// Notes that a member may hold other rows than it did.
  func leave(_ live: LiveResult) { argumentIndex?.leave(live) }

  func remove(_ live: LiveResult) {
    members[ObjectIdentifier(live)] = nil
    argumentIndex?.remove(live)
  }

  /// Which controllers have to look at which of the rows that changed.
  ///
  /// Where an argument must equal a value of the row, only those that hold one or may hold it now:
  /// O(k log n) for k rows of a table of n. Where other tables decide as well, O(k · m) for m
  /// controllers, a look into the index of each. Else every controller has to look at every row, which
  /// costs it a search.
  func assignments(
    of changed: [ChangedRows], in db: Database
  ) throws -> [(live: LiveResult, changed: [ChangedRows])] {
    guard argumentIndex != nil, members.count > 2, let plan = query.plan,
      changed.count == 1, let own = changed.first,
      own.lead.isOwner, own.rowIDs.count <= ArgumentIndex.maximumRows,
      let arriving = try argumentIndex?.members(for: own.rowIDs, in: db)
    else {
      return members.values.map { ($0, changed) }
    }
    var candidates = argumentIndex?.holders(of: own.rowIDs) ?? members
    for id in arriving.keys where candidates[id] == nil { candidates[id] = members[id] }
    return candidates.compactMap { id, live in
      // What takes long is looked at later.
      guard live.canFindOwners else { return (live, changed) }
      let held = live.rows(among: own.rowIDs, plan: plan)
      let coming = arriving[id] ?? []
      if held.isEmpty, coming.isEmpty { return nil }
      let rows = coming.isEmpty ? held : Set(held).union(coming).sorted()
      return (live, [ChangedRows(lead: own.lead, rowIDs: rows)])
    }
  }
}
