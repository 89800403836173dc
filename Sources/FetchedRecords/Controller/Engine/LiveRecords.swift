import ChangeCapture
import GRDB
import OrderedResults

/// One controller's records as its engine keeps them up to date.
///
/// Used inside the engine's connection only.
final class LiveRecords {
  private var request: RecordsRequest
  let alongside: (@Sendable (Database) throws -> any Sendable)?
  /// Called inside the engine's connection; it must not wait for anything.
  let tell: @Sendable (Told) -> Void
  /// Whether there is something new to be cached.
  private(set) var isCacheDirty = false
  /// Whether the first fetch was spared by the cache.
  private(set) var wasCached = false
  /// What was last told.
  private(set) var state: FetchedState
  /// nil: what the controller shows was fetched before, and nothing was followed since.
  private var fetched: Fetched?
  /// Whether the state may be older than what the engine has brought up to date: then only a fetch
  /// helps.
  private(set) var isStale = false
  /// What was last told to have failed, until something succeeds.
  private var failure: String?

  /// What an engine tells its controllers.
  enum Told: Sendable {
    case changed(StateChange)
    case failed(any Error)
  }

  /// What the request was found to be, and its results before closures cut them into sections.
  private struct Fetched {
    let analyzed: AnalyzedRequest
    let live: LiveResult
    /// Shares its blocks with the state, unless a closure names the sections.
    var base: Results { live.snapshot.results }
  }

  /// Fetches the records.
  ///
  /// - Throws: what the request or its records throw.
  init(
    _ request: RecordsRequest, alongside: (@Sendable (Database) throws -> any Sendable)?,
    cache: ResultsCache? = nil, in db: Database, tell: @escaping @Sendable (Told) -> Void
  ) throws {
    self.request = request
    self.alongside = alongside
    self.tell = tell
    var wasCached = false
    (fetched, state) = try Self.fetch(
      request, after: nil, cache: cache, in: db, wasFound: { wasCached = true })
    self.wasCached = wasCached
  }

  /// The name of the cache of the records; nil: there is none.
  var cacheName: String? { request.cacheName }

  /// Caches the records as they are in this transaction.
  func save(_ cache: ResultsCache, in db: Database) {
    isCacheDirty = false
    guard let fetched, !isStale else { return }
    cache.save(fetched.base, of: fetched.analyzed, in: db)
  }

  /// Goes on from what a controller shows; what has changed since is told by the next refresh.
  init(
    _ request: RecordsRequest, showing state: FetchedState,
    alongside: (@Sendable (Database) throws -> any Sendable)?,
    tell: @escaping @Sendable (Told) -> Void
  ) {
    self.request = request
    self.alongside = alongside
    self.tell = tell
    self.state = state
    isStale = true
  }

  /// The tables whose rows are asked for.
  var followedTables: [String] { fetched?.analyzed.query.plan?.followedTables ?? [] }

  // MARK: - Fetching

  /// Runs the request anew, under the present schema, and tells the difference.
  func refetch(in db: Database) throws {
    let old = state
    (fetched, state) = try Self.fetch(request, after: old, in: db)
    do {
      try announce(from: old, in: db)
    } catch {
      state = old
      throw error
    }
    (isStale, failure) = (false, nil)
  }

  /// Fetches another request from now on, and tells the difference.
  func change(to other: RecordsRequest, in db: Database) throws {
    let (old, oldRequest, oldFetched) = (state, request, fetched)
    do {
      request = other
      try refetch(in: db)
    } catch {
      (state, request, fetched) = (old, oldRequest, oldFetched)
      throw error
    }
  }

  private static func fetch(
    _ request: RecordsRequest, after old: FetchedState?, cache: ResultsCache? = nil,
    in db: Database, wasFound: () -> Void = {}
  ) throws -> (Fetched, FetchedState) {
    let analyzed = try request.analyzed(in: db)
    let query = analyzed.query
    let isComparable = old.map { $0.results.layout == query.layout } ?? false
    let known = isComparable ? old?.results : nil
    var changes: ChangeSet?
    func run() throws -> Results {
      let result = try query.fetch(
        comparingWith: known ?? .empty(query.layout), arguments: analyzed.arguments, in: db)
      changes = isComparable ? result.changes : nil
      return result.results
    }
    let base =
      try cache?.results(of: analyzed, in: db, wasFound: wasFound, fetch: run) ?? run()
    let state = FetchedState(
      results: try sections(of: base, request, analyzed), shape: analyzed.shape,
      batches: analyzed.batches.map { BatchReader(plan: $0, arguments: analyzed.arguments) })
    try check(changes, state, request)
    let live = LiveResult(
      queryName: query.definition.name, arguments: analyzed.arguments,
      snapshot: snapshot(query, base), onEvent: { _ in })
    return (Fetched(analyzed: analyzed, live: live), state)
  }

