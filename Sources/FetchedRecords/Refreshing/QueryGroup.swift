import ChangeCapture
import GRDB

/// The live results of one query, which differ in their arguments only.
///
/// Used on the refresher's queue only.
final class QueryGroup {
  let name: String
  private(set) var members: [ObjectIdentifier: LiveResult] = [:]
  private var router: ArgumentRouter?

  /// What the query is under the present schema.
  var query: Result<Query, FetchFailure> {
    didSet { makeRouter() }
  }

  init(name: String, query: Result<Query, FetchFailure>) {
    self.name = name
    self.query = query
    makeRouter()
  }

  /// How the query is maintained row by row, if it is.
  var plan: IncrementalPlan? { (try? query.get())?.plan }

  /// The tables that the query reads. A query that failed to be analysed waits for another schema.
  var tables: [String] { (try? query.get())?.dependencies.map(\.table) ?? [] }

  func add(_ live: LiveResult) {
    members[ObjectIdentifier(live)] = live
    router?.add(live)
  }

  func remove(_ live: LiveResult) {
    members[ObjectIdentifier(live)] = nil
    router?.remove(live)
  }

  private func makeRouter() {
    // What stands alongside may change for every controller.
    guard let query = try? query.get(), let route = query.plan?.equality,
      query.definition.alongside.isEmpty
    else {
      router = nil
      return
    }
    var router = ArgumentRouter(route)
    for live in members.values { router.add(live) }
    self.router = router
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
