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
  var duration: Duration
  /// What an earlier life of the process showed last, if it is known.
  var cached: ResultsSnapshot?
  /// Whether it was known, and nothing was fetched.
  var wasKnown = false
  /// What the listener made of it.
  var presented: (any Sendable)?
  /// Where its records are, if it was read as a whole and that will be asked at once.
  var index: OwnerIndex?
  /// The statements alongside that ran, and how many did not have to.
  var ranAlongside: [Int] = []
  var knownAlongside = 0
  /// The columns of a record of aggregates, where the query ran because of a change, or the values that all records
  /// look at, where these were looked up, by their positions among ``Query/rowsToFollow``.
  var ranTotals: [Int] = []
  /// Whether its groups were made of what their rows come to; nil: nobody tried.
  var areGroupsKnown: Bool?
  /// Where the records are, of a window that is live by itself.
  var places: WindowPlaces?
  /// What the values come to that all records look at; nil: that is not known.
  var values: [Value]?
  /// Whether the changes tell the difference also where the shape of the records changed.
  var bridgesShapes = false

  func snapshot(_ number: Int, commit: Int, key: DigestKey) -> ResultsSnapshot {
    ResultsSnapshot(
      query: query, results: results, number: number, commit: commit, alongside: alongside,
      key: key, presented: presented, places: places)
  }

  /// How an update follows what is shown.
  enum Succession {
    /// It is the same, but may be of another commit.
    case same
    /// Records came, went or changed, or what stands alongside.
    case change
    /// The records have another shape.
    case reset
  }

  /// How it follows a state.
  func succession(to old: ResultsSnapshot) -> Succession {
    guard bridgesShapes || query.layout == old.results.layout else { return .reset }
    // What stands alongside is a part of the state that a version names.
    return changes.isEmpty && alongside == old.alongside ? .same : .change
  }

  /// The state after another one, as of a commit.
  func snapshot(after old: ResultsSnapshot, commit: Int, key: DigestKey) -> ResultsSnapshot {
    let isSame = succession(to: old) == .same
    return snapshot(isSame ? old.number : old.number + 1, commit: commit, key: key)
  }
}

// Working out the next state, without showing it.
//
// The same function runs on the refresher's own connection and on another one beside it: what it
// changes is used by nobody else meanwhile.
extension LiveResult {
  /// A piece of work shorter than this may be done on the queue that follows commits.
  static let shortWork = Duration.milliseconds(2)
  /// Well within that, so that work does not go back and forth.
  private static let quickWork = Duration.milliseconds(1)

  /// Fewer records than this are looked through within such a time.
  static let quicklyIndexed = 8192
  /// Fewer changed rows than this are searched for within such a time.
  private static let quicklySearched = 256

  /// Whether some work is, as far as is known, done within ``shortWork``.
  func isShort(_ work: Query.Work) -> Bool {
    if durationAlongside(of: work) >= Self.shortWork { return false }
    switch work.records {
    case .none, .total: return true
    case .totals(.some): return true
    case .inner(.some, _): return durations.inner ?? .zero < Self.shortWork
    case .window(let places?, _): return places.rowIDs?.count ?? 0 <= Self.shortWindow
    case .totals(nil), .inner(nil, _), .refetch:
      return durations.fetch ?? .zero < Self.shortWork
    // The rows before it are passed, and all are counted.
    case .window(nil, _): return false
    case .rows(let changed):
      let areValuesShort = durationOfValues(after: changed, known: work.values) < Self.shortWork
      let mayAllChange = changed.contains(where: \.lead.isOfValue)
      if let groups = work.groups, areValuesShort, isShort(groups, mayAllChange: mayAllChange) {
        return true
      }
      if durations.isLongByRows { return false }
      if changed.reduce(0, { $0 + $1.rowIDs.count }) > Self.quicklySearched { return false }
      if !areValuesShort { return false }
      let isGathered = isGathered(for: changed)
      // To gather takes about as long as the query.
      if !isGathered, durations.fetch ?? .zero >= Self.shortWork { return false }
      if max(snapshot.results.count, whole?.count ?? 0) <= Self.quicklyIndexed { return true }
      return index != nil && isGathered
    }
  }

  /// Whether what leads these rows to records is there, and the whole order of which a window is shown.
  private func isGathered(for changed: [ChangedRows]) -> Bool {
    guard let plan = snapshot.query.plan else { return true }
    if contributions == nil, plan.needsContributions(for: changed) { return false }
    return whole != nil || plan.window.map { $0.short != nil } ?? true
  }

  /// Whether the records of an owner are found in a moment.
  var canFindOwners: Bool {
    !isBehind && (index != nil || snapshot.results.count <= Self.quicklyIndexed)
  }

  private func durationAlongside(of work: Query.Work) -> Duration {
    work.alongside.reduce(.zero) {
      $1.aggregates == nil ? $0 + (durations.statements[$1.position] ?? .zero) : $0
    }
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
    var update = try next(work, bound, own(meter), in: transaction.db)
    try bound.present?(&update, snapshot, transaction)
    listener.prepare(update.results, after: snapshot.results)
    return update
  }

