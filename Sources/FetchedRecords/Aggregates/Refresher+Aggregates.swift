import OrderedResults
import QueryAnalysis

// Rows that statements alongside aggregate: followed where running the statements costs more.
extension Refresher {
  /// A statement that is dear so often in a row is not so by chance.
  private static let dearRuns = 3

  /// What is known at the present commit of the statements of a live result that would run.
  func known(_ positions: [Int], of result: LiveResult) -> [Query.StaleStatement] {
    positions.map { position in
      Query.StaleStatement(
        position: position, aggregates: result.aggregated[position].flatMap(values))
    }
  }

  private func values(_ statement: AggregatedStatement) -> [Value]? {
    var values: [Value] = []
    for (rows, aggregate) in zip(statement.rows, statement.plan.aggregates) {
      guard let value = rows.value(of: aggregate) else { return nil }
      values.append(value)
    }
    return values
  }

  /// Follows the rows of statements that ran because of a change, where that takes long.
  func followAggregates(of result: LiveResult, _ positions: [Int]) {
    guard let bound = try? result.bound?.get() else { return }
    for position in positions {
      if let known = result.aggregated[position] {
        known.rows.forEach(ask)
        continue
      }
      guard let plan = bound.query.alongside[position].plan,
        let duration = result.durations.alongside[position]
      else { continue }
      let before = result.durations.dearRuns[position] ?? 0
      let runs = duration < limits.dearStatement ? 0 : before + 1
      result.durations.dearRuns[position] = runs
      guard runs >= Self.dearRuns else { continue }
      let rows = plan.aggregates.map { rowsToFollow(of: $0, for: result, bound.arguments) }
      for one in rows {
        one.users += 1
        ask(for: one)
      }
      result.aggregated[position] = AggregatedStatement(plan: plan, rows: rows)
    }
  }

  private func rowsToFollow(
    of aggregate: Aggregate, for result: LiveResult, _ arguments: QueryArguments
  ) -> AggregatedRows {
    let key = AggregatedRows.Key(aggregate.rows, arguments)
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
