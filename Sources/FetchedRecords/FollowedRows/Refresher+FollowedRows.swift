import OrderedResults
import QueryAnalysis

// Rows that statements alongside aggregate, or a query whose only record is made of all of them, or is one of
// them: followed where running these costs more.
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
    guard case .totals = work.records else { return work }
    let first = query.alongside.count
    if let lookup = query.lookup {
      work.records = .totals(
        result.followed[first]?.first?.values(of: lookup, result.arguments))
    } else {
      let known = query.totals.indices.compactMap {
        values(query.totals[$0], first + $0, result)
      }
      work.records = .totals(known.count == query.totals.count ? known : nil)
    }
    return work
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
  ///   - positions: of those among ``Query/followedRows``.
  func followRows(of result: LiveResult, _ positions: [Int]) {
    guard let bound = try? result.bound?.get() else { return }
    for position in positions {
      if let known = result.followed[position] {
        known.forEach(ask)
        continue
      }
      let isAlongside = position < bound.query.alongside.count
      let last =
        isAlongside ? result.durations.alongside[position] : result.durations.fetch
      guard let definitions = bound.query.followedRows[position], let duration = last else {
        continue
      }
      let before = result.durations.dearRuns[position] ?? 0
      let runs = duration < limits.dearStatement ? 0 : before + 1
      result.durations.dearRuns[position] = runs
      guard runs >= Self.dearRuns else { continue }
      let rows = definitions.map {
        var definition = $0
        definition.isExplored = result.isExplored
        return rowsToFollow(of: definition, for: result, bound.arguments)
      }
      for one in rows {
        one.users += 1
        ask(for: one)
      }
      result.followed[position] = rows
    }
  }

  private func rowsToFollow(
    of definition: QueryDefinition, for result: LiveResult, _ arguments: QueryArguments
  ) -> FollowedRows {
    let key = FollowedRows.Key(definition, arguments)
    if let known = followedRows[key] { return known }
    let rows = FollowedRows(key, for: "\(result.queryName) alongside")
    followedRows[key] = rows
    return rows
  }

  /// Begins to follow rows, unless that is done or under way, or was in vain a moment ago.
  private func ask(for rows: FollowedRows) {
    guard rows.live == nil, rows.opening == nil, rows.notBefore <= .now else { return }
    let opening = Opening(rows) { [weak self, weak rows] opened in
      guard let rows else { return }
      rows.opening = nil
      switch opened {
      case .success(let live) where rows.users > 0: rows.live = live
      case .success(let live): self?.drop(live)
      case .failure: rows.rest()
      }
    }
    rows.opening = opening
    line.openings.append(opening)
  }

  /// Lets go of rows that follow no change, and would only be read twice.
  func noteUpdate(ofRows rows: FollowedRows, isRefetch: Bool) {
    guard !rows.noteUpdate(isRefetch: isRefetch), let live = rows.live else { return }
    rows.rest()
    drop(live)
  }

  /// A live result is let go.
  func leaveFollowedRows(of result: LiveResult) {
    for rows in result.followed.values.joined() {
      rows.users -= 1
      if rows.users > 0 { continue }
      followedRows[rows.key] = nil
      forget(rows)
    }
    result.followed = [:]
  }

  /// Under another schema they may be others.
  func forgetFollowedRows() {
    for rows in followedRows.values { forget(rows) }
    followedRows = [:]
    for result in live.all { result.followed = [:] }
  }

  private func forget(_ rows: FollowedRows) {
    rows.users = 0
    if let opening = rows.opening { abandon(opening) }
    if let live = rows.live { drop(live) }
    (rows.opening, rows.live) = (nil, nil)
  }
}
