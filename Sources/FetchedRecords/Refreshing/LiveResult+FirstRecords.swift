import GRDB
import OrderedResults
import QueryAnalysis

// The first records of an order, of which no others are held.
extension LiveResult {
  /// More changed rows than this are as well read with the window.
  private static let fewRows = 16

  /// Puts the records of some rows in their places among the first of an order.
  ///
  /// Where the last record was, begins what is not known. So it is certain as long as there are as many before
  /// that as are shown.
  ///
  /// O(k log n + w) for k rows of n, and w records that are shown.
  ///
  /// - Parameters:
  ///   - range: the offsets that are shown.
  ///   - changed: the rows that changed.
  ///   - plan: the query's.
  ///   - arguments: the query's.
  ///   - db: in its transaction.
  /// - Returns: nil where others have come forward, or may have.
  /// - Throws: `DatabaseError`, `StatementGuard.Interruption`.
  func first(
    _ range: Range<Int>, where changed: [ChangedRows], _ plan: IncrementalPlan,
    _ arguments: QueryArguments, in db: Database
  ) throws -> Outcome? {
    let shown = snapshot.results
    guard range.lowerBound == 0, shown.count <= range.count, !plan.isPrefix, plan.leads.count == 1,
      changed.count == 1, changed[0].lead.isOwner, changed[0].rowIDs.count <= Self.fewRows,
      case .row(let column) = plan.owner
    else { return nil }
    let rowIDs = changed[0].rowIDs
    let known = shown.records(in: 0..<shown.count).filter { rowIDs.contains($0.rowID(at: column)) }
    var added = try plan.fetch(
      rowIDs, nil, RowKeys(), arguments: arguments, layout: shown.layout, in: db)
    if shown.count == range.count {
      if shown.isEmpty { return nil }
      let last = shown[shown.count - 1]
      added.removeAll { plan.order.compare($0, last) > 0 }
      if added.count < known.count { return nil }
    }
    let differences = plan.order.differences(from: known, to: added)
    if differences.removed.isEmpty, differences.added.isEmpty {
      return .maintained(shown, ChangeSet())
    }
    guard
      let next = shown.replacing(
        removed: differences.removed, added: differences.added, by: plan.order)
    else { return nil }
    index = nil
    if next.results.count <= range.count { return .maintained(next.results, next.changes) }
    let results = next.results.window(range)
    return .maintained(results, results.changes(from: shown))
  }
}
