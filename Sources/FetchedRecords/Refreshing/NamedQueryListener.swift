import GRDB
import OrderedResults
import QueryAnalysis

/// Listens to a live result of a query that the catalog knows by name.
// Safe to share: everything is set once; the engine is weak, and used in its own turns.
final class NamedQueryListener: LiveResultListener, @unchecked Sendable {
  let queryName: String
  let hearsFirst: Bool
  private let arguments: QueryArguments
  private let window: Range<Int>?
  private weak let engine: Refresher?
  private let prepare: Prepare?
  private let onEvent: OnEvent

  typealias OnEvent = @Sendable (LiveResultEvent, inout Sleepers) -> Void
  typealias Prepare =
    @Sendable (ChangeSet, _ old: ResultsSnapshot, _ new: ResultsSnapshot) -> Void

  init(
    _ queryName: String, _ arguments: QueryArguments, _ window: Range<Int>?, engine: Refresher,
    prepare: Prepare?, onEvent: @escaping OnEvent
  ) {
    self.queryName = queryName
    hearsFirst = engine.catalog[queryName]?.definition.isPrivate ?? false
    self.arguments = arguments
    self.window = window
    self.engine = engine
    self.prepare = prepare
    self.onEvent = onEvent
  }

  func bind(in db: Database, reusing known: (QueryDefinition) -> Query?) throws -> BoundQuery {
    guard let engine else { throw FetchFailure(kind: .unavailable, detail: "the engine has ended") }
    try engine.catalog.bringUpToDate(queryName, in: db)
    return BoundQuery(
      query: try engine.catalog.query(named: queryName, arguments: arguments),
      arguments: arguments, window: window)
  }

  var awaitsAnalysis: Bool { engine?.catalog.isOutdated(queryName) == true }

  func known(of bound: BoundQuery, in transaction: ReadTransaction) -> KnownResult? {
    if window != nil { return nil }
    return engine?.cachedSnapshot(of: bound.query, bound.arguments, in: transaction.db)
      .map(KnownResult.earlier)
  }

  /// The name of the state: O(n) for n records that are new.
  func prepare(_ results: Results, after old: Results?) {
    if let engine { _ = results.digest(by: engine.versionKey, after: old) }
  }

  func prepare(_ changes: ChangeSet, from old: ResultsSnapshot, to new: ResultsSnapshot) {
    prepare?(changes, old, new)
  }

  func receive(_ event: LiveResultEvent, _ sleepers: inout Sleepers) { onEvent(event, &sleepers) }

  func save(_ result: LiveResult) {
    if window == nil { engine?.cache(result) }
  }
}
