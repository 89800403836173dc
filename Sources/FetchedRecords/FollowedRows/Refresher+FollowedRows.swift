import OrderedResults
import QueryAnalysis

// Rows that statements alongside aggregate, or a subquery that all records look at, or a query whose only record is
// made of all of them, or is one of them, or that are those up to LIMIT in FROM, or groups there, or those of groups, or
// those that refer to a row: followed where running, or reading, these costs more.
extension Refresher {
  /// A statement that is dear so often in a row is not so by chance.
  private static let dearRuns = 3

  /// Some work with what is known at the present commit of rows that would be looked for.
  func known(_ work: Query.Work, of result: LiveResult, _ query: Query) -> Query.Work {
    var work = work
    for index in work.alongside.indices {
      let position = work.alongside[index].position
      work.alongside[index].aggregates = values(query.alongside[position].plan, position, result)
    }
    let first = query.alongside.count
    if case .inner(_, let othersChanged) = work.records {
      if result.followed[first] == nil { joinFollowedRows(of: result) }
      if !othersChanged, showsPresentRows(result, query) {
        work.records = .none
      } else if let rows = result.followed[first]?.first?.innerRows(of: query) {
        work.records = .inner(rows, othersChanged: othersChanged)
      }
    } else if let lookup = query.lookup {
      if work.records == .none, result.opening == nil { return work }
      // They may be followed for others.
      if result.followed[first] == nil { joinFollowedRows(of: result) }
      if let known = result.followed[first]?.first?.values(of: lookup, result.arguments) {
        work.records = .totals(known)
      }
    } else if case .totals = work.records {
      let known = query.totals.indices.compactMap {
        values(query.totals[$0], first + $0, result)
      }
      work.records = .totals(known.count == query.totals.count ? known : nil)
    } else if case .refetch = work.records, result.mustRefetch == nil, result.opening == nil,
      let plan = query.plan, plan.tally != nil, let rows = result.followed[query.positionOfTallied],
      let groups = knownGroups(rows, result.snapshot.commit)
    {
      // What changed is known by the rows, however many did; and each of the values may be another.
      let changed = plan.leads.filter(\.isOfValue).map { ChangedRows(lead: $0, rowIDs: []) }
      (work.records, work.groups) = (.rows(changed), groups)
      work.values = values(of: plan, first, result)
    } else if case .rows = work.records, let plan = query.plan {
      work.values = values(of: plan, first, result)
      if plan.tallied != nil, let rows = result.followed[query.positionOfTallied] {
        work.groups = knownGroups(rows, plan.tally == nil ? nil : result.snapshot.commit)
      }
    }
    return work
  }

  /// Whether the rows up to LIMIT of which a live result is made are those that it shows: O(1).
  func showsPresentRows(_ result: LiveResult, _ query: Query) -> Bool {
    guard let rows = result.followed[query.alongside.count]?.first, rows.present != nil else {
      return false
    }
    return rows.lastChange <= result.snapshot.commit
  }

  /// What is known of the values that all records look at, by their positions among the plan's.
  private func values(
    of plan: IncrementalPlan, _ first: Int, _ result: LiveResult
  ) -> [Int: [Value]] {
    var known: [Int: [Value]] = [:]
    for (index, value) in plan.values.enumerated() {
      known[index] = values(value.plan, first + index, result)
    }
    return known
  }

  private func values(
    _ plan: AggregatePlan?, _ position: Int, _ result: LiveResult
  ) -> [Value]? {
    guard let plan, let followed = result.followed[position] else { return nil }
    var values: [Value] = []
    for (rows, aggregate) in zip(followed, plan.aggregates) {
      guard let value = rows.value(of: aggregate) else { return nil }
      values.append(value)
    }
    return values
  }

  /// Follows rows that were looked for because of a change, where that takes long.
  ///
  /// - Parameters:
  ///   - result: what shows something that is made of them.
  ///   - query: what ran. It may be another one by now.
  ///   - positions: of those among ``Query/rowsToFollow``.
  func followRows(of result: LiveResult, _ query: Query, _ positions: [Int]) {
    guard let bound = try? result.bound?.get(), bound.query === query else { return }
    for position in positions {
      if let known = result.followed[position] {
        known.forEach(ask)
        continue
      }
      let isAlongside = position < bound.query.alongside.count
      let last = result.durations.statements[position] ?? result.durations.fetch
      guard let definitions = bound.query.rowsToFollow[position], let duration = last else {
        continue
      }
      let use = isAlongside ? .aggregates : use(ofRowsAt: position, behind: query)
      let before = result.durations.dearRuns[position] ?? 0
      let runs = duration < dearDuration(use) ? 0 : before + 1
      result.durations.dearRuns[position] = runs
      let keys = keys(of: definitions, use, result, bound)
      let areFollowed = keys.allSatisfy { followedRows[$0]?.areThere == true }
      guard areFollowed || runs >= (use == .lookup ? 1 : Self.dearRuns) else { continue }
      let rows = keys.map { key in
        let rows =
          followedRows[key]
          ?? FollowedRows(key, for: "\(result.queryName) alongside")
        followedRows[key] = rows
        return rows
      }
      join(rows, at: position, result)
    }
  }

  /// What is made of the rows that do not serve a statement alongside.
  private func use(ofRowsAt position: Int, behind query: Query) -> FollowedRows.Use {
    if query.lookup != nil { return .lookup }
    if query.limitedRows != nil { return .inner(most: LimitedRows.most) }
    if query.innerGroups != nil { return .inner(most: InnerGroups.most) }
    guard query.plan?.tallied != nil, position == query.positionOfTallied else {
      return .aggregates
    }
    return .groups(termCount: query.plan?.tally?.termCount ?? 1, countsOnce: false)
  }

