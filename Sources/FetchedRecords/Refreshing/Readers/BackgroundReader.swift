import ChangeCapture
import Dispatch
import GRDB
import HeldMemory
import OrderedResults
import QueryAnalysis

/// Why something long is ended, to be done again.
enum PutOffReason {
  /// It is in the way of what may be short.
  case forShorter
  /// Others never left it the processor.
  case starved
}

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
  /// Why what it does now is to be done later, if it is. Touched on the refresher's queue only.
  private(set) var putOffReason: PutOffReason?
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
    (isOutdated, putOffReason) = (false, nil)
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
  func yieldToOthers() { thread.lower(to: .behind) }

  /// How long it had a processor, letting others go first, since it began what it does.
  var lowPriorityTime: Duration {
    precedence == .equal ? .zero : statementGuard.processorTime ?? .zero
  }

  /// Ends what it does, which is to be done later.
  func putOff(_ reason: PutOffReason) {
    putOffReason = reason
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
  /// Waits until its thread has done so, for a statement mostly some microseconds once it has the
  /// processor: as long as any connection of the process has a file of the old log's index open,
  /// SQLite gives that to new ones too.
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
