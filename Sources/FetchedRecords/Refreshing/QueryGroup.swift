import ChangeCapture
import GRDB

/// The live results of one query, which differ in their arguments only.
///
/// Used in the engine's turns only.
final class QueryGroup {
  /// What the query is under the present schema.
  let query: Query
  private(set) var members: [ObjectIdentifier: LiveResult] = [:]
  /// nil: every member has to look at every row.
  private var router: ArgumentRouter?

  init(_ query: Query) {
    self.query = query
    // What stands alongside may change for every member.
    if query.definition.alongside.isEmpty { router = query.plan?.equality.map(ArgumentRouter.init) }
  }

  /// The tables that the query reads.
  var tables: [String] { query.dependencies.map(\.table) }

  func add(_ live: LiveResult) {
    live.group = self
    members[ObjectIdentifier(live)] = live
    router?.add(live)
  }

  func remove(_ live: LiveResult) {
    members[ObjectIdentifier(live)] = nil
    router?.remove(live)
  }

  /// Which controllers have to look at which of the rows that changed.
  ///
  /// Where an argument must equal a value of the row: O(k · (m + log n)), k rows of a table of n and
  /// m controllers, and m only for a look into the index of each. Else every controller has to look
  /// at every row, which costs it a search.
  func assignments(
    of changed: [ChangedRows], plan: IncrementalPlan, in db: Database
  ) throws -> [(live: LiveResult, changed: [ChangedRows])] {
    guard let router, members.count > 2, changed.count == 1, let own = changed.first,
      own.route.isOwner, own.rowIDs.count <= ArgumentRouter.maximumRows
    else {
      return members.values.map { ($0, changed) }
    }
    let arriving = try router.members(for: own.rowIDs, in: db)
    return members.compactMap { id, live in
      // What takes long is looked at later.
      guard live.canFindOwners else { return (live, changed) }
      let held = live.rows(among: own.rowIDs, plan: plan)
      let coming = arriving[id] ?? []
      if held.isEmpty, coming.isEmpty { return nil }
      let rows = coming.isEmpty ? held : Set(held).union(coming).sorted()
      return (live, [ChangedRows(route: own.route, rowIDs: rows)])
    }
  }
}
