import ChangeCapture
import GRDB
package import OrderedResults
import QueryAnalysis

/// One query with one set of arguments, whose records are kept up to date; all that watch it share
/// it.
///
/// The only place that says what is shown, at which commit, and why not. It is brought up to date by
/// its refresher, on whose queue it is used; what it shows is immutable and may be handed anywhere.
// Safe to share: every mutable field is touched on the refresher's queue only, or by whoever made it
// before that; and what an update works with, as its index and durations, by the reader alone that has it as
// its `background`.
package final class LiveResult: @unchecked Sendable {
  let listener: any LiveResultListener
  /// What it is of under the present schema, or why it cannot be known; nil: nobody asked yet.
  private(set) var bound: Result<BoundQuery, FetchFailure>?
  /// The live results that differ from this one in their arguments only.
  weak var group: QueryGroup?
  /// What an earlier life of the process showed last, and how the first snapshot came of it; nil:
  /// nothing is known of one.
  package internal(set) var resumed: (old: ResultsSnapshot, changes: ChangeSet)?

  /// The last good result.
  package private(set) var snapshot: ResultsSnapshot
  /// What went wrong when the result was last brought up to date, if it did.
  package private(set) var failure: FetchFailure?

  /// What may have changed since the snapshot's commit and is not in it; nothing: the snapshot shows
  /// the present.
  private(set) var missed = DatabaseChanges.nothing
  /// The first commit that is in ``missed``.
  private(set) var missedSince: Int?
  /// When the first of what was missed was noticed.
  private(set) var behindSince: ContinuousClock.Instant?
  /// Whether it is to run again whatever has changed, and why, in a word fit to label a metric.
  var mustRefetch: String?
  /// The work beside the queue that will bring it up to date, if there is some.
  var background: BackgroundTask?
  /// Whether it stands in line to be brought up to date.
  var isWaiting = false
  /// Whether those who show it with others were told that it is behind.
  package internal(set) var isToldDelayed = false
  /// Whether others show nothing of a commit before this result does: its companions, or whoever
  /// hears first.
  var isWaitedFor: Bool { holdsUpCompanions || listener.hearsFirst }
  /// Whether its companions wait for it, and it for them; not where it failed in a way that is tried
  /// again only after a while.
  var holdsUpCompanions: Bool { !companions.isEmpty && failure?.isTriedLater != true }
  /// The rows that are followed for it, by their positions among ``Query/rowsToFollow``.
  var followed: [Int: [FollowedRows]] = [:]
  /// Whether it waits, or has waited since it showed something, for one of these to come.
  var hasWaitedForRows = false
  /// How long it last took.
  var durations = Durations()
  /// Not before this it is tried again.
  var notBefore: ContinuousClock.Instant?
  /// When it is tried again though nothing has changed, and how long it waits for that; nil: it is not.
  var retry: (time: ContinuousClock.Instant, pause: Duration)?
  /// Who waits for it; nil: its first result is there.
  var opening: Opening?
  /// Who waits until it was fetched again, by work that begins from now on.
  var receivers: [Receiver] = []
  /// Whether it is kept up to date no longer.
  var isLetGo = false
  /// Who waits until it shows a commit.
  var awaiting: [Awaiting] = []
  /// By who shows them: those that a stream shows together with this one, at one commit.
  var companions: [ObjectIdentifier: [LiveResult]] = [:]

  /// The whole order, where a window of it is shown.
  var whole: Results?
  /// Made when a change can be maintained, and let go with a refetch.
  var index: OwnerIndex?
  /// The same by what groups are grouped by, where they are made of what their rows come to.
  var groupIndex: OwnerIndex?
  /// Made when a change has to be led to records of other rows.
  var contributions: Contributions?
  /// The owners that were found when the time to maintain the result was over, as ``contributions`` may not
  /// tell again; nil: nothing was left unfinished.
  var unfinished: Set<Int64>?
  /// What the plan's ``IncrementalPlan/values`` come to in the snapshot; nil: that is not known.
  private(set) var values: [Value]?
  /// The same of the state that is worked out, or was last.
  var nextValues: [Value]?
  /// Which of them were looked up for the last change, by their positions among ``Query/rowsToFollow``.
  var lookedUp: [Int] = []
  /// Whether its groups could be made of what their rows come to, for the last change; nil: nobody tried.
  var areGroupsKnown: Bool?
  /// Whether rows were known once of which its groups are made, or that refer to its rows.
  var hasGroups = false
  /// How often the query runs again before they are gathered once more: they were too many, or led to too
  /// many records.
  var contributionsPause = 0
  /// Why that is so.
  var refusal = Contributions.Refusal.tooMany
  /// How often in a row they were gathered, and led to too many records.
  var vainContributions = 0

  /// - Parameters:
  ///   - listener: who it is for.
  ///   - snapshot: what that shows now.
  init(for listener: any LiveResultListener, showing snapshot: ResultsSnapshot) {
    self.listener = listener
    self.snapshot = snapshot
  }

  /// For somebody who shows nothing yet, or the result of another query.
  convenience init(
    for listener: any LiveResultListener, of bound: BoundQuery, commit: Int,
    after old: ResultsSnapshot? = nil
  ) {
    self.init(
      for: listener,
      showing: old
        ?? ResultsSnapshot(
          query: bound.query, results: .empty(bound.query.layout), number: 0, commit: commit,
          alongside: []))
    self.bound = .success(bound)
  }

  var queryName: String { listener.queryName }

  /// Whether somebody explores by it, so that no work for it is known to be short.
  var isExplored: Bool { snapshot.query.definition.isExplored }

  var arguments: QueryArguments { (try? bound?.get())?.arguments ?? [:] }

  /// Asks what it is of under the schema that `db` sees now.
  func bind(in db: Database, reusing known: (QueryDefinition) -> Query?) {
    bound = Result { try listener.bind(in: db, reusing: known) }.mapError(FetchFailure.init(any:))
  }

  /// The offsets that it shows, if it is a window that is live by itself.
  var window: Range<Int>? { (try? bound?.get())?.window }

  /// The schema has changed, and what it is of is found out when its turn comes.
  func unbind() { bound = nil }

  typealias Receiver = @Sendable (Result<ResultsSnapshot, FetchFailure>) -> Void

  func takeReceivers() -> [Receiver] {
    defer { receivers = [] }
    return receivers
  }

  /// How long the parts of its last fetch took; nil: not known.
  struct Durations {
    var fetch: Duration?
    /// Whether changes take long row by row: what they are led by stays where they are not interrupted.
    var isLongByRows = false
    /// Of the records that are made of the rows up to LIMIT in FROM, where these were known.
    var inner: Duration?
    /// Of those that ran by themselves, by their positions among ``Query/rowsToFollow``.
    var statements: [Int: Duration] = [:]
    /// So often in a row each was dear because of a change.
    var dearRuns: [Int: Int] = [:]
  }

  /// How long it took to fetch it, when that was last done; nil: it never was.
  ///
  /// Of what a reader works on, which notes new durations, it is what was known before.
  var knownDuration: Duration? {
    if let background { return background.knownDuration }
    return durations.inner ?? durations.fetch
  }

  /// How many rows it is made of.
  ///
  /// Of what a reader works on, which may replace them, it is how many they were before.
  var knownRows: Int {
    if let background { return background.knownRows }
    return max(snapshot.results.count, whole?.count ?? 0, talliedRows)
  }

  /// Whether the snapshot may not show the present.
  var isBehind: Bool {
    !missed.isNothing || mustRefetch != nil || background != nil || opening != nil
  }

  /// Notes changes that are not brought in now.
  ///
  /// Rows are only named where reading them one by one is worthwhile: else a commit to many rows would be
  /// kept once for each of many results that are behind.
  func miss(_ changes: DatabaseChanges, since commit: Int) {
    let most = Self.mostRowsWorthwhile(of: knownRows)
    missed.formUnion(changes.naming(atMost: most))
    missed = missed.naming(atMost: most)
    missedSince = min(missedSince ?? commit, commit)
    behindSince = behindSince ?? .now
  }

  /// It was not its turn before now.
  func beginTurn() {
    notBefore = nil
    behindSince = .now
  }

  /// How many rows are followed of which groups are made, or that refer to rows; none where they are not known.
  private var talliedRows: Int {
    guard snapshot.query.plan?.tallied != nil else { return 0 }
    let rows = followed[snapshot.query.positionOfTallied] ?? []
    return rows.compactMap { $0.live?.snapshot.results.count }.max() ?? 0
  }

  /// Hands over what was missed to whoever brings it in.
  func takeMissed() -> DatabaseChanges {
    defer { (missed, missedSince, behindSince, mustRefetch) = (.nothing, nil, nil, nil) }
    return missed
  }

  /// Takes a new state, and what the values come to that all records look at; returns whether a failure is over with it.
  func succeed(with snapshot: ResultsSnapshot, values: [Value]?) -> Bool {
    defer { failure = nil }
    (self.snapshot, self.values, retry) = (snapshot, values, nil)
    return failure != nil
  }

  /// Keeps the last good result; returns whether this failure is news.
  func fail(with failure: FetchFailure) -> Bool {
    defer { self.failure = failure }
    return self.failure != failure
  }
}

/// What a refresh did to a live result.
package enum LiveResultEvent: Sendable {
  /// The result changed; `changes` turn the one into the other.
  case changed(ChangeSet, from: ResultsSnapshot, to: ResultsSnapshot)
  /// The shape of the records changed: start over with this snapshot.
  case reset(ResultsSnapshot)
  /// The result could not be brought up to date; the old one stands.
  case failed(FetchFailure)
  /// A failure is over, and the result is what it was before it.
  case recovered
  /// The window shows what it has shown, of a result that has another number of records.
  case counted(ResultsSnapshot)
  /// Only for those that others wait for: the result may have changed, and what is shown stays for a
  /// while.
  case delayed
  /// Only for those with companions: what will be shown next is that of the present commit.
  case fetching
  /// Only for those that others wait for: that is shown now; whether it is the present, or nothing
  /// comes of that but a failure which was told before.
  case landed(isCurrent: Bool)
}
