import ChangeCapture
import Dispatch
import GRDB
import HeldMemory
import OrderedResults
import QueryAnalysis

/// A connection on which queries run that take long, beside the queue that follows commits.
///
/// While it is idle the refresher uses its connection, to begin a transaction on a commit that it
/// knows; then its thread has it, until the run is over.
// Safe to share: each field is touched by whoever has the connection, as said above.
final class BackgroundReader: @unchecked Sendable {
  private let number: Int
  /// Touched on the refresher's queue only.
  private var thread: WorkerThread
  let statementGuard: StatementGuard
  private let path: String
  private let open: OwnConnection.Open
  private let limits: RefresherLimits
  private let memory: MemoryBudget
  private var connection: DatabaseQueue?
  /// What it does now; nil: it is idle. Touched on the refresher's queue only.
  var run: BackgroundRun?
  /// Whether what it does now is of files that may have been replaced. Touched on the refresher's
  /// queue only.
  private(set) var isOutdated = false
  /// Whether what it does now is to be done later. Touched on the refresher's queue only.
  private(set) var isPutOff = false
  /// Entered while its thread has the connection.
  private let work = DispatchGroup()

  init(
    path: String, number: Int, turns: ProcessorTurns, limits: RefresherLimits,
    memory: MemoryBudget, open: @escaping OwnConnection.Open
  ) {
    statementGuard = StatementGuard(turns)
    self.path = path
    self.open = open
    self.limits = limits
    self.memory = memory
    self.number = number
    thread = Self.makeThread(number)
  }

  private static func makeThread(_ number: Int) -> WorkerThread {
    WorkerThread(name: "didchange.read\(number)")
  }

  /// Begins a read transaction that sees the commit of now.
  ///
  /// - Parameter files: those that it must read.
  /// - Throws: `DatabaseError`, busy where other files stand there now.
  func begin(reading files: DatabaseIdentity?) throws {
    // The wish that ended its last work is none for the next.
    statementGuard.reset()
    let opened = try connection ?? connect(files)
    connection = opened
    try opened.inDatabase { db in
      // Nobody waits here: what a lock prevents is tried again.
      db.waitForLocks(atMost: .zero)
      try db.beginRead()
    }
  }

  private func connect(_ files: DatabaseIdentity?) throws -> DatabaseQueue {
    let opened = try DatabaseIdentity.opening(path) { try open(path, statementGuard) }
    guard files == nil || opened.identity == files else {
      try? opened.connection.close()
      throw DatabaseError(resultCode: .SQLITE_BUSY, message: "the files are being replaced")
    }
    return opened.connection
  }

  /// Ends the transaction without having used it.
  func end() { connection?.inDatabase { $0.endRead() } }

  /// Does the work of a run in the transaction that was begun, ends that, and reports.
  ///
  /// - Parameters:
  ///   - run: what is to be done.
  ///   - precedence: whether others go first from the beginning.
  ///   - completion: is called on its thread.
  func start(
    _ run: BackgroundRun, _ precedence: WorkerThread.Precedence,
    completion: @escaping @Sendable (BackgroundReader) -> Void
  ) {
    (isOutdated, isPutOff) = (false, false)
    self.run = run
    if thread.precedence.rawValue > precedence.rawValue { thread = Self.makeThread(number) }
    thread.lower(to: precedence)
    statementGuard.noteWakeUp()
    work.enter()
    thread.perform { [self, thread] in
      statementGuard.takingTurns(givingWay: thread.precedence != .whenIdle) {
        connection?.inDatabase { db in
          let transaction = ReadTransaction(db: db, state: run.state, path: run.path)
          for task in run.tasks {
            // What a task is shown together with would be of another commit.
            guard db.isInsideTransaction else {
              task.fail(with: .transactionEnded)
              continue
            }
            var meter = meter(for: task.definition, in: db)
            meter.letGoOfOwnAids = { run.letGoOfAids() }
            task.perform(statementGuard, meter, in: transaction)
          }
          if let page = run.page {
            page.perform(statementGuard, meter(for: page.definition, in: db), in: db)
          }
          db.endRead()
        }
      }
      // Nobody who wants the connection closed waits for more.
      work.leave()
      for task in run.tasks { task.prepare(commit: run.commit, key: run.versionKey) }
      completion(self)
    }
  }

  private func meter(for definition: QueryDefinition, in db: Database) -> ResultMeter {
    let limits = limits.of(definition)
    db.limitValues(toBytes: limits.valueBytes)
    return ResultMeter(limits, memory, mayWait: true)
  }

  /// Whether what it does lets others go first.
  var precedence: WorkerThread.Precedence { thread.precedence }

  /// Lets others go first, for what it does at present: on a machine that is busy it comes forward slowly.
  func lower(to precedence: WorkerThread.Precedence) { thread.lower(to: precedence) }

  /// For how long it had a processor because nobody else wanted it, since it began what it does.
  var unusedTime: Duration {
    precedence == .whenIdle ? statementGuard.processorTime ?? .zero : .zero
  }

  /// Ends what it does, which is to be done later.
  func putOff() {
    isPutOff = true
    statementGuard.stop()
  }