  /// Works out the first state, from what is known of it, if anything is.
  func firstUpdate(
    _ first: Query.Work, of bound: BoundQuery, known: KnownResult?, meter: ResultMeter,
    in transaction: ReadTransaction
  ) throws -> LiveUpdate {
    let start = ContinuousClock.now
    let meter = own(meter)
    nextValues = nil
    let work = bound.query.refetch(because: [])
    let next: NextRecords
    switch known {
    case .present(let results):
      next = NextRecords(results: results, changes: ChangeSet(), refetchReasons: [])
    case .earlier(let cached):
      next = try refetch(
        bound, comparingWith: cached.results, because: [], meter, in: transaction.db)
    case nil:
      switch first.records {
      case .window, .totals(.some):
        next = try nextRecords(first.records, bound, meter, in: transaction.db).ofNoChange
      case .none, .rows, .total, .totals(nil), .inner, .refetch:
        next = try refetch(bound, because: [], meter, in: transaction.db)
      }
    }
    var update = try update(to: next, work.alongside, bound, since: start, in: transaction.db)
    switch known {
    case .present: update.wasKnown = true
    case .earlier(let cached): update.cached = cached
    case nil: break
    }
    try bound.present?(&update, snapshot, transaction)
    listener.prepare(update.results, after: nil)
    return update
  }

  /// What it may take itself, of what any may.
  private func own(_ meter: ResultMeter) -> ResultMeter {
    listener is FollowedRows ? meter.ofAid : meter
  }

  /// The next records, and how they were come by.
  private struct NextRecords {
    let results: Results
    let changes: ChangeSet
    let refetchReasons: [String]?
    var places: WindowPlaces?

    /// The same of a first fetch, which no change made necessary.
    var ofNoChange: NextRecords {
      NextRecords(results: results, changes: changes, refetchReasons: [], places: places)
    }
  }

  private func next(
    _ work: Query.Work, _ bound: BoundQuery, _ meter: ResultMeter, in db: Database
  ) throws -> LiveUpdate {
    let start = ContinuousClock.now
    nextValues = work.records == .none ? values : nil
    (areGroupsKnown, lookedUp) = (nil, [])
    let next = try nextRecords(
      work.records, known: work.values, groups: work.groups, bound, meter, in: db)
    var update = try update(to: next, work.alongside, bound, since: start, in: db)
    let query = bound.query
    if let plan = query.plan, let reasons = next.refetchReasons, reasons != ["firstChange"] {
      note(readingGroupsBy: plan, took: durations.fetch ?? .zero)
    }
    switch work.records {
    case .totals(nil), .inner(nil, _):
      update.ranTotals = Array(query.rowsToFollow.indices.dropFirst(query.alongside.count))
    case .refetch where query.lookup != nil: update.ranTotals = [query.alongside.count]
    case .refetch: update.ranTotals = lookedUp
    case .rows:
      update.ranTotals = lookedUp
      update.areGroupsKnown = areGroupsKnown
    case .none, .window, .total, .totals(.some), .inner(.some, _): break
    }
    return update
  }

  private func nextRecords(
    _ work: Query.RecordsWork, known: [Int: [Value]] = [:], groups: KnownGroups? = nil,
    _ bound: BoundQuery, _ meter: ResultMeter, in db: Database
  ) throws -> NextRecords {
    switch work {
    case .none:
      return NextRecords(
        results: snapshot.results, changes: ChangeSet(), refetchReasons: nil,
        places: snapshot.places)
    case .total(let places):
      return NextRecords(
        results: snapshot.results, changes: ChangeSet(), refetchReasons: nil, places: places)
    case .window(let places, let changed):
      let next = try window(at: places, changed: changed, bound, meter, in: db)
      return NextRecords(
        results: next.results, changes: next.changes,
        refetchReasons: next.isPlaced ? nil : ["noOutline"], places: next.places)
    case .totals(let values?):
      let (results, changes) = try totals(values, bound, in: db)
      return NextRecords(results: results, changes: changes, refetchReasons: nil)
    case .totals(nil):
      return try refetch(bound, because: ["notIncremental"], meter, in: db)
    case .inner(let rows, _):
      return try made(of: rows, bound, meter, in: db)
    case .refetch(let reasons):
      return try refetch(bound, because: reasons, meter, in: db)
    case .rows(let changed):
      guard let plan = bound.query.plan else {
        return try refetch(bound, because: ["notIncremental"], meter, in: db)
      }
      let start = ContinuousClock.now
      switch try maintain(
        changed, plan: plan, known: known, groups, bound.arguments, meter, in: db)
      {
      case .refetch(let reason):
        return try refetch(bound, because: [reason], meter, in: db)
      case .refetchOnce(let reason):
        return try refetch(bound, because: [reason], keepsContributions: true, meter, in: db)
      case .maintained(let results, let changes):
        if ContinuousClock.now - start < Self.quickWork { durations.isLongByRows = false }
        return NextRecords(results: results, changes: changes, refetchReasons: nil)
      }
    }
  }

