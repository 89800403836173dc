import Dispatch
import GRDB
import GRDBSQLite
import Locks

/// Ends the statements of one connection early: when their time is over, or when nobody wants their
/// result any more.
///
/// SQLite asks it after every thousand instructions of its virtual machine, some 20 µs
/// (https://www.sqlite.org/c3ref/progress_handler.html). A wish that comes between two statements is
/// not lost, as it would be with `sqlite3_interrupt`. What one instruction does by itself, such as
/// to merge a sorted million of rows, is not ended; but the counting of all rows of a table is, which
/// takes 100 ms of ten million, where the connection is given to ``run(atMost:counting:_:)``.
final class StatementGuard: Sendable {
  /// Why a statement ended early.
  enum Interruption: Error {
    /// Its time was over.
    case time
    /// ``stop()`` was called.
    case wish
  }

  private static let instructionsBetweenLooks: Int32 = 1000

  private let hasStopped = Atomic(false)
  /// When to look whether the time of its statements is over, in nanoseconds of `DispatchTime`.
  private let deadline = Atomic(UInt64.max)
  /// When it is, in nanoseconds of ``ownTime``, where turns are taken.
  private let ownDeadline = Atomic(UInt64.max)
  /// In which the statements run; nil: whenever they are asked to.
  private let turn: ProcessorTurn?

  /// - Parameter turns: in which the statements run; nil: whenever they are asked to.
  init(_ turns: ProcessorTurns? = nil) { turn = turns.map(ProcessorTurn.init) }

  /// Watches a connection, which must not outlive the guard.
  func watch(_ db: Database) {
    sqlite3_progress_handler(
      db.sqliteConnection, Self.instructionsBetweenLooks,
      { context in
        guard let context else { return 0 }
        // The connection holds the guard by the closure that prepared it.
        let own = Unmanaged<StatementGuard>.fromOpaque(context).takeUnretainedValue()
        own.passTurn()
        return own.interruption() == nil ? 0 : 1
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Ends what runs on the connection, and whatever begins on it before ``reset()``; from any thread.
  func stop() {
    hasStopped.store(true, ordering: .relaxed)
    turn?.cancel()
  }

  /// Whether statements end as soon as they begin, if they are not very short.
  var isStopped: Bool { hasStopped.load(ordering: .relaxed) }

  /// Lets statements run again, and counts anew what they take.
  func reset() {
    hasStopped.store(false, ordering: .relaxed)
    turn?.reset()
  }

  /// Runs `body` when it is its turn; it takes turns with others from then on.
  ///
  /// - Parameters:
  ///   - givesWay: whether who has no part in the turns has to be let go first, and would not by itself.
  ///   - body: runs statements of the connection.
  func takingTurns(givingWay givesWay: Bool = true, _ body: () -> Void) {
    if !isStopped { turn?.begin(givingWay: givesWay) }
    body()
    turn?.end()
  }

  /// Runs statements of the connection, which end early after some time.
  ///
  /// Where turns are taken it is ``ProcessorTurn/ownTime``: neither others' turns count, nor all of
  /// what other programs take of the processor.
  ///
  /// - Parameters:
  ///   - duration: the time that they have.
  ///   - db: the connection, where `count(*)` of a whole table must end in time, too: that takes a timer.
  ///   - body: runs the statements.
  /// - Returns: what `body` returns.
  /// - Throws: ``Interruption`` where they did, and what `body` throws.
  func run<T>(
    atMost duration: Duration, counting db: Database? = nil, _ body: () throws -> T
  ) throws -> T {
    let alarm = db?.sqliteConnection.map { InterruptionAlarm($0, after: duration) }
    defer { alarm?.cancel() }
    let length = UInt64(max(duration, .zero) / .nanoseconds(1))
    ownDeadline.store(ownNanoseconds.map { $0 &+ length } ?? 0, ordering: .relaxed)
    deadline.store(DispatchTime.now().uptimeNanoseconds &+ length, ordering: .relaxed)
    defer { deadline.store(.max, ordering: .relaxed) }
    do {
      return try body()
    } catch {
      guard error.mayBeInterruption,
        let interruption = interruption() ?? (alarm?.hasRung == true ? .time : nil)
      else { throw error }
      throw interruption
    }
  }

  /// What its thread took since it began to take turns (``ProcessorTurn/ownTime``); nil: it takes none.
  var ownTime: Duration? { turn?.ownTime }

  /// The processor's time of it.
  var processorTime: Duration? { turn?.processorTime }

  /// How long its turns were, and it had waited for the processor before each; zero: it takes none.
  var turnTime: Duration { turn?.lengthWithWaits ?? .zero }

  /// To be called when the thread is woken that will take turns: the way to the processor is part of them.
  func noteWakeUp() { turn?.noteWakeUp() }

  /// Why statements end now; nil: they do not, and where the clock's time is over, the next look is when their own
  /// may be.
  private func interruption() -> Interruption? {
    if isStopped { return .wish }
    let deadline = deadline.load(ordering: .relaxed)
    if deadline == .max { return nil }
    let now = DispatchTime.now().uptimeNanoseconds
    if now < deadline { return nil }
    let (own, end) = (ownNanoseconds ?? .max, ownDeadline.load(ordering: .relaxed))
    guard own < end else { return .time }
    self.deadline.store(now &+ (end - own), ordering: .relaxed)
    return nil
  }

  private var ownNanoseconds: UInt64? { ownTime.map { UInt64($0 / .nanoseconds(1)) } }

  /// Lets others run, if it is their turn.
  private func passTurn() { turn?.pass(at: DispatchTime.now().uptimeNanoseconds) }
}

/// Interrupts what runs on a connection after some time
/// (https://www.sqlite.org/c3ref/interrupt.html).
// Safe to share: the connection is used under the lock, and not after `cancel()`.
private final class InterruptionAlarm: @unchecked Sendable {
  private enum State { case set, rung, cancelled }

  /// Between two statements it is not heard.
  private static let pause = DispatchTimeInterval.milliseconds(1)

  private let connection: OpaquePointer
  private let state = Mutex(State.set)

  init(_ connection: OpaquePointer, after duration: Duration) {
    self.connection = connection
    ring(after: .nanoseconds(Int(duration / .nanoseconds(1))))
  }

  private func ring(after pause: DispatchTimeInterval) {
    DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + pause) {
      let isCancelled = self.state.withLock { state in
        if state == .cancelled { return true }
        state = .rung
        sqlite3_interrupt(self.connection)
        return false
      }
      if !isCancelled { self.ring(after: Self.pause) }
    }
  }

  var hasRung: Bool { state.withLock { $0 == .rung } }

  /// What runs next is not interrupted.
  func cancel() { state.withLock { $0 = .cancelled } }
}

extension Error {
  /// Whether SQLite says that a statement was interrupted, or it may have been while it was prepared: then 3.41 and later
  /// go on for a while, and find fault with what is half done.
  fileprivate var mayBeInterruption: Bool {
    let error = ((self as? FetchFailure)?.cause ?? self) as? DatabaseError
    return [.SQLITE_INTERRUPT, .SQLITE_ERROR].contains(error?.resultCode)
  }
}
