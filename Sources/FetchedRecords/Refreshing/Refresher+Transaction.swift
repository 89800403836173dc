import ChangeCapture
import Dispatch
import GRDB
import OrderedResults

// Reading: every read transaction first catches up with what was committed before it began.
extension Refresher {
  /// Runs `body` in a read transaction in which all controllers are up to date, and tells what
  /// changed once the transaction is over.
  func attempt<T>(_ body: (Database) throws -> T) -> Result<T, FetchFailure> {
    do {
      return .success(try transaction(body))
    } catch let failure as FetchFailure {
      return .failure(failure)
    } catch {
      return .failure(FetchFailure(kind: .database, detail: "\(error)"))
    }
  }

  func transaction<T>(_ body: (Database) throws -> T) throws -> T {
    dispatchPrecondition(condition: .onQueue(queue))
    defer { announce() }
    do {
      let result = try connected().inDatabase { db in
        try db.readTransaction {
          try catchUp(in: db)
          return try body(db)
        }
      }
      noteSuccess()
      return result
    } catch let error as DatabaseError {
      throw FetchFailure(error)
    }
  }

  /// Whoever hears of a change must find that the database can be read.
  private func noteSuccess() {
    guard failure != nil else { return }
    log(.recovered)
    failure = nil
  }

  private func connected() throws -> DatabaseQueue {
    if let connection { return connection }
    let opened = try ReadOnlyConnection.open(path: path)
    connection = opened
    return opened
  }

  /// Forgets the connection; the next transaction opens the file anew.
  func disconnect() {
    try? connection?.close()
    connection = nil
    source = nil
    schemaNumber = nil
  }

  /// Brings every controller up to the commit that this transaction sees.
  private func catchUp(in db: Database) throws {
    let start = ContinuousClock.now
    let source = changeSource()
    var changes = try source.changes(in: db)
    defer { capture = source.statistics }
    if changes.isNothing {
      // Nothing was missed, but all were told of a failure that is over now.
      if failure != nil { pending += refreshed(Array(controllers.values), .everything([]), in: db) }
      return
    }
    let schema = try db.schemaNumber()
    if schema != schemaNumber {
      db.clearSchemaCache()
      try catalog.analyze(in: db)
      changes = .everything([])
    }
    commit += 1
    pending += refreshed(Array(controllers.values), changes, in: db)
    try followTables(in: db)
    schemaNumber = schema
    // Kept only when all has succeeded, so that a failure forgets no change.
    source.keep()
    statistics.refreshes += 1
    statistics.duration += ContinuousClock.now - start
  }

  /// Brings queries up to date; one that fails keeps its last good result.
  func refreshed(_ queries: [LiveQuery], _ changes: DatabaseChanges, in db: Database)
    -> [Announcement]
  {
    queries.compactMap { live in
      do {
        return try refresh(live, changes, in: db).map { (live.controller, $0) }
      } catch {
        live.forgetIndex()
        statistics.failures += 1
        let failure =
          error as? FetchFailure ?? FetchFailure(kind: .database, detail: "\(error)")
        return live.controller.fail(with: failure) ? (live.controller, .failed(failure)) : nil
      }
    }
  }

  private func refresh(
    _ live: LiveQuery, _ changes: DatabaseChanges, in db: Database
  ) throws -> ControllerEvent? {
    let controller = live.controller
    let old = controller.snapshot
    let query = try query(named: controller.queryName)
    // What failed before was not brought up to date then, whatever changed now.
    let changes = controller.failure == nil ? changes : .everything([])
    switch query.work(for: changes) {
    case .none:
      return nil
    case .rows(let rowIDs, let plan):
      let start = ContinuousClock.now
      guard let next = try live.maintain(rowIDs, plan: plan, in: db) else {
        return try refetch(live, query, old, in: db)
      }
      statistics.maintained += 1
      let alongside = try query.fetchAlongside(controller.arguments, in: db)
      log(.refreshed(.incremental, ContinuousClock.now - start))
      return finish(
        controller, query, old,
        Fetched(results: next.results, changes: next.changes, alongside: alongside))
    case .refetch:
      return try refetch(live, query, old, in: db)
    }
  }

  private func refetch(
    _ live: LiveQuery, _ query: Query, _ old: ResultsSnapshot, in db: Database
  ) throws -> ControllerEvent? {
    live.forgetIndex()
    let start = ContinuousClock.now
    let isSameShape = query.layout == old.results.layout
    let fetched = try query.fetch(
      comparingWith: isSameShape ? old.results : .empty(query.layout),
      arguments: live.controller.arguments, in: db)
    statistics.refetches += 1
    statistics.rowsFetched += fetched.results.count
    log(.refreshed(.refetch, ContinuousClock.now - start))
    return finish(live.controller, query, old, fetched)
  }

  private func finish(
    _ controller: QueryController, _ query: Query, _ old: ResultsSnapshot, _ fetched: Fetched
  ) -> ControllerEvent? {
    let isSameShape = query.layout == old.results.layout
    // What stands alongside is a part of the state that a version names.
    let isSame =
      isSameShape && fetched.changes.isEmpty && fetched.alongside == old.alongside
    let version =
      isSame ? old.version : isSameShape ? old.version.next : ResultsVersion.fresh()
    let new = ResultsSnapshot(
      query: query, results: fetched.results, version: version, commit: commit,
      alongside: fetched.alongside)
    let hasRecovered = controller.succeed(with: new)
    if isSame { return hasRecovered ? .recovered : nil }
    return isSameShape ? .changed(fetched.changes, from: old, to: new) : .reset(new)
  }

  /// Tells what is pending. Nothing is told inside a transaction.
  private func announce() {
    let announcements = pending
    pending = []
    for (controller, event) in announcements { controller.onEvent(event) }
  }
}
