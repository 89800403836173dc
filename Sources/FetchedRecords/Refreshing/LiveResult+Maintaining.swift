import GRDB
import OrderedResults
import QueryAnalysis

// Maintaining a result row by row.
extension LiveResult {
  /// More rows than this, and one scan is cheaper than so many searches: a search by key costs some
  /// ten times a row of a scan.
  static func mostRowsWorthwhile(of total: Int) -> Int { max(64, total / 20) }

  private static func isWorthwhile(_ count: Int, of total: Int) -> Bool {
    count <= mostRowsWorthwhile(of: total)
  }

  /// A search for the beginning of a word costs a sixteenth of the query for each row.
  private static func isWorthwhile(
    _ count: Int, of total: Int, _ plan: IncrementalPlan, _ arguments: QueryArguments
  ) -> Bool {
    isWorthwhile(count, of: total)
      && (count <= 16 || !plan.searchesForBeginnings(arguments))
  }

  /// A group takes a search for each of its rows.
  private static func isWorthwhile(groups count: Int, of total: Int) -> Bool {
    count <= max(4, total / 8)
  }

  /// What became of an attempt to maintain a result.
  enum Outcome {
    case maintained(Results, ChangeSet)
    /// Only a refetch helps; why, in a word fit to label a metric.
    case refetch(because: String)
    /// Only a refetch helps this time; what the next change takes is there.
    case refetchOnce(because: String)
  }

  /// Reads the records that changed rows lead to again, and puts them in their places.
  ///
  /// What leads there looks at rows that a condition keeps from the query, and so at a text, perhaps, that is
  /// no JSON: then the query runs again.
  ///
  /// O(k log n), k records among n; O(n) the first time.
  ///
  /// - Parameters:
  ///   - changed: the rows that changed.
  ///   - plan: the query's.
  ///   - known: what is known of the values that all records look at (``Query/Work/values``).
  ///   - groups: what is known of the query's groups.
  ///   - arguments: the query's.
  ///   - meter: what may be taken, and whether nobody waits for it; else what no statement interrupts ends early.
  ///   - db: in its transaction.
  /// - Returns: the next results, or why the query has to run again.
  /// - Throws: `DatabaseError`, `StatementGuard.Interruption`.
  func maintain(
    _ changed: [ChangedRows], plan: IncrementalPlan, known: [Int: [Value]],
    _ groups: KnownGroups?, _ arguments: QueryArguments, _ meter: ResultMeter, in db: Database
  ) throws -> Outcome {
    do {
      return try maintained(
        changed, plan: plan, known: known, groups, arguments, meter, in: db)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
      pauseContributions(for: Self.longPause, .tooMany)
      nextValues = nil
      return .refetch(because: "failedSearch")
    }
  }

  private func maintained(
    _ changed: [ChangedRows], plan: IncrementalPlan, known: [Int: [Value]],
    _ groups: KnownGroups?, _ arguments: QueryArguments, _ meter: ResultMeter, in db: Database
  ) throws -> Outcome {
    var arguments = arguments
    switch try compareValues(of: plan, after: changed, known: known, arguments, in: db) {
    case .same(let values): arguments.merge(values) { $1 }
    case .others(let values):
      // What each group comes to is the same, and may be shown with another value.
      guard plan.tally != nil, let values, let all = groups?.withAllChanged else {
        return .refetch(because: "otherValue")
      }
      arguments.merge(values) { $1 }
      guard
        let next = try tallied(all, plan, arguments, mayTakeLong: meter.mayWait, in: db)
      else { return .refetch(because: "otherValue") }
      return next
    case .unknown(let values):
      contributions = nil
      if plan.needsContributions(for: changed) {
        try gatherContributions(plan, arguments.merging(values) { $1 }, meter, in: db)
      }
      return .refetchOnce(because: "firstChange")
    }
    let shown = snapshot.results
    let count = changed.reduce(0) { $0 + $1.rowIDs.count }
    if let groups, plan.tally != nil {
      if let next = try tallied(groups, plan, arguments, mayTakeLong: meter.mayWait, in: db) {
        return next
      }
      // Only the groups said what changed.
      if changed.allSatisfy(\.lead.isOfValue) { return .refetch(because: "manyRows") }
    }
    if count == 0 { return .maintained(shown, ChangeSet()) }
    let total = max(shown.count, whole?.count ?? 0, groups?.rowCount ?? 0)
    if groups != nil, !hasGroups {
      // What was too much to read need not be read any more.
      (hasGroups, contributionsPause) = (true, 0)
    }
    guard Self.isWorthwhile(count, of: total, plan, arguments) else {
      return .refetch(because: "manyRows")
    }
    guard let range = try plan.windowRange(arguments, in: db) else {
      return .refetch(because: "unknownWindow")
    }
    if let window = plan.window, let sql = window.short,
      range.upperBound <= WindowStatement.shortLimit
    {
      if let next = try first(range, where: changed, plan, arguments, in: db) { return next }
      index = nil
      return try window.fetch(sql, comparingWith: shown, arguments, in: db)
        .map { .maintained($0.results, $0.changes) } ?? .refetch(because: "brokenSections")
    }
    if plan.isPrefix { return .refetch(because: "manyRecords") }
    if let window = plan.window, whole == nil {
      try gatherContributions(plan, arguments, meter, in: db)
      return try begin(window, range, arguments, in: db)
    }
    if contributions == nil, plan.needsContributions(for: changed) {
      try gatherContributions(plan, arguments, meter, in: db)
      if contributions == nil { return .refetch(because: refusal.reason) }
      return .refetchOnce(because: "firstChange")
    }
    guard
      let next = try replace(
        changed, in: whole ?? shown, plan, groups, arguments, meter, db)
    else {
      return .refetch(because: "manyRecords")
    }
    return show(next, range, plan)
  }

