import ChangeCapture

/// All live results that are kept up to date, found by the tables that their queries read.
///
/// What a commit costs must not depend on those that it does not concern: so they stand in
/// groups, one for each query, and a group is looked at only when one of its tables changed.
///
/// Used on the refresher's queue only.
final class LiveResults {
  private var results: [ObjectIdentifier: LiveResult] = [:]
  private var groups: [String: QueryGroup] = [:]
  /// By names in small letters; made when it is needed.
  private var groupsByTable: [String: [QueryGroup]]?
  private var failed: [ObjectIdentifier: LiveResult] = [:]

  /// The tables whose rows have to be known.
  private(set) var followedTables: Set<String> = []

  /// Begins to keep a live result up to date, whose query is `query` now.
  func add(_ live: LiveResult, query: Query) {
    results[ObjectIdentifier(live)] = live
    if let group = groups[live.queryName] { return group.add(live) }
    let group = QueryGroup(name: live.queryName, query: .success(query))
    group.add(live)
    groups[live.queryName] = group
    findTables()
  }

  func remove(_ live: LiveResult) {
    guard results.removeValue(forKey: ObjectIdentifier(live)) != nil else { return }
    failed[ObjectIdentifier(live)] = nil
    guard let group = groups[live.queryName] else { return }
    group.remove(live)
    guard group.members.isEmpty else { return }
    groups[live.queryName] = nil
    findTables()
  }

  func removeAll() {
    results = [:]
    groups = [:]
    failed = [:]
    findTables()
  }

  /// Whether a live result is still kept up to date.
  func contains(_ live: LiveResult) -> Bool { results[ObjectIdentifier(live)] != nil }

  var all: some Collection<LiveResult> { results.values }

  // MARK: - Queries

  /// Learns what each query is under another schema.
  func analyze(_ query: (String) -> Result<Query, FetchFailure>) {
    for (name, group) in groups { group.query = query(name) }
    findTables()
  }

  /// The query of a live result under the present schema.
  func query(of live: LiveResult) throws(FetchFailure) -> Query {
    guard let group = groups[live.queryName] else {
      throw FetchFailure(kind: .query, detail: "there is no query \(live.queryName) any more")
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

  /// Live results that are not up to date, whatever changes next.
  var allFailed: some Collection<LiveResult> { failed.values }

  func noteFailure(of live: LiveResult) { failed[ObjectIdentifier(live)] = live }

  func noteSuccess(of live: LiveResult) {
    if !failed.isEmpty { failed[ObjectIdentifier(live)] = nil }
  }
}
