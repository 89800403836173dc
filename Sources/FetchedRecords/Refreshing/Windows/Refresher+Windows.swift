import Algorithms
import ChangeCapture
import GRDB
import QueryAnalysis

// Windows that are live by themselves, of results that nobody holds.
//
// Which rows a window shows is known by the outline of a b-tree (``Query/outline``), and which of them
// may have changed, by the pages that were written. So a commit costs it the records that came into it
// or may have changed, and it holds no others than those that it shows.
extension Refresher {
  /// So many windows of a result are live by themselves. Each looks at every commit to the table;
  /// those that are cut from the whole result only at what touches them.
  private static let fewWindows = 64
  /// Or one for so many records: to hold the whole is dearer the larger it is.
  private static let recordsPerWindow = 10_000

  /// Finds out whether a window of a query is to be live by itself.
  ///
  /// Not where the result is small, so that all its windows are better cut from it, and not where too
  /// many have come, unless there are so many records that there is no other way.
  ///
  /// - Parameters:
  ///   - name: a query of the ``catalog``.
  ///   - arguments: values for its parameters.
  ///   - completion: is called on ``queue``.
  package func hasWindows(
    of name: String, arguments: QueryArguments, completion: @escaping @Sendable (Bool) -> Void
  ) {
    access.async { self.findOutWhether(windowsAreOf: name, arguments, completion) }
  }

  private func findOutWhether(
    windowsAreOf name: String, _ arguments: QueryArguments,
    _ completion: @escaping @Sendable (Bool) -> Void
  ) {
    if isStopped { return completion(false) }
    let result = answer { transaction in
      let found = try hasWindows(name, arguments, in: transaction.db)
      if found == nil {
        waitingForOutlines.append { [self] in
          access.async { self.findOutWhether(windowsAreOf: name, arguments, completion) }
        }
      }
      return found
    }
    switch result {
    case .success(let found?): completion(found)
    case .success(nil): break
    case .failure: completion(false)
    }
  }

  /// - Returns: nil where that is known when an outline has been read.
  private func hasWindows(
    _ name: String, _ arguments: QueryArguments, in db: Database
  ) throws -> Bool? {
    try catalog.bringUpToDate(name, in: db)
    let query = try catalog.query(named: name, arguments: arguments)
    if let order = query.outline, readOutlineNext(OutlinedTree(order.tree)) { return nil }
    guard let total = try places(of: 0..<0, query, in: db)?.total,
      total > limits.recordsOfWhole
    else { return false }
    let most = max(Self.fewWindows, total / Self.recordsPerWindow)
    return total > limits.resultRows || live.windows(of: query.definition) < most
  }

  /// Where a range of offsets is, as the outline of the query's order knows it.
  ///
  /// O(log n + k), k offsets among n.
  ///
  /// - Parameters:
  ///   - range: the offsets.
  ///   - query: whose result they are of.
  ///   - db: in the engine's transaction.
  /// - Returns: nil where it is not known.
  /// - Throws: `DatabaseError`.
  func places(
    of range: Range<Int>, _ query: Query, in db: Database
  ) throws -> WindowPlaces? {
    guard let order = query.outline else { return nil }
    let (tree, finder) = (OutlinedTree(order.tree), changeFinder())
    guard try keepOutline(tree, in: db), let total = try finder.entryCount(of: tree, in: db)
    else { return nil }
    let shown = range.clamped(to: 0..<total)
    let entries =
      order.isDescending ? total - shown.upperBound..<total - shown.lowerBound : shown
    guard let rowIDs = try entries.isEmpty ? [] : finder.rowIDs(of: tree, at: entries, in: db),
      rowIDs.count == shown.count
    else { return nil }
    return WindowPlaces(total: total, rowIDs: order.isDescending ? rowIDs.reversed() : rowIDs)
  }

  /// Some work with what has to be done of it for a window: its places are known in the engine's
  /// transaction alone, and its records can be read in any that sees the same commit.
  func placed(
    _ work: Query.Work, of result: LiveResult, _ bound: BoundQuery, in db: Database
  ) throws -> Query.Work {
    guard let range = bound.window, result.opening != nil || work.records != .none else {
      return work
    }
    let places = try places(of: range, bound.query, in: db)
    var work = work
    var changed: [Int64]?
    if case .rows(let rows) = work.records { changed = rows.flatMap(\.rowIDs) }
    if let changed, let places, places.rowIDs == result.snapshot.places?.rowIDs,
      !places.shows(changed)
    {
      work.records = places == result.snapshot.places ? .none : .total(places)
    } else {
      work.records = .window(places, changed: changed)
    }
    return work
  }
}

extension WindowPlaces {
  /// Whether one of these rows, which ascend, is among those of the window.
  ///
  /// O(w log k), w rows of the window, k of the list: each window asks, so no set is made of it.
  fileprivate func shows(_ changed: [Int64]) -> Bool {
    guard let rowIDs else { return true }
    return rowIDs.contains { rowID in
      let index = changed.partitioningIndex { $0 >= rowID }
      return index < changed.count && changed[index] == rowID
    }
  }
}
