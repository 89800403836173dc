import OrderedResults
import QueryAnalysis

// Columns that run through all records: places, and running sums.
extension LiveResult {
  /// So many records that have other places than before are made in a moment.
  private static let quicklyRun = 512

  /// What goes and comes where some records are others than they were: those, and what has other values in the
  /// columns that run through all.
  ///
  /// O(k log n + p), k records of n that are others, p records whose place or sum is another one then.
  ///
  /// - Parameters:
  ///   - known: the records as they were.
  ///   - now: the same as they are; what stands in the columns that run through all does not matter.
  ///   - old: all records as they were.
  ///   - plan: the query's.
  ///   - mayTakeLong: whether nobody waits.
  /// - Returns: nil where the query has to be run.
  /// - Throws: `StatementGuard.Interruption` where it would take long.
  func differences(
    from known: [OrderedResults.Record], to now: [OrderedResults.Record], through old: Results,
    _ plan: IncrementalPlan, mayTakeLong: Bool
  ) throws -> (removed: [OrderedResults.Record], added: [OrderedResults.Record])? {
    if plan.running.isEmpty { return plan.order.differences(from: known, to: now) }
    let most = Self.mostRowsWorthwhile(of: old.count)
    let differences = old.running(
      removed: known, added: now, plan.running, by: plan.order,
      atMost: mayTakeLong ? most : min(most, Self.quicklyRun))
    // No statement looks at the time meanwhile.
    if differences == nil, !mayTakeLong, most > Self.quicklyRun {
      throw StatementGuard.Interruption.time
    }
    return differences
  }
}
