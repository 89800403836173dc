import DequeModule
import Dispatch
import Foundation
import Locks

/// Lets fewer long queries run at the same time than there are processors, in turns.
///
/// With as many of them running as there are processors, the thread that a commit wakes waits for one
/// of them. So one processor is left free of them, where there are two; and since others of the
/// machine run there as well, those who run give way many times in a slice. Who has just begun goes
/// first, since most are soon done; the others have equal shares.
final class ProcessorTurns: Sendable {
  private struct State {
    var free: Int
    /// Those who have had no turn yet.
    var newcomers: Deque<ProcessorTurn> = []
    var others: Deque<ProcessorTurn> = []
  }

  /// Who waits, in the order of precedence.
  enum Queue: Int, AtomicRepresentable {
    case nobody, others, newcomers
  }

  private let state: Mutex<State>
  /// As `state` has it: whoever runs looks every 20 µs, without the lock.
  private let longestWaiting = Atomic(Queue.nobody)
  /// When a place was last taken or given back, in nanoseconds of `DispatchTime`.
  private let lastMove = Atomic<UInt64>(0)

  /// Where nobody has given a place back for so long, nobody will soon: a slice is a fraction of it.
  fileprivate let patience: Duration

  /// - Parameters:
  ///   - places: how many run at the same time; at least one.
  ///   - patience: after which those who have the places are taken to be stuck.
  init(
    places: Int = max(1, ProcessInfo.processInfo.activeProcessorCount - 1),
    patience: Duration = .milliseconds(250)
  ) {
    state = Mutex(State(free: places))
    self.patience = patience
  }

  var waiting: Queue { longestWaiting.load(ordering: .relaxed) }

  /// Whether those who have the places do not look who waits: each is in one call of a function.
  fileprivate var areStuck: Bool {
    let length = DispatchTime.now().uptimeNanoseconds &- lastMove.load(ordering: .relaxed)
    return .nanoseconds(length) >= patience
  }

  private func noteMove() {
    lastMove.store(DispatchTime.now().uptimeNanoseconds, ordering: .relaxed)
  }

  /// Gives `turn` a place, or lets it wait for one; returns whether it has one.
  fileprivate func enter(_ turn: ProcessorTurn) -> Bool {
    state.withLock { state in
      guard state.free == 0 else {
        state.free -= 1
        noteMove()
        return true
      }
      state.newcomers.append(turn)
      note(state)
      return false
    }
  }

  /// Gives the place of somebody to whoever waits, and lets them wait again if they want to go on.
  fileprivate func pass(from turn: ProcessorTurn, goesOn: Bool) {
    noteMove()
    let next = state.withLock { state in
      let next = state.newcomers.popFirst() ?? state.others.popFirst()
      if goesOn { state.others.append(turn) }
      if next == nil { state.free += 1 }
      note(state)
      return next
    }
    next?.grant()
  }

  /// Takes somebody out who waits; returns whether they did.
  fileprivate func remove(_ turn: ProcessorTurn) -> Bool {
    state.withLock { state in
      let count = state.newcomers.count + state.others.count
      state.newcomers.removeAll { $0 === turn }
      state.others.removeAll { $0 === turn }
      note(state)
      return state.newcomers.count + state.others.count < count
    }
  }

  private func note(_ state: State) {
    longestWaiting.store(
      !state.newcomers.isEmpty ? .newcomers : !state.others.isEmpty ? .others : .nobody,
      ordering: .relaxed)
  }
}

/// One thread's part in ``ProcessorTurns``.
// Safe to share: `pulse` is the thread's own; others only grant, cancel, and ask how long it ran.
final class ProcessorTurn: @unchecked Sendable {
  /// What one has before a newcomer goes first: a short query takes as long.
  private static let shortSlice: UInt64 = 1_000_000
  /// What one has before others have theirs.
  private static let slice: UInt64 = 50_000_000

  private let turns: ProcessorTurns
  private let arrival = DispatchSemaphore(value: 0)
  private let hasPlace = Atomic(false)
  /// Nanoseconds of `DispatchTime`; 0: it does not run.
  private let sliceStart = Atomic<UInt64>(0)
  /// Nanoseconds of the slices that are over.
  private let used = Atomic<UInt64>(0)
  /// When its thread was told to go on, and has not got the processor for it yet; 0: it has.
  private let wakeUp = Atomic<UInt64>(0)
  /// Nanoseconds that it waited for the processor before.
  private let waited = Atomic<UInt64>(0)
  private let clock = ThreadClock()
  /// nil: whoever wakes takes the processor from it.
  private var pulse: ProcessorPulse?

  init(_ turns: ProcessorTurns) { self.turns = turns }

