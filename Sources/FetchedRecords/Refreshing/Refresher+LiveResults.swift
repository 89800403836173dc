import ChangeCapture
import GRDB
import OrderedResults

// Bringing live results up to date, within a read transaction.
extension Refresher {
  typealias Task = (live: LiveResult, work: Query.Work)

  func refetch(_ all: some Collection<LiveResult>, because reason: String, in db: Database) {
    bringUpToDate(all.map { ($0, .refetch(because: [reason])) }, in: db)
  }

  /// Brings the live results up to date that changes concern; those first that cost little, which are
  /// told before the others begin.
  func bringUpToDate(_ changes: DatabaseChanges, in db: Database) {
    var small: [Task] = []
    var large: [Task] = []
    for group in live.groups(touchedBy: changes) {
      guard let query = try? group.query.get() else { continue }
      let work = query.work(for: changes)
      switch work {
      case .none: continue
      case .rows(let changed, let plan):
        do {
          small += try group.assignments(of: changed, plan: plan, in: db)
            .map { ($0.live, .rows($0.changed, plan)) }
        } catch {
          large += group.members.values.map { ($0, .refetch(because: ["failure"])) }
        }
      case .refetch: large += group.members.values.map { ($0, work) }
      }
    }
    bringUpToDate(small, in: db)
    if !large.isEmpty, !pending.isEmpty {
      noteSuccess()
      announce()
      beforeLongWork()
    }
    bringUpToDate(large, in: db)
  }

  /// Does what has to be done; a query that fails keeps its last good result.
  func bringUpToDate(_ tasks: [Task], in db: Database) {
    for (result, work) in tasks {
      do {
        if let event = try bringUpToDate(result, work, in: db) {
          pending.append((result, event))
        }
        live.noteSuccess(of: result)
      } catch {
        result.forgetIndex()
        live.noteFailure(of: result)
        count { $0.failures += 1 }
        let failure =
          error as? FetchFailure ?? FetchFailure(kind: .database, detail: "\(error)")
        if result.fail(with: failure) { pending.append((result, .failed(failure))) }
      }
    }
  }

  private func bringUpToDate(
    _ live: LiveResult, _ work: Query.Work, in db: Database
  ) throws -> LiveResultEvent? {
    let old = live.snapshot
    let query = try self.live.query(of: live)
    switch work {
    case .none:
      return nil
    case .rows(let changed, let plan):
      let start = ContinuousClock.now
      switch try live.maintain(changed, plan: plan, in: db) {
      case .refetch(let reason):
        return try refetch(live, query, old, because: [reason], in: db)
      case .refetchOnce(let reason):
        return try refetch(live, query, old, because: [reason], keepsContributions: true, in: db)
      case .maintained(let results, let changes):
        count {
          $0.maintained += 1
          $0.queries[live.queryName, default: QueryRefreshes()].maintained += 1
        }
        let alongside = try query.fetchAlongside(live.arguments, in: db)
        log(.refreshed(.incremental, ContinuousClock.now - start))
        return finish(
          live, query, old,
          Fetched(results: results, changes: changes, alongside: alongside))
      }
    case .refetch(let reasons):
      return try refetch(live, query, old, because: reasons, in: db)
    }
  }

  private func refetch(
    _ live: LiveResult, _ query: Query, _ old: ResultsSnapshot, because reasons: [String],
    keepsContributions: Bool = false, in db: Database
  ) throws -> LiveResultEvent? {
    live.forgetIndex(keepingContributions: keepsContributions)
    let start = ContinuousClock.now
    let isSameShape = query.layout == old.results.layout
    let fetched = try query.fetch(
      comparingWith: isSameShape ? old.results : .empty(query.layout),
      arguments: live.arguments, in: db)
    count {
      $0.refetches += 1
      $0.rowsFetched += fetched.results.count
      $0.queries[query.definition.name, default: QueryRefreshes()].count(reasons)
    }
    log(.refreshed(.refetch, ContinuousClock.now - start))
    return finish(live, query, old, fetched)
  }

  private func finish(
    _ live: LiveResult, _ query: Query, _ old: ResultsSnapshot, _ fetched: Fetched
  ) -> LiveResultEvent? {
    let isSameShape = query.layout == old.results.layout
    // What stands alongside is a part of the state that a version names.
    let isSame =
      isSameShape && fetched.changes.isEmpty && fetched.alongside == old.alongside
    let version =
      isSame ? old.version : isSameShape ? old.version.next : ResultsVersion.fresh()
    let new = ResultsSnapshot(
      query: query, results: fetched.results, version: version, commit: commit,
      alongside: fetched.alongside)
    let hasRecovered = live.succeed(with: new)
    if isSame { return hasRecovered ? .recovered : nil }
    return isSameShape ? .changed(fetched.changes, from: old, to: new) : .reset(new)
  }
}