  /// When what it does began.
  var began: ContinuousClock.Instant { run?.start ?? .now }

  /// Whether it has run longer than that, without others' turns, or will as it did before.
  func isLong(beyond duration: Duration) -> Bool {
    guard let run else { return false }
    return statementGuard.ownTime ?? run.duration > duration || run.isExpected(beyond: duration)
  }

  /// Ends what it does, and lets go of the files, which may be others now.
  ///
  /// Waits until its thread has done so, for a statement mostly some microseconds: as long as any
  /// connection of the process has a file of the old log's index open, SQLite gives that to new
  /// ones too.
  ///
  /// - Parameter deadline: until when; a call of a function may last longer, and then the files are let
  ///   go when it is over.
  func close(by deadline: DispatchTime = .now()) {
    isOutdated = run != nil
    statementGuard.stop()
    guard work.wait(timeout: deadline) == .success else { return }
    try? connection?.close()
    connection = nil
    statementGuard.reset()
  }
}

/// What a reader does in one transaction.
// Safe to share: handed from the refresher's queue to a reader's thread and back.
final class BackgroundRun: @unchecked Sendable {
  let tasks: [BackgroundTask]
  /// The page that it reads, if it is for one.
  let page: PageTask?
  /// The commit that it sees, as the refresher counts them.
  let commit: Int
  /// Names the states.
  let versionKey: DigestKey
  /// The state of the log before its transaction began.
  let state: LogState?
  /// The database file.
  let path: String
  let start = ContinuousClock.now
  var duration: Duration { ContinuousClock.now - start }

  /// Lets go of the aids of those that it brings up to date: while it does, nobody else may touch them.
  func letGoOfAids() {
    for task in tasks where !(task.live.listener is FollowedRows) { task.live.letGoOfAids() }
  }

  /// Whether some of it took longer when it last ran.
  func isExpected(beyond duration: Duration) -> Bool {
    tasks.contains { $0.knownDuration ?? .zero > duration }
  }

  /// - Parameters:
  ///   - tasks: the live results that it brings up to date.
  ///   - page: the page that it reads.
  ///   - commit: what its transaction sees.
  ///   - versionKey: names the states.
  ///   - transaction: another one that sees the same.
  init(
    _ tasks: [BackgroundTask], page: PageTask? = nil, commit: Int, versionKey: DigestKey,
    seeing transaction: ReadTransaction
  ) {
    self.tasks = tasks
    self.versionKey = versionKey
    self.page = page
    self.commit = commit
    state = transaction.state
    path = transaction.path
  }
}

/// The work for one live result.
// Safe to share: handed from the refresher's queue to a reader's thread and back.
final class BackgroundTask: @unchecked Sendable {
  let live: LiveResult
  private let bound: BoundQuery
  private let work: Query.Work
  /// The changes that it brings in: missed again where it fails.
  let covered: DatabaseChanges
  /// How long the last fetch took, before this.
  let knownDuration: Duration?
  /// Who waits for it.
  let receivers: [LiveResult.Receiver]
  private(set) var outcome: Result<LiveUpdate, FetchFailure>?

  var definition: QueryDefinition { bound.query.definition }

  init(_ live: LiveResult, _ bound: BoundQuery, _ work: Query.Work) {
    self.live = live
    self.bound = bound
    self.work = work
    covered = live.takeMissed()
    knownDuration = live.knownDuration
    receivers = live.takeReceivers()
  }

  /// Has the listener make ready what it will tell.
  func prepare(commit: Int, key: DigestKey) {
    guard live.opening == nil, case .success(let update) = outcome else { return }
    let old = live.snapshot
    guard update.succession(to: old) == .change else { return }
    live.listener.prepare(
      update.changes, from: old, to: update.snapshot(after: old, commit: commit, key: key))
  }

  func fail(with failure: FetchFailure) { outcome = .failure(failure) }

  func perform(
    _ statementGuard: StatementGuard, _ meter: ResultMeter, in transaction: ReadTransaction
  ) {
    let start = statementGuard.ownTime
    do {
      var update = try statementGuard.run(atMost: meter.limits.statement) {
        guard live.opening != nil else {
          return try live.update(work, of: bound, meter: meter, in: transaction)
        }
        let known = live.listener.known(of: bound, in: transaction)
        // What is kept may not have been read for that reason only.
        if known == nil, statementGuard.isStopped { throw StatementGuard.Interruption.wish }
        return try live.firstUpdate(work, of: bound, known: known, meter: meter, in: transaction)
      }
      // What others did meanwhile says nothing of how long this takes.
      if let start, let end = statementGuard.ownTime {
        update.duration = min(update.duration, end - start)
        live.durations.fetch = live.durations.fetch.map { min($0, end - start) }
      }
      outcome = .success(update)
    } catch StatementGuard.Interruption.time {
      outcome = .failure(.tooLong(meter.limits))
    } catch StatementGuard.Interruption.wish {
      outcome = .failure(FetchFailure(kind: .abandoned, detail: "nobody waits for the result"))
    } catch {
      outcome = .failure(FetchFailure(any: error).of(definition))
    }
  }
}
