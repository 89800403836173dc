import ChangeCapture
import GRDB
import QueryAnalysis

/// All live results that are kept up to date, found by the tables that their queries read.
///
/// What a commit costs must not depend on those that it does not concern: so they stand in
/// groups, one for each query, and a group is looked at only when one of its tables changed.
///
/// Used in the engine's turns only.
final class LiveResults {
  private var results: [ObjectIdentifier: LiveResult] = [:]
  private var groups: [GroupKey: QueryGroup] = [:]
  private struct GroupKey: Hashable {
    let definition: QueryDefinition
    var isOfWindows = false
  }

  /// By names in small letters; made when it is needed.
  private var groupsByTable: [String: [QueryGroup]]?
  private var failed: [ObjectIdentifier: LiveResult] = [:]

  /// The tables whose rows have to be known.
  private(set) var followedTables: Set<String> = []
  /// The indexes of FTS5 that tell which documents changed.
  private(set) var searchIndexes: Set<SearchIndex> = []

  /// Begins to keep a live result up to date, which knows what it is of.
  func add(_ live: LiveResult) {
    results[ObjectIdentifier(live)] = live
    if let group = enter(live) { addTables(of: group) }
  }

  func remove(_ live: LiveResult) {
    guard results.removeValue(forKey: ObjectIdentifier(live)) != nil else { return }
    failed[ObjectIdentifier(live)] = nil
    if leaveGroup(live) { findTables() }
  }

  /// - Returns: whether it was the last of it.
  @discardableResult
  private func leaveGroup(_ live: LiveResult) -> Bool {
    guard let group = live.group else { return false }
    group.remove(live)
    live.group = nil
    guard group.members.isEmpty else { return false }
    groups[GroupKey(definition: group.query.definition, isOfWindows: group.isOfWindows)] = nil
    return true
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

  var isEmpty: Bool { results.isEmpty }

  // MARK: - Queries

  /// What is known of a query under the present schema.
  func query(for definition: QueryDefinition) -> Query? {
    groups[GroupKey(definition: definition)]?.query
  }

  /// How many windows of a query are live by themselves.
  func windows(of definition: QueryDefinition) -> Int {
    groups[GroupKey(definition: definition, isOfWindows: true)]?.members.count ?? 0
  }

  /// Learns anew what some results are of, whose queries were changed or are under another schema.
  ///
  /// One whose query does not fit it waits for the next one; one that has to be analysed, for its turn.
  func rebind(_ changed: [LiveResult], in db: Database) {
    // What was known of a query is not what it is now.
    for live in changed { leaveGroup(live) }
    for live in changed {
      if live.listener.awaitsAnalysis {
        live.unbind()
      } else {
        live.bind(in: db, reusing: query(for:))
        _ = enter(live)
      }
    }
    findTables()
  }

  /// Learns what one result is of, which is not known yet.
  func bind(_ live: LiveResult, in db: Database) {
    live.bind(in: db, reusing: query(for:))
    if let group = enter(live) { addTables(of: group) }
  }

  /// - Returns: the group, if it is a new one.
  private func enter(_ live: LiveResult) -> QueryGroup? {
    guard let query = try? live.bound?.get().query else { return nil }
    let key = GroupKey(definition: query.definition, isOfWindows: live.window != nil)
    if let group = groups[key] {
      group.add(live)
      return nil
    }
    let group = QueryGroup(query, isOfWindows: key.isOfWindows)
    group.add(live)
    groups[key] = group
    return group
  }

  private func addTables(of group: QueryGroup) {
    followedTables.formUnion(group.followedTables)
    searchIndexes.formUnion(group.searchIndexes)
    guard groupsByTable != nil else { return }
    for table in group.tables { groupsByTable?[table.lowercased(), default: []].append(group) }
  }

  private func findTables() {
    groupsByTable = nil
    followedTables = Set(groups.values.flatMap(\.followedTables))
    searchIndexes = Set(groups.values.flatMap(\.searchIndexes))
  }

  // MARK: - Changes

  /// The groups that changes may concern. O(t + g) for t changed tables and the g groups found.
  func groups(touchedBy changes: DatabaseChanges) -> [QueryGroup] {
    guard case .tables(let tables) = changes.extent else {
      return changes.isNothing ? [] : Array(groups.values)
    }
    let byTable = groupsByTable ?? makeGroupsByTable()
    groupsByTable = byTable
    if tables.count == 1, let table = tables.keys.first {
      let groups = byTable[table.lowercased()] ?? []
      if groups.count <= 1 { return groups }
    }
    var found: [ObjectIdentifier: QueryGroup] = [:]
    for table in tables.keys {
      for group in byTable[table.lowercased()] ?? [] { found[ObjectIdentifier(group)] = group }
    }
    var groups = Array(found.values)
    // What others are made of comes first, and before it what that is made of.
    let others = groups.partition { !$0.query.definition.servesOthers }
    _ = groups[..<others].partition { $0.query.definition.followsRows }
    return groups
  }

  private func makeGroupsByTable() -> [String: [QueryGroup]] {
    groups.values.reduce(into: [:]) { result, group in
      for table in group.tables { result[table.lowercased(), default: []].append(group) }
    }
  }

  // MARK: - Failures

  /// Live results that are not up to date, whatever changes next.
  var allFailed: some Collection<LiveResult> { failed.values }

  func noteFailure(of live: LiveResult) { failed[ObjectIdentifier(live)] = live }

  func noteSuccess(of live: LiveResult) {
    if !failed.isEmpty { failed[ObjectIdentifier(live)] = nil }
  }
}