  /// Waits for a place. With ``cancel()`` it goes on without one.
  ///
  /// - Parameter givesWay: whether others have to be let go first, who would not by themselves.
  func begin(givingWay givesWay: Bool = true) {
    pulse = givesWay ? ProcessorPulse() : nil
    clock.begin()
    let wayHere = takeWait()
    reset()
    waited.store(wayHere, ordering: .relaxed)
    if turns.enter(self) { grant() }
    wait()
  }

  /// Counts from now on what it takes, before its thread comes to ``begin()``.
  func reset() {
    used.store(0, ordering: .relaxed)
    sliceStart.store(0, ordering: .relaxed)
    wakeUp.store(0, ordering: .relaxed)
    waited.store(0, ordering: .relaxed)
    clock.reset()
  }

  /// What it took since ``begin()``; from any thread.
  ///
  /// The processor's time, for on a busy machine all takes several times as long; but what waits for a
  /// disk counts as well.
  var ownTime: Duration {
    let length = length
    return clock.time.map { max($0, length / 4) } ?? length
  }

  /// How long its slices were, whoever had the processor meanwhile.
  private var length: Duration {
    .nanoseconds(used.load(ordering: .relaxed) &+ Self.time(since: sliceStart))
  }

  /// The same, with what it waited for the processor when it was told to go on; from any thread.
  var lengthWithWaits: Duration {
    length + .nanoseconds(waited.load(ordering: .relaxed) &+ Self.time(since: wakeUp))
  }

  /// Nanoseconds; none where the beginning is 0.
  private static func time(since begin: borrowing Atomic<UInt64>) -> UInt64 {
    let (begin, now) = (begin.load(ordering: .relaxed), DispatchTime.now().uptimeNanoseconds)
    return begin > 0 && now > begin ? now - begin : 0
  }

  /// How long its thread has waited for the processor, which has it now.
  private func takeWait() -> UInt64 {
    let wait = Self.time(since: wakeUp)
    wakeUp.store(0, ordering: .relaxed)
    return wait
  }

  /// The processor's time of it; nil: the system does not tell.
  var processorTime: Duration? { clock.time }

  /// Its thread is told to go on.
  func noteWakeUp() { wakeUp.store(DispatchTime.now().uptimeNanoseconds, ordering: .relaxed) }

  /// Lets others run where the slice is over and somebody waits.
  ///
  /// - Parameter time: now.
  /// - Returns: whether others have run.
  @discardableResult
  func pass(at time: UInt64) -> Bool {
    pulse?.giveWay(at: time)
    let length = time &- sliceStart.load(ordering: .relaxed)
    switch turns.waiting {
    case .newcomers where length > Self.shortSlice: break
    case .others where length > Self.slice: break
    default: return false
    }
    guard hasPlace.exchange(false, ordering: .relaxed) else { return false }
    sliceStart.store(0, ordering: .relaxed)
    used.wrappingAdd(length, ordering: .relaxed)
    turns.pass(from: self, goesOn: true)
    wait()
    return true
  }

  func end() {
    if hasPlace.exchange(false, ordering: .relaxed) { turns.pass(from: self, goesOn: false) }
  }

  /// Ends waiting, if it waits; from any thread.
  func cancel() {
    if turns.remove(self) { arrival.signal() }
  }

  fileprivate func grant() {
    hasPlace.store(true, ordering: .relaxed)
    noteWakeUp()
    arrival.signal()
  }

  /// Where the others are stuck, it goes on without a place.
  private func wait() {
    let patience = turns.patience / .seconds(1)
    while arrival.wait(timeout: .now() + patience) == .timedOut {
      if turns.areStuck, turns.remove(self) { break }
    }
    waited.wrappingAdd(takeWait(), ordering: .relaxed)
    sliceStart.store(DispatchTime.now().uptimeNanoseconds, ordering: .relaxed)
  }
}

/// The processor's time that a thread has taken.
private final class ThreadClock: Sendable {
  #if os(Linux)
    private let clock = Atomic<Int32>(0)
    private let start = Atomic<UInt64>(0)

    /// Is that of the calling thread.
    func begin() {
      var own: clockid_t = 0
      if pthread_getcpuclockid(pthread_self(), &own) == 0 { clock.store(own, ordering: .relaxed) }
    }

    /// Counts from now on; from any thread.
    func reset() {
      start.store(Self.nanoseconds(clock.load(ordering: .relaxed)) ?? 0, ordering: .relaxed)
    }

    /// What it took since then; nil: it is not known.
    var time: Duration? {
      let clock = clock.load(ordering: .relaxed)
      guard clock != 0, let now = Self.nanoseconds(clock) else { return nil }
      let start = start.load(ordering: .relaxed)
      return .nanoseconds(now > start ? now - start : 0)
    }

    private static func nanoseconds(_ clock: clockid_t) -> UInt64? {
      var time = timespec()
      guard clock_gettime(clock, &time) == 0 else { return nil }
      return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
  #else
    func begin() {}
    func reset() {}
    var time: Duration? { nil }
  #endif
}