  func show(
    _ next: (results: Results, changes: ChangeSet), _ range: Range<Int>, _ plan: IncrementalPlan
  ) -> Outcome {
    guard plan.window != nil else { return .maintained(next.results, next.changes) }
    whole = next.results
    let results = next.results.window(range)
    return .maintained(results, results.changes(from: snapshot.results))
  }

  /// Which of these rows own a record of the result now.
  ///
  /// O(k), k rows; O(n) the first time.
  func rows(among rowIDs: [Int64], plan: IncrementalPlan) -> [Int64] {
    let index = index ?? makeIndex(snapshot.results, plan, &contributions)
    self.index = index
    return rowIDs.filter(index.contains)
  }

  /// The results were fetched as a whole.
  func forgetIndex(keepingContributions: Bool = false) {
    (index, groupIndex) = (nil, nil)
    whole = nil
    unfinished = nil
    if !keepingContributions { contributions = nil }
  }

  /// The time for some work was over. What changes are led by stays where it was not gathered just then.
  func forgetUnlessUnfinished() {
    if unfinished == nil { forgetIndex() }
  }

  /// Fetches the whole order of which a window is shown.
  func begin(
    _ window: WindowStatement, _ range: Range<Int>, _ arguments: QueryArguments,
    in db: Database
  ) throws -> Outcome {
    let shown = snapshot.results
    (index, groupIndex) = (nil, nil)
    guard
      let whole = try window.fetch(
        window.sql, comparingWith: .empty(shown.layout), arguments, in: db)?.results
    else { return .refetch(because: "brokenSections") }
    self.whole = whole
    let results = whole.window(range)
    return .maintained(results, results.changes(from: shown))
  }

  /// Finds out what every row contributes to now, where that is needed and was not too much before.
  private func gatherContributions(
    _ plan: IncrementalPlan, _ arguments: QueryArguments, _ meter: ResultMeter, in db: Database
  ) throws {
    (contributions, unfinished) = (nil, nil)
    if plan.contributions.isEmpty, plan.appearances == nil { return }
    guard contributionsPause == 0 else {
      contributionsPause -= 1
      return
    }
    do {
      contributions = try Contributions(
        plan, records: snapshot.results.count, arguments: arguments, meter: meter, in: db)
    } catch let refusal as Contributions.Refusal {
      pauseContributions(for: refusal == .loss ? Self.shortPause : Self.longPause, refusal)
    }
  }

  private func pauseContributions(for count: Int, _ reason: Contributions.Refusal) {
    (contributionsPause, refusal) = (count, reason)
  }

  /// Lets go of what only makes changes cheaper, for a while; not while somebody works on it.
  func letGoOfAids() {
    (index, groupIndex, contributions, unfinished) = (nil, nil, nil, nil)
    pauseContributions(for: Self.longPause, .noMemory)
  }

  /// About the bytes that this frees.
  var sizeOfAids: Int {
    (contributions?.size ?? 0) + (index?.size ?? 0) + (groupIndex?.size ?? 0)
  }

  /// To gather costs as much as to run the query: a small part of the time, where it is in vain.
  private static let longPause = 64
  private static let shortPause = 8
  private static let fewChanges = 16

  // MARK: - Replacing

