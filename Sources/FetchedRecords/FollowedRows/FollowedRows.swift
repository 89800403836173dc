import GRDB
import OrderedResults
import QueryAnalysis

/// The rows that statements alongside aggregate, or groups, of which one is looked up, or which a SELECT in FROM has up
/// to LIMIT, or the groups that it makes; those who show what they come to share them.
// Safe to share: every mutable field is touched on the refresher's queue only.
final class FollowedRows: @unchecked Sendable {
  /// What tells them apart: the query and the values of its parameters.
  struct Key: Hashable {
    let definition: QueryDefinition
    let arguments: QueryArguments
    let use: Use

    /// - Parameters:
    ///   - definition: the query.
    ///   - arguments: those of who shows something that is made of its records.
    ///   - use: what is made of them.
    init(_ definition: QueryDefinition, _ arguments: QueryArguments, _ use: Use) {
      self.definition = definition
      self.use = use
      let names = Set(definition.parameters.map(\.name))
      self.arguments = arguments.filter { names.contains($0.key) }
    }
  }

  /// What is made of them.
  enum Use: Hashable {
    case aggregates
    /// The same of groups, whose rows have so many first columns in common; and whether equal values of the next
    /// column count once, by which the rows are in order.
    case groups(termCount: Int, countsOnce: Bool)
    /// One of them is shown.
    case lookup
    /// They are shown with what belongs to each, or are groups of which all is made; unless there are more than so many.
    case inner(most: Int)
  }

  let key: Key
  let queryName: String
  /// Live results that have to look one up as soon as they show the present.
  var waiting: [ObjectIdentifier: LiveResult] = [:]
  /// How many live results show what is made of them.
  var users = 0
  /// The wish for the first result; nil: it was not uttered yet, or is fulfilled.
  var opening: Opening?
  /// The rows; nil: they are not there yet, could not be had, or followed no change.
  var live: LiveResult?
  /// The commit with which they were last others than before, or may have been.
  var lastChange = 0
  /// Whether they were not brought up to date at each commit since they were last: what is in between is not known.
  var hasSkipped = false
  /// Of groups, which ones have changed at the latest commits; nil: none is known.
  private(set) var groupChanges: GroupChanges?
  /// Whether it is certain at their commit which rows are of one group.
  private var areGroupsCertain = false
  /// Not before this they are asked for.
  private(set) var notBefore = ContinuousClock.now
  private var nextPause = FollowedRows.pause
  /// So often in a row they were read again as a whole.
  private var refetches = 0
  /// So often in a row it took long to follow them.
  private var slowUpdates = 0
  /// So often in a row they did not tell what their groups come to.
  private var vainUses = 0

  /// Rows that are read again as a whole so often follow nothing, and those that are of no use so often, are of none.
  private static let mostRefetches = 3
  /// A few changes take so long where others have to be read for them, as all that are equal to one that counts once.
  private static let slowUpdate = Duration.milliseconds(4)
  private static let fewChanges = 16
  /// What could not be had, or follow, may be another matter after this, and after twice as long the next time.
  private static let pause = Duration.seconds(60)
  private static let longestPause = Duration.seconds(3600)

  init(_ key: Key, for queryName: String) {
    self.key = key
    self.queryName = queryName
  }

  var use: Use { key.use }

  /// Whether they are followed, or soon will be.
  var areThere: Bool { live != nil || opening != nil }

  /// Whether they are read, or brought up to date, at this time.
  var areComing: Bool { opening != nil || areBehind }

  /// Whether they are there, and soon will be those of the present.
  var areBehind: Bool { live.map { $0.isBehind && $0.failure == nil } ?? false }

  /// The rows of the present commit; nil: they are not known.
  var present: LiveResult? { live.flatMap { $0.isBehind || $0.failure != nil ? nil : $0 } }

  /// The value of an aggregate at the present commit; nil: it is not known.
  func value(of aggregate: Aggregate) -> Value? {
    guard let present, let totals = present.snapshot.presented as? RunningTotals else { return nil }
    let results = present.snapshot.results
    return totals.value(of: aggregate) { (results, 0..<results.count) }
  }

  /// What each column is of the row that is looked up at the present commit, none where there is no such row; nil:
  /// it is not known.
  ///
  /// O(b), b rows of a block.
  func values(of lookup: RowLookup, _ arguments: QueryArguments) -> [[Value]]? {
    guard let present, let index = present.index,
      case .row(let column) = present.snapshot.query.plan?.owner
    else { return nil }
    let rowID: Int64
    switch lookup.rowID {
    case .integer(let integer): rowID = integer
    case .parameter(let name):
      guard case .integer(let integer) = arguments[name] else { return nil }
      rowID = integer
    }
    let records = index.records(of: rowID, inColumn: column)
    guard records.count < 2 else { return nil }
    return records.first.map { record in lookup.columns.map { [record.value($0)] } } ?? []
  }

