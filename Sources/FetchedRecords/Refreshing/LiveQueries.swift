import ChangeCapture

/// All controllers that are kept up to date, found by the tables that their queries read.
///
/// What a commit costs must not depend on the controllers that it does not concern: so they stand in
/// groups, one for each query, and a group is looked at only when one of its tables changed.
///
/// Used on the refresher's queue only.
final class LiveQueries {
  private var queries: [ObjectIdentifier: LiveQuery] = [:]
  private var groups: [String: QueryGroup] = [:]
  /// By names in small letters; made when it is needed.
  private var groupsByTable: [String: [QueryGroup]]?
  private var failed: [ObjectIdentifier: LiveQuery] = [:]

  /// The tables whose rows have to be known.
  private(set) var followedTables: Set<String> = []

  /// Begins to keep a controller up to date, whose query is `query` now.
  func add(_ controller: QueryController, query: Query) {
    let live = LiveQuery(controller)
    queries[ObjectIdentifier(controller)] = live
    if let group = groups[controller.queryName] { return group.add(live) }
    let group = QueryGroup(name: controller.queryName, query: .success(query))
    group.add(live)
    groups[controller.queryName] = group
    findTables()
  }

  func remove(_ controller: QueryController) {
    guard let live = queries.removeValue(forKey: ObjectIdentifier(controller)) else { return }
    failed[ObjectIdentifier(controller)] = nil
    guard let group = groups[controller.queryName] else { return }
    group.remove(live)
    guard group.members.isEmpty else { return }
    groups[controller.queryName] = nil
    findTables()
  }

  func removeAll() {
    queries = [:]
    groups = [:]
    failed = [:]
    findTables()
  }

  /// The controller as it is kept, if it is.
  subscript(controller: QueryController) -> LiveQuery? { queries[ObjectIdentifier(controller)] }

  var all: some Collection<LiveQuery> { queries.values }

  // MARK: - Queries

  /// Learns what each query is under another schema.
  func analyze(_ query: (String) -> Result<Query, FetchFailure>) {
    for (name, group) in groups { group.query = query(name) }
    findTables()
  }

  /// The query of a controller under the present schema.
  func query(of controller: QueryController) throws(FetchFailure) -> Query {
    guard let group = groups[controller.queryName] else {
      throw FetchFailure(
        kind: .query, detail: "there is no query \(controller.queryName) any more")
    }
    return try group.query.get()
  }

  private func findTables() {
    groupsByTable = nil
    followedTables = Set(groups.values.flatMap { $0.plan?.followedTables ?? [] })
  }

  // MARK: - Changes

  /// The groups that changes may concern. O(t + g) for t changed tables and the g groups found.
  func groups(touchedBy changes: DatabaseChanges) -> [QueryGroup] {
    guard case .tables(let tables) = changes.extent else {
      return changes.isNothing ? [] : Array(groups.values)
    }
    let byTable = groupsByTable ?? makeGroupsByTable()
    groupsByTable = byTable
    var found: [ObjectIdentifier: QueryGroup] = [:]
    for table in tables.keys {
      for group in byTable[table.lowercased()] ?? [] { found[ObjectIdentifier(group)] = group }
    }
    return Array(found.values)
  }

  private func makeGroupsByTable() -> [String: [QueryGroup]] {
    var result: [String: [QueryGroup]] = [:]
    for group in groups.values {
      for table in group.tables { result[table.lowercased(), default: []].append(group) }
    }
    return result
  }

  // MARK: - Failures

  /// Controllers that are not up to date, whatever changes next.
  var allFailed: some Collection<LiveQuery> { failed.values }

  func noteFailure(of live: LiveQuery) { failed[ObjectIdentifier(live.controller)] = live }

  func noteSuccess(of live: LiveQuery) {
    if !failed.isEmpty { failed[ObjectIdentifier(live.controller)] = nil }
  }
}