  /// How long it is to take without them that they are followed.
  private func dearDuration(_ use: FollowedRows.Use) -> Duration {
    if case .groups = use { limits.dearGroup } else { limits.dearStatement }
  }

  /// Notes whether a query's groups could be made of rows that are followed, and lets go of those that are of no use.
  func noteGroups(areKnown: Bool, of result: LiveResult, _ query: Query) {
    for rows in result.followed[query.positionOfTallied] ?? [] {
      guard !rows.noteUse(isVain: !areKnown), let live = rows.live else { continue }
      rest(rows, live)
    }
  }

  /// Follows the rows of which a first result is one, where somebody else looks up another.
  func followRows(ofFirst result: LiveResult) {
    guard let query = try? result.bound?.get().query, query.lookup != nil,
      result.group.map({ $0.members.count > 1 }) == true
    else { return }
    followRows(of: result, query, [query.alongside.count])
  }

  /// Has a query's records be made of rows that are followed for others with the same arguments.
  private func joinFollowedRows(of result: LiveResult) {
    guard let bound = try? result.bound?.get(), let definition = bound.query.followed,
      let rows = followedRows[
        keys(
          of: [definition], use(ofRowsAt: bound.query.alongside.count, behind: bound.query), result,
          bound)[0]]
    else { return }
    join([rows], at: bound.query.alongside.count, result)
  }

  private func keys(
    of definitions: [QueryDefinition], _ use: FollowedRows.Use, _ result: LiveResult,
    _ bound: BoundQuery
  ) -> [FollowedRows.Key] {
    definitions.map {
      var (definition, use) = ($0, use)
      if case .groups(let termCount, _) = use, let plan = bound.query.plan {
        use = .groups(termCount: termCount, countsOnce: plan.countsOnce(definition))
      }
      definition.isExplored = result.isExplored
      return FollowedRows.Key(definition, bound.arguments, use)
    }
  }

  private func join(_ rows: [FollowedRows], at position: Int, _ result: LiveResult) {
    for one in rows {
      one.users += 1
      ask(for: one)
    }
    result.followed[position] = rows
  }

  /// Begins to follow rows, unless that is done or under way, or was in vain a moment ago.
  private func ask(for rows: FollowedRows) {
    guard rows.live == nil, rows.opening == nil, rows.notBefore <= .now else { return }
    let opening = Opening(rows) { [weak self, weak rows] opened in
      guard let rows else { return }
      rows.opening = nil
      switch opened {
      case .success(let live) where rows.users > 0:
        if !rows.begin(with: live) {
          rows.rest()
          self?.drop(live)
        }
      case .success(let live): self?.drop(live)
      case .failure: rows.rest()
      }
      self?.release(rows)
    }
    rows.opening = opening
    line.openings.append(opening)
  }

  /// Whether a live result looks up a row of others that are on their way, or is made of what those come to that are
  /// brought up to date: it waits for them, once, and does not read them all by itself.
  func waitsForRows(_ result: LiveResult, _ work: Query.Work, _ query: Query) -> Bool {
    guard let rows = rowsToWaitFor(result, work, query) else { return false }
    if case .totals(.some) = work.records { return false }
    // Others may be behind again whenever they come.
    if result.hasWaitedForRows { return false }
    result.hasWaitedForRows = true
    rows.waiting[ObjectIdentifier(result)] = result
    return true
  }

  private func rowsToWaitFor(
    _ result: LiveResult, _ work: Query.Work, _ query: Query
  ) -> FollowedRows? {
    let rows = result.followed[query.alongside.count] ?? []
    if query.lookup != nil { return rows.first { $0.areComing } }
    if query.innerGroups != nil, case .inner(nil, _) = work.records, result.opening == nil {
      return rows.first { $0.areBehind }
    }
    guard query.plan?.tallied != nil, work.groups == nil, work.records != .none,
      result.opening == nil
    else { return nil }
    return result.followed[query.positionOfTallied]?.first { $0.areBehind }
  }

  /// Has those go on that wait for rows.
  func release(_ rows: FollowedRows) {
    if rows.waiting.isEmpty { return }
    for result in rows.waiting.values { line.append(result) }
    rows.waiting = [:]
    serveSoon()
  }

  /// Notes an update of rows, and lets go of those that follow no change, and would only be read twice.
  func note(_ update: LiveUpdate, ofRows rows: FollowedRows, commit number: Int) {
    if !update.changes.isEmpty || rows.hasSkipped { rows.lastChange = number }
    rows.noteChangedGroups(of: update, commit: number)
    rows.hasSkipped = rows.live?.isBehind == true
    release(rows)
    guard !rows.noteUpdate(update), let live = rows.live else { return }
    rest(rows, live)
  }

  /// A live result is let go.
  func leaveFollowedRows(of result: LiveResult) {
    for rows in result.followed.values.joined() {
      rows.waiting[ObjectIdentifier(result)] = nil
      rows.users -= 1
      if rows.users > 0 { continue }
      followedRows[rows.key] = nil
      forget(rows)
    }
    result.followed = [:]
  }

  private func forget(_ rows: FollowedRows) {
    rows.users = 0
    if let opening = rows.opening { abandon(opening) }
    if let live = rows.live { drop(live) }
    (rows.opening, rows.live) = (nil, nil)
    release(rows)
  }
}