  /// What a query's records are made of at the present commit; nil: it is not known, or too much.
  ///
  /// O(k) for k rows, or groups.
  func innerRows(of query: Query) -> Query.InnerRows? {
    guard let present, case .inner(let most) = use else { return nil }
    let results = present.snapshot.results
    if results.count > most { return nil }
    if query.innerGroups != nil {
      let count = results.layout.columns.count
      return .groups(results.records(in: 0..<results.count).map { $0.values(ofFirst: count) })
    }
    guard case .row(let column) = present.snapshot.query.plan?.owner else { return nil }
    return .rowIDs(
      results.records(in: 0..<results.count).compactMap { record in
        if case .integer(let rowID) = record.value(column) { rowID } else { nil }
      })
  }

  /// Notes how a change was brought in; returns whether they are worth what they cost.
  ///
  /// Where one is looked up, each who does would read all of them otherwise.
  func noteUpdate(_ update: LiveUpdate) -> Bool {
    if use == .lookup { return true }
    refetches = update.refetchReasons == nil ? 0 : refetches + 1
    if refetches > Self.mostRefetches { return false }
    switch use {
    case .groups:
      let isSlow = update.duration >= Self.slowUpdate && update.changes.count < Self.fewChanges
      slowUpdates = isSlow ? slowUpdates + 1 : 0
      return slowUpdates <= Self.mostRefetches && areOfUse(presented: update.presented)
    case .inner(let most): if update.results.count > most { return false }
    case .aggregates, .lookup: break
    }
    if refetches == 0 { nextPause = Self.pause }
    return true
  }

  private func areOfUse(presented: (any Sendable)?) -> Bool {
    if case .groups = use { presented != nil } else { true }
  }

  /// Notes whether groups could be made of them; returns whether they are worth what they cost.
  func noteUse(isVain: Bool) -> Bool {
    vainUses = isVain ? vainUses + 1 : 0
    if !isVain { nextPause = Self.pause }
    return vainUses <= Self.mostRefetches
  }

  /// Notes which groups an update concerns, or that this is not known any more.
  func noteChangedGroups(of update: LiveUpdate, commit number: Int) {
    guard case .groups(let termCount, _) = use else { return }
    let wereCertain = areGroupsCertain
    areGroupsCertain = (update.presented as? GroupTotals)?.areGroupsCertain ?? false
    // A group that was one with an equal one changes with it.
    let areKnown = wereCertain && areGroupsCertain && update.refetchReasons == nil
    if groupChanges == nil || !areKnown {
      groupChanges = GroupChanges(since: number)
    } else {
      groupChanges?.note(update.changes, termCount: termCount, commit: number)
    }
  }

  /// Begins to follow them with a commit; returns whether they are worth what they cost.
  func begin(with live: LiveResult) -> Bool {
    self.live = live
    lastChange = live.snapshot.commit
    groupChanges = GroupChanges(since: live.snapshot.commit)
    areGroupsCertain = (live.snapshot.presented as? GroupTotals)?.areGroupsCertain ?? false
    return areOfUse(presented: live.snapshot.presented)
  }

  /// Does without them for a while.
  func rest() {
    (live, refetches, slowUpdates, vainUses, groupChanges) = (nil, 0, 0, 0, nil)
    notBefore = .now + nextPause
    nextPause = min(nextPause * 2, Self.longestPause)
  }
}

extension FollowedRows: LiveResultListener {
  func bind(in db: Database, reusing known: (QueryDefinition) -> Query?) throws -> BoundQuery {
    let query = try known(key.definition) ?? Query.analyzed(key.definition, in: db)
    let present: BoundQuery.Presentation? =
      switch use {
      case .aggregates: Self.presentTotals
      case .groups(let termCount, let countsOnce):
        { update, old, _ in Self.presentGroups(termCount, countsOnce, &update, old) }
      case .lookup: Self.presentRows
      case .inner: nil
      }
    return BoundQuery(query: query, arguments: key.arguments, present: present)
  }

  /// On whatever thread works out the next state: O(n) for n rows that were read as a whole.
  private static func presentRows(
    _ update: inout LiveUpdate, _: ResultsSnapshot, _: ReadTransaction
  ) {
    guard update.refetchReasons != nil, case .row(let column) = update.query.plan?.owner else {
      return
    }
    update.index = OwnerIndex(update.results, ownersInColumn: column)
  }

  /// On whatever thread works out the next state.
  private static func presentTotals(
    _ update: inout LiveUpdate, _ old: ResultsSnapshot, _: ReadTransaction
  ) {
    guard update.refetchReasons == nil, var totals = old.presented as? RunningTotals else {
      update.presented = RunningTotals(of: update.results)
      return
    }
    totals.follow(update.changes)
    update.presented = totals
  }

  /// On whatever thread works out the next state.
  private static func presentGroups(
    _ termCount: Int, _ countsOnce: Bool, _ update: inout LiveUpdate, _ old: ResultsSnapshot
  ) {
    guard update.refetchReasons == nil, var totals = old.presented as? GroupTotals else {
      let order = countsOnce ? update.query.plan?.order : nil
      update.presented = GroupTotals(
        of: update.results, termCount: termCount, countingOnceBy: order)
      return
    }
    let areWorthwhile = totals.follow(update.changes, from: old.results, to: update.results)
    update.presented = areWorthwhile ? totals : nil
  }

  func known(of bound: BoundQuery, in transaction: ReadTransaction) -> KnownResult? { nil }

  func receive(_ event: LiveResultEvent, _ sleepers: inout Sleepers) {}

  func save(_ result: LiveResult) {}
}
