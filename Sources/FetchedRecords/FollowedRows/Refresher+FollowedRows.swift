import OrderedResults
import QueryAnalysis

// Rows that statements alongside aggregate, or a query whose only record is made of all of them:
// followed where running these costs more.
extension Refresher {
  /// A statement that is dear so often in a row is not so by chance.
  private static let dearRuns = 3

  /// Some work with what is known at the present commit of aggregates that would be looked for.
  func known(_ work: Query.Work, of result: LiveResult, _ query: Query) -> Query.Work {
    var work = work
    for index in work.alongside.indices {
      let position = work.alongside[index].position
      work.alongside[index].aggregates = result.aggregated[position].flatMap(values)
    }
    if case .totals = work.records {
      let columns = query.aggregatePlans.indices.dropFirst(query.alongside.count)
      let known = columns.compactMap { result.aggregated[$0].flatMap(values) }
      work.records = .totals(known.count == columns.count ? known : nil)
    }
    return work
  }

  private func values(_ statement: AggregatedStatement) -> [Value]? {
    var values: [Value] = []
    for (rows, aggregate) in zip(statement.rows, statement.plan.aggregates) {
      guard let value = rows.value(of: aggregate) else { return nil }
      values.append(value)
    }
    return values
  }

  /// Follows the rows of aggregates that were looked for because of a change, where that takes long.
  ///
  /// - Parameters:
  ///   - result: what shows them.
  ///   - positions: of those among ``Query/aggregatePlans``.
  func followAggregates(of result: LiveResult, _ positions: [Int]) {
    guard let bound = try? result.bound?.get() else { return }
    for position in positions {
      if let known = result.aggregated[position] {
        known.rows.forEach(ask)
        continue
      }
      let isAlongside = position < bound.query.alongside.count
      let last =
        isAlongside ? result.durations.alongside[position] : result.durations.fetch
      guard let plan = bound.query.aggregatePlans[position], let duration = last else { continue }
      let before = result.durations.dearRuns[position] ?? 0
      let runs = duration < limits.dearStatement ? 0 : before + 1
      result.durations.dearRuns[position] = runs
      guard runs >= Self.dearRuns else { continue }
      let rows = plan.aggregates.map {
        var definition = $0.rows
        definition.isExplored = result.isExplored
        return rowsToFollow(of: definition, for: result, bound.arguments)
      }
      for one in rows {
        one.users += 1
        ask(for: one)
      }
      result.aggregated[position] = AggregatedStatement(plan: plan, rows: rows)
    }
  }

  private func rowsToFollow(
    of definition: QueryDefinition, for result: LiveResult, _ arguments: QueryArguments
  ) -> AggregatedRows {
    let key = AggregatedRows.Key(definition, arguments)
    if let known = aggregatedRows[key] { return known }
    let rows = AggregatedRows(key, for: "\(result.queryName) alongside")
    aggregatedRows[key] = rows
    return rows
  }

  /// Begins to follow rows, unless that is done or under way, or was in vain a moment ago.
  private func ask(for rows: AggregatedRows) {
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
  func noteUpdate(ofRows rows: AggregatedRows, isRefetch: Bool) {
    guard !rows.noteUpdate(isRefetch: isRefetch), let live = rows.live else { return }
    rows.rest()
    drop(live)
  }

  /// A live result is let go.
  func leaveAggregates(of result: LiveResult) {
    for rows in result.aggregated.values.flatMap(\.rows) {
      rows.users -= 1
      if rows.users > 0 { continue }
      aggregatedRows[rows.key] = nil
      forget(rows)
    }
    result.aggregated = [:]
  }

  /// Under another schema they may be others.
  func forgetAggregates() {
    for rows in aggregatedRows.values { forget(rows) }
    aggregatedRows = [:]
    for result in live.all { result.aggregated = [:] }
  }

  private func forget(_ rows: AggregatedRows) {
    rows.users = 0
    if let opening = rows.opening { abandon(opening) }
    if let live = rows.live { drop(live) }
    (rows.opening, rows.live) = (nil, nil)
  }
}

/// A statement alongside whose rows are followed.
struct AggregatedStatement {
  let plan: AggregatePlan
  /// Those of each aggregate.
  let rows: [AggregatedRows]
}