  private func refetch(
    _ bound: BoundQuery, comparingWith known: Results? = nil, because reasons: [String],
    keepsContributions: Bool = false, _ meter: ResultMeter, in db: Database
  ) throws -> NextRecords {
    forgetIndex(keepingContributions: keepsContributions)
    durations.inner = nil
    let start = ContinuousClock.now
    let old = known ?? snapshot.results
    let query = bound.query
    let (results, changes) = try query.fetch(
      comparingWith: old.layout == query.layout ? old : .empty(query.layout),
      arguments: bound.arguments, meter: meter, in: db)
    durations.fetch = ContinuousClock.now - start
    return NextRecords(results: results, changes: changes, refetchReasons: reasons)
  }

  /// Records that are made of the rows up to LIMIT, or the groups, that a SELECT in FROM has, where these are known.
  ///
  /// O(k log n) for k rows then, in tables of n rows, and for what each is joined with; O(g log g) for g groups.
  private func made(
    of rows: Query.InnerRows?, _ bound: BoundQuery, _ meter: ResultMeter, in db: Database
  ) throws -> NextRecords {
    let (query, old) = (bound.query, snapshot.results)
    var (arguments, unnamed, sql) = (bound.arguments, [Value](), String?.none)
    switch rows {
    case .rowIDs(let rowIDs):
      sql = query.limitedRows?.sql
      arguments[LimitedRows.parameter] = .json(rowIDs)
    case .groups(let groups):
      let statement = query.innerGroups?.statement(for: groups)
      (sql, unnamed) = (statement?.sql, statement?.values ?? [])
    case nil: break
    }
    guard let sql, old.layout == query.layout else {
      return try refetch(bound, because: ["notIncremental"], meter, in: db)
    }
    let start = ContinuousClock.now
    let (results, changes) = try query.fetch(
      by: sql, comparingWith: old, arguments: arguments, unnamed: unnamed, meter: meter, in: db)
    durations.inner = ContinuousClock.now - start
    return NextRecords(results: results, changes: changes, refetchReasons: nil)
  }

  // MARK: - Aggregates

  /// The only record of a query that aggregates all rows, or looks up one, of what its columns are made of.
  private func totals(
    _ values: [[Value]], _ bound: BoundQuery, in db: Database
  ) throws -> (results: Results, changes: ChangeSet) {
    let (layout, old) = (bound.query.layout, snapshot.results)
    var builder = ResultsBuilder(comparingWith: old.layout == layout ? old : .empty(layout))
    if values.isEmpty { return try builder.finish() }
    var encoder = RecordEncoder()
    encoder.begin()
    if bound.query.lookup != nil {
      for value in values.joined() { encoder.append(value) }
    }
    for (plan, values) in zip(bound.query.totals, values) {
      encoder.append(try plan.value(of: values, bound.arguments, in: db))
    }
    builder.append(encoder)
    return try builder.finish()
  }

  private func update(
    to next: NextRecords, _ stale: [Query.StaleStatement], _ bound: BoundQuery,
    since start: ContinuousClock.Instant, in db: Database
  ) throws -> LiveUpdate {
    var update = LiveUpdate(
      query: bound.query, results: next.results, changes: next.changes,
      alongside: try alongside(stale, bound, in: db), refetchReasons: next.refetchReasons,
      duration: ContinuousClock.now - start)
    update.ranAlongside = stale.filter { $0.aggregates == nil }.map(\.position)
    (update.places, update.values) = (next.places, nextValues)
    update.knownAlongside = stale.count - update.ranAlongside.count
    return update
  }

  /// The values of now, most of which may be those that are shown.
  private func alongside(
    _ stale: [Query.StaleStatement], _ bound: BoundQuery, in db: Database
  ) throws -> [NamedValue] {
    let statements = bound.query.alongside
    if stale.isEmpty { return snapshot.alongside }
    var values = snapshot.alongside
    if stale.count == statements.count {
      values = statements.map { NamedValue(name: $0.name, value: .null) }
    }
    for statement in stale {
      let position = statement.position
      let (name, plan) = (statements[position].name, statements[position].plan)
      if let plan, let aggregates = statement.aggregates {
        let value = try plan.value(of: aggregates, bound.arguments, in: db)
        values[position] = NamedValue(name: name, value: value)
      } else {
        let start = ContinuousClock.now
        let value = try db.value(of: statements[position].sql, bound.arguments)
        values[position] = NamedValue(name: name, value: value)
        durations.statements[position] = ContinuousClock.now - start
      }
    }
    return values
  }
}

extension AggregatePlan {
  /// The value of the statement, of those of its aggregates.
  func value(
    of aggregates: [Value], _ arguments: QueryArguments, in db: Database
  ) throws -> Value {
    guard let expression else { return aggregates[0] }
    return try db.value(of: expression, arguments, unnamed: aggregates)
  }
}
