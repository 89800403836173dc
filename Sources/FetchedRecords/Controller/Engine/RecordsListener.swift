import Algorithms
import ChangeCapture
import GRDB
import Locks
import OrderedResults
import QueryAnalysis

/// Listens to a live result for a controller: says what the controller's request is, checks that its
/// records decode, names its sections, reads what stands alongside, and keeps its cache.
final class RecordsListener: LiveResultListener {
  /// What a controller is told.
  typealias Told = Result<StateChange, any Error>

  let queryName = "records"
  let request: RecordsRequest
  private let alongside: (@Sendable (Database) throws -> any Sendable)?
  private weak let engine: Refresher?
  /// Called in turns of the engine; it must not wait for anything.
  private let tell: @Sendable (Told) -> Void
  /// Whether there is something new to be cached.
  private let isCacheDirty = Atomic(false)

  init(
    _ request: RecordsRequest, engine: Refresher,
    alongside: (@Sendable (Database) throws -> any Sendable)? = nil,
    tell: @escaping @Sendable (Told) -> Void = { _ in }
  ) {
    self.request = request
    self.engine = engine
    self.alongside = alongside
    self.tell = tell
  }

  /// A request may make its statement of what it finds in the schema.
  var goesByWords: Bool { false }

  func bind(in db: Database, reusing known: (QueryDefinition) -> Query?) throws -> BoundQuery {
    let analyzed = try request.analyzed(in: db, reusing: known)
    return BoundQuery(query: analyzed.query, arguments: analyzed.arguments) {
      [self] update, old, transaction in
      try present(&update, after: old, analyzed, in: transaction)
    }
  }

  func receive(_ event: LiveResultEvent, _ sleepers: inout Sleepers) {
    switch event {
    case .changed(let changes, let old, let new):
      guard let old = old.presented as? FetchedState, let new = new.presented as? FetchedState
      else { return }
      tell(.success(StateChange(old: old, new: new, changes: changes)))
    case .failed(let failure): tell(.failure(FetchedRecordsError.publicError(failure)))
    case .reset, .recovered, .counted, .delayed, .fetching, .landed: break
    }
  }

  // MARK: - Presenting

  /// Makes of a next state what the controller shows.
  ///
  /// - Throws: what the request's closures throw, and `FetchFailure` for sections that return.
  private func present(
    _ update: inout LiveUpdate, after old: ResultsSnapshot, _ analyzed: AnalyzedRequest,
    in transaction: ReadTransaction
  ) throws {
    let base = update.results
    let shown = old.presented as? FetchedState
    // A state of another request may have the same columns, and other sections.
    let isSameShape = shown?.maker === self && analyzed.query.layout == old.results.layout
    let changes = isSameShape ? update.changes : nil
    let results = try sections(of: base, analyzed, changes, after: shown)
    var state = FetchedState(
      maker: self, results: results, base: base, query: analyzed.query, shape: analyzed.shape,
      batches: analyzed.batches.map { BatchReader(plan: $0, arguments: analyzed.arguments) })
    try check(changes, of: base, analyzed.shape)
    if let shown, !isSameShape {
      update.changes = results.changesAcrossLayouts(from: shown.results)
    } else if let shown, request.sectionOfRow != nil {
      update.changes = results.changes(from: shown.results)
    }
    update.bridgesShapes = shown != nil
    if shown != nil, !update.changes.isEmpty {
      state.alongside = try alongside?(transaction.db)
    }
    update.presented = state
    if !update.wasKnown { cache(base, of: analyzed, isFirst: shown == nil, in: transaction) }
  }

  private func sections(
    of base: Results, _ analyzed: AnalyzedRequest, _ changes: ChangeSet?, after old: FetchedState?
  ) throws -> Results {
    guard let sectionOfRow = request.sectionOfRow else { return base }
    let derivation = SectionDerivation(shape: analyzed.shape, sectionOfRow: sectionOfRow)
    do {
      if let changes, let old {
        return try derivation.results(of: base, changes: changes, after: old.results)
      }
      return try derivation.results(of: base)
    } catch let error as SectionError {
      throw FetchFailure(brokenSection: error, query: analyzed.query)
    }
  }

  /// Decodes the records that came or changed, so that none throws when it is read later.
  ///
  /// - Parameters:
  ///   - changes: nil: all are new.
  ///   - results: all records.
  ///   - shape: makes rows of them.
  /// - Throws: what the records throw.
  private func check(_ changes: ChangeSet?, of results: Results, _ shape: RowShape) throws {
    // An index of records does not decode.
    if request.isBatched { return }
    func check(_ records: some Sequence<OrderedResults.Record>) throws {
      for row in try shape.rows(records) { try request.check(row) }
    }
    guard let changes else {
      for chunk in (0..<results.count).chunks(ofCount: 256) {
        try check(results.records(in: chunk))
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

  // MARK: - Cache

  func known(of bound: BoundQuery, in transaction: ReadTransaction) -> KnownResult? {
    guard let cache = ResultsCache(request.cacheName, in: transaction),
      let results = cache.results(of: bound.query, bound.arguments, in: transaction.db)
    else { return nil }
    engine?.count { $0.cacheHits += 1 }
    return .present(results)
  }

  /// The first result at once; later ones are gathered.
  private func cache(
    _ results: Results, of analyzed: AnalyzedRequest, isFirst: Bool,
    in transaction: ReadTransaction
  ) {
    guard request.cacheName != nil else { return }
    if isFirst {
      ResultsCache(request.cacheName, in: transaction)?
        .save(results, of: analyzed.query, analyzed.arguments, in: transaction.db)
      return
    }
    isCacheDirty.store(true, ordering: .relaxed)
    engine?.saveSoon()
  }

  func save(_ result: LiveResult) {
    guard isCacheDirty.exchange(false, ordering: .relaxed), let engine else {
      return
    }
    // What cannot be cached now is fetched next time.
    try? engine.read { transaction in
      guard !result.isBehind, let bound = try result.bound?.get() else {
        return isCacheDirty.store(true, ordering: .relaxed)
      }
      ResultsCache(request.cacheName, in: transaction)?
        .save(result.snapshot.results, of: bound.query, bound.arguments, in: transaction.db)
    }
  }
}