  private static func snapshot(_ query: Query, _ results: Results) -> ResultsSnapshot {
    ResultsSnapshot(query: query, results: results, version: .fresh(), commit: 0, alongside: [])
  }

  private static func sections(
    of base: Results, _ request: RecordsRequest, _ analyzed: AnalyzedRequest
  ) throws -> Results {
    guard let sectionOfRow = request.sectionOfRow else { return base }
    return try naming(analyzed) {
      try SectionDerivation(shape: analyzed.shape, sectionOfRow: sectionOfRow).results(of: base)
    }
  }

  private static func naming<T>(_ analyzed: AnalyzedRequest, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as SectionError {
      throw FetchFailure(brokenSection: error, query: analyzed.query)
    }
  }

  // MARK: - Maintaining

  /// Brings the records up to date and tells what changed; a failure keeps the last good state.
  func refresh(_ changes: DatabaseChanges, in db: Database) {
    do {
      try bringUpToDate(changes, in: db)
      (isStale, failure) = (false, nil)
    } catch {
      fetched?.live.forgetIndex()
      fail(error)
    }
  }

  /// Tells a failure, unless it is the same as before.
  func fail(_ error: any Error) {
    isStale = true
    let error = FetchedRecordsError.publicError(error)
    let description = "\(error)"
    if description == failure { return }
    failure = description
    tell(.failed(error))
  }

  private func bringUpToDate(_ changes: DatabaseChanges, in db: Database) throws {
    guard let fetched, !isStale else { return try refetch(in: db) }
    let query = fetched.analyzed.query
    switch query.work(for: changes) {
    case .none:
      return
    case .rows(let changed, let plan):
      switch try fetched.live.maintain(changed, plan: plan, in: db) {
      case .maintained(let results, let changes):
        return try take(results, changes, of: fetched, in: db)
      case .refetchOnce: fetched.live.forgetIndex(keepingContributions: true)
      case .refetch: fetched.live.forgetIndex()
      }
    case .refetch:
      fetched.live.forgetIndex()
    }
    let next = try query.fetch(
      comparingWith: fetched.base, arguments: fetched.analyzed.arguments, in: db)
    try take(next.results, next.changes, of: fetched, in: db)
  }

  /// Takes the next results of the query.
  private func take(
    _ results: Results, _ changes: ChangeSet, of fetched: Fetched, in db: Database
  ) throws {
    let old = state
    var next = FetchedState(results: results, shape: state.shape, batches: state.batches)
    var shown = changes
    if let sectionOfRow = request.sectionOfRow {
      let derivation = SectionDerivation(shape: state.shape, sectionOfRow: sectionOfRow)
      let derived = try Self.naming(fetched.analyzed) {
        try derivation.results(of: results, changes: changes, after: old.results)
      }
      shown = derived.changes(from: old.results)
      next = FetchedState(results: derived, shape: state.shape)
    }
    try Self.check(changes, FetchedState(results: results, shape: state.shape), request)
    let value = shown.isEmpty ? nil : try alongside?(db)
    _ = fetched.live.succeed(with: Self.snapshot(fetched.analyzed.query, results))
    state = next
    isCacheDirty = request.cacheName != nil
    if !shown.isEmpty {
      tell(.changed(StateChange(old: old, new: next, changes: shown, alongside: value)))
    }
  }

  private func announce(from old: FetchedState, in db: Database) throws {
    isCacheDirty = request.cacheName != nil
    let changes = state.results.changesAcrossLayouts(from: old.results)
    if changes.isEmpty { return }
    let value = try alongside?(db)
    tell(.changed(StateChange(old: old, new: state, changes: changes, alongside: value)))
  }

  /// Decodes the records that came or changed, so that none throws when it is read later.
  private static func check(
    _ changes: ChangeSet?, _ state: FetchedState, _ request: RecordsRequest
  ) throws {
    // An index of records does not decode.
    if request.isBatched { return }
    func check(_ records: some Sequence<OrderedResults.Record>) throws {
      for row in try state.shape.rows(records) { try request.check(row) }
    }
    guard let changes else {
      for start in stride(from: 0, to: state.results.count, by: 256) {
        try check(state.results.records(in: start..<min(start + 256, state.results.count)))
      }
      return
    }
    try check(
      changes.recordChanges.lazy.compactMap { change in
        switch change {
        case .insertion(_, let record), .move(_, _, _, let record), .update(_, _, _, let record):
          record
        case .deletion: nil
        }
      })
  }
}
