import GRDB
import OrderedResults
import QueryAnalysis

// Groups that are made of what their rows come to, which are followed by themselves.
extension LiveResult {
  /// More changed groups than these are not brought in within ``shortWork``.
  private static let fewGroups = 256

  /// Puts the records of groups in their places, of which rows have come or gone.
  ///
  /// O(k log n), k groups among n; O(n) the first time.
  ///
  /// - Parameters:
  ///   - groups: what is known of them.
  ///   - plan: the query's.
  ///   - arguments: the query's.
  ///   - mayTakeLong: whether nobody waits.
  ///   - db: in its transaction.
  /// - Returns: nil where SQLite alone can tell.
  /// - Throws: `DatabaseError`, `StatementGuard.Interruption`.
  func tallied(
    _ groups: KnownGroups, _ plan: IncrementalPlan, _ arguments: QueryArguments,
    mayTakeLong: Bool, in db: Database
  ) throws -> Outcome? {
    guard let tally = plan.tally, let range = try plan.windowRange(arguments, in: db) else {
      return nil
    }
    if let window = plan.window, whole == nil {
      forgetIndex()
      return try begin(window, range, arguments, in: db)
    }
    let old = whole ?? snapshot.results
    let number = { (record: OrderedResults.Record) in
      Self.number(of: tally.keyColumns.map(record.value))
    }
    areGroupsKnown = false
    var index = groupIndex ?? OwnerIndex(old, owner: number)
    var (known, now): ([OrderedResults.Record], [OrderedResults.Record]) = ([], [])
    // What follows from the terms of a group may have changed for all of its rows.
    for (key, changed) in Dictionary(grouping: groups.changed, by: tally.key) {
      known += index.records(of: Self.number(of: key)) { record in
        tally.keyColumns.map(record.value) == key
      }
      for group in changed {
        switch try tally.record(of: group, groups, arguments, in: db) {
        case .unknown: return nil
        case .none: break
        case .shown(let record): now.append(record)
        }
      }
    }
    guard
      let (removed, added) = try differences(
        from: known, to: now, through: old, plan, mayTakeLong: mayTakeLong),
      let next = old.replacing(removed: removed, added: added, by: plan.order)
    else {
      return nil
    }
    index.follow(removed: removed, made: next.made, owner: number)
    forgetIndex()
    (groupIndex, areGroupsKnown) = (index, true)
    return show((next.results, next.changes), range, plan)
  }

  private static func number(of key: [Value]) -> Int64 { Int64(key.hashValue) }

  /// Whether the records of these groups are put in their places within a moment.
  ///
  /// - Parameters:
  ///   - groups: what is known of them.
  ///   - mayAllChange: whether all records may have changed, with a value that they look at.
  /// - Returns: false where there are too many, or their places are not known.
  func isShort(_ groups: KnownGroups, mayAllChange: Bool) -> Bool {
    guard (mayAllChange ? groups.count : groups.changed.count) <= Self.fewGroups,
      snapshot.query.plan?.window == nil || whole != nil
    else { return false }
    return groupIndex != nil
      || max(snapshot.results.count, whole?.count ?? 0) <= Self.quicklyIndexed
  }

  /// The records of some rows, of what is known of those that refer to them.
  ///
  /// O(k log n), k rows among n.
  ///
  /// - Parameters:
  ///   - owners: the rows' rowids.
  ///   - groups: what is known.
  ///   - plan: the query's.
  ///   - arguments: the query's.
  ///   - layout: the records'.
  ///   - db: in its transaction.
  /// - Returns: nil where SQLite alone can tell.
  /// - Throws: `DatabaseError`.
  func owned(
    by owners: [Int64], _ groups: KnownGroups, _ plan: IncrementalPlan,
    _ arguments: QueryArguments, layout: RecordLayout, in db: Database
  ) throws -> [OrderedResults.Record]? {
    guard let owned = plan.owned else { return nil }
    areGroupsKnown = false
    var records: [OrderedResults.Record] = []
    for owner in owners {
      let key = try owned.key(of: owner, in: db)
      guard let arguments = try owned.arguments(of: key, groups, arguments, in: db) else {
        return nil
      }
      try owned.records.forEach([owner], arguments: arguments, in: db) { statement in
        try statement.forEachRow(of: layout, in: db) { records.append($0.makeRecord()) }
      }
    }
    areGroupsKnown = true
    return records
  }

  /// Notes how long it took to read a group.
  func note(readingGroupsBy plan: IncrementalPlan, took duration: Duration) {
    guard plan.tallied != nil else { return }
    let position = snapshot.query.positionOfTallied
    durations.statements[position] = duration
    lookedUp.append(position)
  }
}
