package import ChangeCapture
import GRDB
package import HeldMemory
import Locks
package import OrderedResults
import QueryAnalysis

/// Keeps all live queries of one database up to date.
///
/// One wake-up opens one read transaction, learns what changed up to exactly that snapshot, brings
/// every live result up to date in it that takes little, and tells what changed: these show one
/// commit. Commits that arrive meanwhile are joined into the next refresh.
///
/// Commits come first: the queue does only what is short. What takes long (``LiveResult/isShort(_:)``)
/// stands in line (`Refresher+Line.swift`), and is done on connections beside it, each in a read
/// transaction on a commit that is known; meanwhile the result shows its last commit. Whatever
/// somebody reads is right for one commit.
// Safe to share: every mutable field is touched on `queue` only, which each entry checks.
package final class Refresher: @unchecked Sendable {
  let access: any DatabaseAccess
  /// What each query is under the present schema; readable from any thread.
  package let catalog: QueryCatalog
  let log: @Sendable (RefresherMessage) -> Void
  private let lastFailure = Mutex<FetchFailure?>(nil)
  let pulse = Mutex(RefresherPulse(beat: .now))
  let cacheTrouble = Mutex(CacheTrouble())
  let failing = Mutex(FailingQueries())
  private let numbers = Mutex(RefreshStatistics())
  private let captureNumbers = Mutex(CaptureStatistics())
  let isSaveScheduled = Atomic(false)
  package let limits: RefresherLimits
  /// Names the states of results.
  package let versionKey: DigestKey
  /// What all results, and whatever else is made of them, may take.
  package let memory: MemoryBudget

  // Touched in turns only.
  var isWatching = false
  /// Made for each connection, of which it says what changed.
  private let makeFinder: () -> any ChangeFinder
  var finder: (any ChangeFinder)?
  var schemaNumber: Int64?
  /// Under which queries were analysed; of that number.
  var schemaObjects: SchemaObjects?
  /// Grows by one with each refresh that saw a commit.
  package internal(set) var commit = 0
  let live = LiveResults()
  /// What statements alongside aggregate, where that is followed.
  var followedRows: [FollowedRows.Key: FollowedRows] = [:]
  /// What is not up to date, and who waits for first results.
  var line = WaitingLine()
  /// Whether a piece of work is on the queue that takes the next in line.
  var isServing = false
  /// Whether a query may be analysed in this turn, which takes some milliseconds.
  var mayAnalyse = false
  /// Connections for what takes long; made when they are needed.
  var readers: [BackgroundReader] = []
  /// Whether they run only while nobody else wants to.
  var idleReading = IdleReading()
  /// How long they had a processor, letting others go first, in runs that are over.
  var lowPriorityTime = Duration.zero
  /// Whether it will be looked soon whether one of them has to make room, or to let others go first.
  var willLookAgain = false
  /// In which they run.
  let readerTurns = ProcessorTurns()
  /// Statements that took long when they last ran beside the queue.
  var longQueries: Set<String> = []
  /// When a first fetch of a statement was last begun on the queue in vain.
  var vainBeginnings: [String: ContinuousClock.Instant] = [:]
  /// The b-trees of which it is known where each entry is.
  var outlines: Set<OutlinedTree> = []
  /// Those that are read before anybody asks, the next one last.
  var outlinesToRead: [OutlinedTree] = []
  /// At which commit one could not be read.
  var vainOutlines: [OutlinedTree: Int] = [:]
  /// How many pages had to be read of each that is read ahead.
  var outlinePages: [OutlinedTree: Int] = [:]
  /// What waits for one of them; done when any is read or given up, to see whether it was that one.
  var waitingForOutlines: [() -> Void] = []
  /// Whether a piece of work is on the queue that reads ahead.
  var isReadingAhead = false
  /// At which commit nothing could be read ahead of rows that are followed.
  var vainReading: Int?
  /// When each table last changed.
  var lastChanges = LastChanges()
  /// What is known of the results that are read in pages.
  var pageCosts = PageCosts()
  /// By the names of queries: how long it last took to read a page and to count the records.
  var pageDurations: [String: Duration] = [:]
  /// In the versions of their pages, so that another life has others.
  let epochOfPages = UInt64.random(in: .min ... .max)
  /// Live results whose first state somebody waits for.
  var unopened: [ObjectIdentifier: LiveResult] = [:]
  /// Whether somebody said that something changed which no commit tells.
  var isEverythingNew = false
  /// Whether something may have been committed that is not read yet.
  var isBehind = false {
    didSet { behindSince = isBehind ? behindSince ?? .now : nil }
  }
  /// Since when.
  private(set) var behindSince: ContinuousClock.Instant?
  var isRetryScheduled = false
  /// So often in a row it was tried again to read the database, which no lock prevents.
  var retries = 0
  /// What tells of a writer's own commits, where the engine is of one; lives as long as the engine.
  var observer: WriteObserver?
  var isStopped = false
  /// Whether nothing long is begun any more.
  var isEnding = false

  /// Opens the database and analyses these queries.
  ///
  /// - Throws: ``RefusedQueries`` where definitions do not fit the schema; ``FetchFailure`` where
  ///   the database cannot be read.
  package convenience init(
    path: String, queries: QueryCatalog.Extent, limits: RefresherLimits = RefresherLimits(),
    versionKey: DigestKey = .standard,
    log: @escaping @Sendable (RefresherMessage) -> Void = { _ in }
  ) throws {
    try self.init(
      path: path, queries: queries, limits: limits, versionKey: versionKey,
      makeFinder: { ChangeReader() }, log: log)
  }

  /// - Parameters:
  ///   - path: the database file.
  ///   - queries: which queries there are.
  ///   - limits: what one query may take.
  ///   - versionKey: names the states of results.
  ///   - makeFinder: makes what knows the changes that one connection sees.
  ///   - log: is called on any queue.
  /// - Throws: as the initializer for all users.
  convenience init(
    path: String, queries: QueryCatalog.Extent, limits: RefresherLimits = RefresherLimits(),
    versionKey: DigestKey = .standard, makeFinder: @escaping () -> any ChangeFinder,
    log: @escaping @Sendable (RefresherMessage) -> Void
  ) throws {
    let access = OwnConnection(path: path) { path, statementGuard in
      try ReadOnlyConnection.open(path: path, limits, guardedBy: statementGuard)
    }
    self.init(
      access, queries: queries, limits: limits, versionKey: versionKey, makeFinder: makeFinder,
      log: log)
    try access.sync { try transaction { _ in } }
    let refused = catalog.refused
    switch queries {
    case .definitions where !refused.isEmpty: throw RefusedQueries(queries: refused)
    case .definitions: break
    case .everyTable: for query in refused { log(.leftOut(query)) }
    }
  }

  /// Reads nothing yet.
  ///
  /// - Parameters:
  ///   - access: the way to the database.
  ///   - queries: which queries there are by name.
  ///   - limits: what one query may take.
  ///   - versionKey: names the states of results.
  ///   - makeFinder: makes what knows the changes that one connection sees.
  ///   - log: is called on any queue.
  init(
    _ access: any DatabaseAccess, queries: QueryCatalog.Extent = .definitions([]),
    limits: RefresherLimits, versionKey: DigestKey = .standard,
    makeFinder: @escaping () -> any ChangeFinder,
    log: @escaping @Sendable (RefresherMessage) -> Void = { _ in }
  ) {
    self.access = access
    self.limits = limits
    self.versionKey = versionKey
    memory = MemoryBudget(limit: limits.memory)
    self.log = log
    self.makeFinder = makeFinder
    catalog = QueryCatalog(extent: queries)
  }

  /// The database file; empty: the database lives in memory.
  package var path: String { access.path }

  /// Where everything happens.
  package var queue: any EngineQueue { access }

  /// Why the database cannot be read now, if it cannot; readable from any thread.
  package internal(set) var failure: FetchFailure? {
    get { lastFailure.withLock { $0 } }
    set { lastFailure.withLock { $0 = newValue } }
  }

  /// What has been done since the beginning; readable from any thread.
  package var statistics: RefreshStatistics { numbers.withLock { $0 } }

  func count(_ body: (inout sending RefreshStatistics) -> Void) { numbers.withLock { body(&$0) } }

  /// How changed rows were found, since the database was last opened; readable from any thread.
  package internal(set) var capture: CaptureStatistics {
    get { captureNumbers.withLock { $0 } }
    set { captureNumbers.withLock { $0 = newValue } }
  }

  // MARK: - Live results

  /// Stops keeping a live result up to date.
  package func close(_ result: LiveResult) {
    access.async { [self] in
      guard live.contains(result) else { return }
      result.listener.save(result)
      drop(result)
      // Nobody would take what a journal went on to write down.
      if !worksBeside { try? access.read(isLocked: false) { try followTables(in: $0) } }
    }
  }

  /// The finder of changes of the present connection.
  func changeFinder() -> any ChangeFinder {
    let finder = finder ?? makeFinder()
    self.finder = finder
    return finder
  }

  /// Asks for the rows of the tables whose queries are maintained row by row.
  func followTables(in db: Database) throws {
    try changeFinder().follow(live.followedTables, in: db)
  }

  /// What a refresh found: told when its transaction is over.
  typealias Announcement = (live: LiveResult, event: LiveResultEvent)
  // Touched in turns only.
  var pending: [Announcement] = []
  /// Who has something to do because of it.
  var sleepers = Sleepers()
  /// Whether somebody serves them when the turn is over.
  var leavesSleepers = false
  /// Told after that.
  var answers: [() -> Void] = []
}
