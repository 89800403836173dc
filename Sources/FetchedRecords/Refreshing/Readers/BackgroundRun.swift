import ChangeCapture
import OrderedResults
import QueryAnalysis

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
  /// How many rows the result was made of before this.
  let knownRows: Int
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
    knownRows = live.knownRows
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
