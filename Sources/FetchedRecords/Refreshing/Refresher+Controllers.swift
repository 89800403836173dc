import ChangeCapture
import Dispatch
import GRDB
import Locks
import OrderedResults
import QueryAnalysis

// What the controllers of a program ask for, who wait for their first results.
extension Refresher {
  /// Runs `body` in a read transaction in which all that is short is up to date.
  ///
  /// - Throws: what `body` throws, or why the database cannot be read, as users of the library know
  ///   it.
  func read<T>(_ body: (ReadTransaction) throws -> T) throws -> T {
    do {
      return try access.sync { try transaction(body) }
    } catch {
      throw FetchedRecordsError.publicError(error)
    }
  }

  /// Fetches what a listener is for, and keeps nothing of it.
  ///
  /// - Throws: as ``read(_:)``.
  func fetchOnce(for listener: any LiveResultListener) throws -> ResultsSnapshot {
    try read { try begin(listener, after: nil, in: $0).result.snapshot }
  }

  /// Fetches what a listener is for, and keeps it up to date from then on.
  ///
  /// - Parameters:
  ///   - listener: who waits for it.
  ///   - old: what it takes the place of: the difference is told, and nothing more of the old one.
  ///     Nil: of nothing.
  ///   - completion: is called with the live result before it tells anything else.
  /// - Throws: as ``read(_:)``.
  func open(
    for listener: any LiveResultListener, after old: LiveResult? = nil,
    completion: (LiveResult) -> Void
  ) throws {
    try access.sync {
      let result = try read { transaction in
        let shown = old?.snapshot
        let (result, changes) = try begin(listener, after: shown, in: transaction)
        live.add(result)
        do {
          try followTables(in: transaction.db)
        } catch {
          live.remove(result)
          throw error
        }
        if let old { drop(old) }
        if let shown, !changes.isEmpty {
          pending.append((result, .changed(changes, from: shown, to: result.snapshot)))
        }
        return result
      }
      completion(result)
    }
  }

  /// Makes a live result and fetches its first state, however long that takes.
  private func begin(
    _ listener: any LiveResultListener, after old: ResultsSnapshot?,
    in transaction: ReadTransaction
  ) throws -> (result: LiveResult, changes: ChangeSet) {
    let bound = try listener.bind(in: transaction.db, reusing: live.query(for:))
    let result = LiveResult(for: listener, of: bound, commit: commit, after: old)
    let known = old == nil ? listener.known(of: bound, in: transaction) : nil
    let update = try result.firstUpdate(
      bound.query.refetch(because: []), of: bound, known: known, meter: .none, in: transaction)
    _ = result.succeed(
      with: update.snapshot(0, commit: commit, key: versionKey), values: update.values)
    return (result, update.changes)
  }

  /// Keeps a live result up to date from what it shows; what has changed since is told soon.
  func resume(_ result: LiveResult) {
    access.async { [self] in
      live.add(result)
      refetch(result, because: "resumed")
      serve()
    }
  }

  /// Has all listeners keep what is worth it, in a while.
  func saveSoon() {
    guard !isSaveScheduled.exchange(true, ordering: .relaxed) else { return }
    access.async(after: Self.saveInterval) { [weak self] in
      guard let self else { return }
      isSaveScheduled.store(false, ordering: .relaxed)
      for result in live.all { result.listener.save(result) }
    }
  }

  /// How long changes are gathered before they are kept.
  private static let saveInterval = DispatchTimeInterval.seconds(1)
}