  private func replace(
    _ changed: [ChangedRows], in old: Results, _ plan: IncrementalPlan, _ groups: KnownGroups?,
    _ arguments: QueryArguments, _ meter: ResultMeter, _ db: Database
  ) throws -> (results: Results, changes: ChangeSet)? {
    // Taken out while they are changed, so that nothing is copied.
    var contributions = contributions
    self.contributions = nil
    var index = index
    if index == nil, plan.needsIndex || meter.hasRoom(forAidOf: OwnerIndex.size(of: old.count)) {
      index = makeIndex(old, plan, &contributions)
    }
    (self.index, groupIndex) = (nil, nil)
    // What a row led to before it changed is found once only.
    var owners = unfinished ?? []
    unfinished = nil
    do {
      return try replace(
        changed, in: old, plan, groups, arguments, &contributions, &index, &owners,
        mayTakeLong: meter.mayWait, db)
    } catch {
      (self.contributions, self.index, unfinished) = (contributions, index, owners)
      throw error
    }
  }

  private func replace(
    _ changed: [ChangedRows], in old: Results, _ plan: IncrementalPlan, _ groups: KnownGroups?,
    _ arguments: QueryArguments, _ contributions: inout Contributions?, _ index: inout OwnerIndex?,
    _ owners: inout Set<Int64>, mayTakeLong: Bool, _ db: Database
  ) throws -> (results: Results, changes: ChangeSet)? {
    var keys = RowKeys()
    let areWorthwhile = try find(
      &owners, of: changed, plan, arguments, &contributions, &keys, atMost: old.count, in: db)
    let owners = owners.sorted()
    guard areWorthwhile, isWorthwhile(owners.count, of: old.count, plan, arguments) else {
      // If few rows do so again and again, others will as well.
      if contributions != nil, changed.reduce(0, { $0 + $1.rowIDs.count }) < Self.fewChanges {
        vainContributions += 1
        if vainContributions > 1 { pauseContributions(for: Self.shortPause, .tooMany) }
      }
      return nil
    }
    let known =
      index.map { index in owners.flatMap { records(of: $0, index, plan, contributions) } }
      ?? records(of: owners, in: old, plan, &contributions)
    guard isWorthwhile(reading: known.count, of: old.count, plan) else { return nil }
    if contributions?.members?.areMany(owners) == true
      || groups == nil && contributions?.haveManyRows(owners, plan) == true
    {
      // If it is one group, others will be as large.
      if owners.count <= 2 { pauseContributions(for: Self.longPause, .tooMany) }
      return nil
    }
    let removed: [OrderedResults.Record]
    let added: [OrderedResults.Record]
    if case .values(let count, _) = plan.owner {
      let read = try owners.map { owner in
        try (
          owner,
          plan.fetch(
            [owner], contributions, contributions?.keys ?? keys, arguments: arguments,
            layout: old.layout, in: db)
        )
      }
      guard let index, let differences = contributions?.differences(from: read, count, index)
      else {
        return nil
      }
      (removed, added) = differences
    } else {
      let fetched =
        try groups.flatMap {
          try owned(by: owners, $0, plan, arguments, layout: old.layout, in: db)
        } ?? read(owners, plan, contributions, keys, arguments, layout: old.layout, in: db)
      guard
        let differences = try differences(
          from: known, to: fetched, through: old, plan, mayTakeLong: mayTakeLong)
      else { return nil }
      (removed, added) = differences
    }
    guard Self.isWorthwhile(removed.count + added.count, of: 2 * old.count),
      let next = old.replacing(removed: removed, added: added, by: plan.order)
    else { return nil }
    index?.follow(removed: removed, made: next.made) {
      plan.number(ofOwnerOf: $0, &contributions)
    }
    keep(index, contributions, plan)
    return (next.results, next.changes)
  }

  func isWorthwhile(
    _ owners: Int, of total: Int, _ plan: IncrementalPlan, _ arguments: QueryArguments
  ) -> Bool {
    switch plan.owner {
    case .row, .keyedRow, .rowOfArm, .values: Self.isWorthwhile(owners, of: total, plan, arguments)
    case .group:
      Self.isWorthwhile(groups: owners, of: total) && !plan.searchesForBeginnings(arguments)
    }
  }

  /// A partition is read as a whole, whatever part of the result it is.
  private func isWorthwhile(reading count: Int, of total: Int, _ plan: IncrementalPlan) -> Bool {
    switch plan.owner {
    case .row, .keyedRow, .rowOfArm, .values: true
    case .group: plan.isOnePartition || count <= max(64, total / 4)
    }
  }

  private func keep(
    _ index: OwnerIndex?, _ contributions: Contributions?, _ plan: IncrementalPlan
  ) {
    guard contributions?.isOutworn == true else {
      (self.index, self.contributions) = (index, contributions)
      self.contributions?.noteCommit()
      vainContributions = 0
      return
    }
    // The numbers of groups went with the contributions.
    if case .group = plan.owner { return }
    self.index = index
  }
}
