import GRDB
import OrderedResults
import QueryAnalysis

/// The next state of a live result, and how it was come by.
struct LiveUpdate {
  let query: Query
  let results: Results
  var changes: ChangeSet
  let alongside: [NamedValue]
  /// Why the query ran again, in words fit to label a metric; nil: it was maintained row by row.
  let refetchReasons: [String]?
  let duration: Duration
  /// What an earlier life of the process showed last, if it is known.
  var cached: ResultsSnapshot?
  /// Whether it was known, and nothing was fetched.
  var wasKnown = false
  /// What the listener made of it.
  var presented: (any Sendable)?
  /// Whether the changes tell the difference also where the shape of the records changed.
  var bridgesShapes = false

  func snapshot(_ number: Int, commit: Int, key: DigestKey) -> ResultsSnapshot {
    ResultsSnapshot(
      query: query, results: results, number: number, commit: commit, alongside: alongside,
      key: key, presented: presented)
  }
}

// Working out the next state, without showing it.
//
// The same function runs on the refresher's own connection and on another one beside it: what it
// changes is used by nobody else meanwhile.
extension LiveResult {
  /// A piece of work shorter than this may be done on the queue that follows commits.
  static let shortWork = Duration.milliseconds(2)

  /// Fewer records than this are looked through within such a time.
  private static let quicklyIndexed = 8192
  /// Fewer changed rows than this are searched for within such a time.
  private static let quicklySearched = 256

  /// Whether some work is, as far as is known, done within ``shortWork``.
  func isShort(_ work: Query.Work) -> Bool {
    switch work {
    case .none: return true
    case .refetch: return duration(of: \.fetch) < Self.shortWork
    case .rows(let changed, _):
      if changed.reduce(0, { $0 + $1.rowIDs.count }) > Self.quicklySearched { return false }
      if duration(of: \.alongside) >= Self.shortWork { return false }
      if max(snapshot.results.count, whole?.count ?? 0) <= Self.quicklyIndexed { return true }
      let needsContributions = changed.contains { !$0.lead.isOwner }
      return index != nil && (contributions != nil || !needsContributions)
    }
  }

  /// Whether the records of an owner are found in a moment.
  var canFindOwners: Bool {
    !isBehind && (index != nil || snapshot.results.count <= Self.quicklyIndexed)
  }

  private func duration(of part: KeyPath<Durations, Duration?>) -> Duration {
    durations[keyPath: part] ?? .zero
  }

  /// Works out the next state in a read transaction.
  ///
  /// - Parameters:
  ///   - work: what is to be done.
  ///   - bound: the query under the transaction's schema.
  ///   - meter: what the result may take.
  ///   - transaction: reads it.
  /// - Returns: the next state, as its listener presents it.
  /// - Throws: `FetchFailure`, `DatabaseError`, and what the listener throws. The next change is then
  ///   brought in by a refetch.
  func update(
    _ work: Query.Work, of bound: BoundQuery, meter: ResultMeter,
    in transaction: ReadTransaction
  ) throws -> LiveUpdate {
    var update = try next(work, bound, meter, in: transaction.db)
    try bound.present?(&update, snapshot, transaction)
    listener.prepare(update.results)
    return update
  }

  /// Works out the first state, from what is known of it, if anything is.
  func firstUpdate(
    of bound: BoundQuery, known: KnownResult?, meter: ResultMeter,
    in transaction: ReadTransaction
  ) throws -> LiveUpdate {
    var update: LiveUpdate
    switch known {
    case .present(let results):
      update = LiveUpdate(
        query: bound.query,
        results: results, changes: ChangeSet(),
        alongside: try fetchAlongside(bound, in: transaction.db), refetchReasons: [],
        duration: .zero)
      update.wasKnown = true
    case .earlier(let cached):
      update = try refetch(
        bound, comparingWith: cached.results, because: [], meter, in: transaction.db)
      update.cached = cached
    case nil:
      update = try refetch(bound, because: [], meter, in: transaction.db)
    }
    try bound.present?(&update, snapshot, transaction)
    listener.prepare(update.results)
    return update
  }

  private func next(
    _ work: Query.Work, _ bound: BoundQuery, _ meter: ResultMeter, in db: Database
  ) throws -> LiveUpdate {
    switch work {
    case .none:
      return LiveUpdate(
        query: bound.query,
        results: snapshot.results, changes: ChangeSet(), alongside: snapshot.alongside,
        refetchReasons: nil, duration: .zero)
    case .refetch(let reasons):
      return try refetch(bound, because: reasons, meter, in: db)
    case .rows(let changed, let plan):
      let start = ContinuousClock.now
      switch try maintain(changed, plan: plan, bound.arguments, in: db) {
      case .refetch(let reason):
        return try refetch(bound, because: [reason], meter, in: db)
      case .refetchOnce(let reason):
        return try refetch(bound, because: [reason], keepsContributions: true, meter, in: db)
      case .maintained(let results, let changes):
        let alongside = try fetchAlongside(bound, in: db)
        return LiveUpdate(
          query: bound.query,
          results: results, changes: changes, alongside: alongside, refetchReasons: nil,
          duration: ContinuousClock.now - start)
      }
    }
  }

  private func refetch(
    _ bound: BoundQuery, comparingWith known: Results? = nil, because reasons: [String],
    keepsContributions: Bool = false, _ meter: ResultMeter, in db: Database
  ) throws -> LiveUpdate {
    forgetIndex(keepingContributions: keepsContributions)
    let start = ContinuousClock.now
    let old = known ?? snapshot.results
    let query = bound.query
    let (results, changes) = try query.fetch(
      comparingWith: old.layout == query.layout ? old : .empty(query.layout),
      arguments: bound.arguments, meter: meter, in: db)
    let fetched = ContinuousClock.now
    durations.fetch = fetched - start
    return LiveUpdate(
      query: query,
      results: results, changes: changes, alongside: try fetchAlongside(bound, in: db),
      refetchReasons: reasons, duration: ContinuousClock.now - start)
  }

  private func fetchAlongside(_ bound: BoundQuery, in db: Database) throws -> [NamedValue] {
    if bound.query.definition.alongside.isEmpty { return [] }
    let start = ContinuousClock.now
    defer { durations.alongside = ContinuousClock.now - start }
    return try bound.query.fetchAlongside(bound.arguments, in: db)
  }
}
