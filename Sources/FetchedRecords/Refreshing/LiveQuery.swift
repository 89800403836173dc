import GRDB
import OrderedResults

/// A controller as its refresher keeps it: with what it takes to maintain the result row by row.
///
/// Used on the refresher's queue only.
final class LiveQuery {
  let controller: QueryController
  /// Made when a change can be maintained, and let go with a refetch.
  private var index: RowIndex?

  init(_ controller: QueryController) { self.controller = controller }

  /// More rows than this, and one scan is cheaper than so many searches: a search by key costs some
  /// ten times a row of a scan.
  func isWorthwhile(_ rowIDs: [Int64]) -> Bool {
    rowIDs.count <= max(64, controller.snapshot.results.count / 20)
  }

  /// Reads the changed rows again and puts them in their places.
  ///
  /// - Returns: nil where only a refetch helps.
  /// - Throws: `DatabaseError`.
  ///
  /// O(k log n), k rows among n; O(n) the first time.
  func maintain(
    _ rowIDs: [Int64], plan: IncrementalPlan, in db: Database
  ) throws -> (results: Results, changes: ChangeSet)? {
    let old = controller.snapshot.results
    if rowIDs.isEmpty { return (old, ChangeSet()) }
    var index = index ?? RowIndex(old, rowIDColumn: plan.rowID)
    self.index = nil
    let fetched = try plan.fetch(
      rowIDs, arguments: controller.arguments, layout: old.layout, in: db)
    let unchanged = Set(
      fetched.compactMap { new -> Int64? in
        let rowID = new.rowID(at: plan.rowID)
        return index[rowID] == new ? rowID : nil
      })
    let removed = rowIDs.filter { !unchanged.contains($0) }.compactMap { index[$0] }
    let added = fetched.filter { !unchanged.contains($0.rowID(at: plan.rowID)) }
    guard let next = old.replacing(removed: removed, added: added, by: plan.order) else {
      return nil
    }
    for record in removed { index.remove(record.rowID(at: plan.rowID)) }
    // Records whose blocks were made anew are entered too, so that no old block lives on for them.
    for range in next.made {
      for record in next.results.records(in: range) { index.enter(record) }
    }
    self.index = index
    return (next.results, next.changes)
  }

  /// Which of these rows the result has now. O(k), k rows; O(n) the first time.
  func rows(among rowIDs: [Int64], plan: IncrementalPlan) -> [Int64] {
    let index = index ?? RowIndex(controller.snapshot.results, rowIDColumn: plan.rowID)
    self.index = index
    return rowIDs.filter { index[$0] != nil }
  }

  /// The results were fetched as a whole.
  func forgetIndex() { index = nil }
}
