import Dispatch
import HTTP1
import Locks
import Logging

/// A serial queue as an event loop, with the connections that were dealt out to it.
///
/// Everything of a connection happens on this queue: its reads, its handler, its writes. Others
/// come in by `perform`.
// Unchecked: all variables are guarded by the queue.
final class EventLoop: @unchecked Sendable {
  private struct Slot {
    var generation: UInt32 = 0
    var member: (any LoopMember)?
  }

  /// So long a wake-up takes and asks for events before it lets the queue do something else.
  ///
  /// It costs as much as a request, and few events are ready at once where clients answer quickly.
  private static let wakeUp = Interval(.milliseconds(1))

  // Constant.
  let queue: DispatchQueue
  let counters = LoopCounters()
  let logger: Logger
  let poller: ReadinessPoller
  private let timer: any DispatchSourceTimer
  /// The thread whose turn it is, or 0; read from any thread.
  private let owner = Atomic<UInt>(0)

  // Guarded by the queue.
  var settings: ConnectionSettings
  var handler: Server.Handler
  private(set) var now: Moment
  /// The current second as an IMF-fixdate.
  private(set) var date: [UInt8] = []
  private var dateSecond = 0
  private var slots: [Slot] = []
  private var freeSlots: [Int] = []
  private var memberCount = 0
  private var wheel: TimerWheel
  private var armedFor: Moment?
  private(set) var isDraining = false
  private var onEmpty: (@Sendable () -> Void)?
  /// Where the connection whose turn it is reads into: one buffer for all of them.
  // Freed in deinit; only used during one call.
  let readBuffer: UnsafeMutableRawBufferPointer
  /// Where the connection whose turn it is collects what it sends; empty between two turns.
  var scratch: [UInt8] = []

  init(
    index: Int, settings: ConnectionSettings, handler: @escaping Server.Handler, logger: Logger
  ) throws(ServerError) {
    queue = DispatchQueue(label: "http.loop.\(index)", qos: .userInitiated)
    self.settings = settings
    self.handler = handler
    self.logger = logger
    poller = try ReadinessPoller(queue: queue)
    readBuffer = .allocate(byteCount: 64 * 1024, alignment: 16)
    timer = DispatchSource.makeTimerSource(queue: queue)
    now = SystemCalls.now()
    wheel = TimerWheel(now: now, tick: settings.server.timeouts.lateness)
  }

  deinit {
    assert(memberCount == 0, "a loop must be empty before it goes")
    readBuffer.deallocate()
  }

  /// Begins to serve.
  ///
  /// The loop lives until `stop`.
  func start() {
    timer.setEventHandler { [self] in fireTimers() }
    timer.activate()
    poller.start { [self] in pollEvents() }
  }

  func stop() {
    timer.cancel()
    poller.stop()
  }

  /// Runs something on the queue, later.
  func perform(_ body: @escaping @Sendable (EventLoop) -> Void) {
    queue.async { [self] in
      inTurn {
        refreshClock()
        body(self)
      }
    }
  }

  private func pollEvents() {
    dispatchPrecondition(condition: .onQueue(queue))
    inTurn {
      refreshClock()
      let end = now + Self.wakeUp
      var isOver = false
      while !isOver,
        poller.poll({ token, readiness in
          member(token)?.becameReady(readiness)
          isOver = end <= SystemCalls.now()
          return !isOver
        })
      {
        refreshClock()
      }
    }
  }

  /// Runs something on the queue that may take its time.
  func inTurn(_ body: () -> Void) {
    assert(!isBusy, "a turn inside a turn")
    owner.store(SystemCalls.thread, ordering: .relaxed)
    body()
    owner.store(0, ordering: .relaxed)
  }

  /// Whether something is running on the queue, as far as another thread can know.
  var isBusy: Bool { owner.load(ordering: .relaxed) != 0 }

  /// Whether this thread has the turn.
  var isCurrent: Bool { owner.load(ordering: .relaxed) == SystemCalls.thread }

  /// Once for what happens together: the clock and the date are the same for all of it.
  func refreshClock() {
    now = SystemCalls.now()
    let second = SystemCalls.wallClock()
    if second != dateSecond {
      dateSecond = second
      date = Array(HTTPDate.string(second).utf8)
    }
  }
}

// MARK: - Members

extension EventLoop {
  /// Watches a descriptor for a member.
  ///
  /// Returns its token, which no other member will ever have, or nil where the system refuses.
  func add(
    _ descriptor: Int32, _ interest: Readiness, make: (_ token: UInt64) -> any LoopMember
  ) -> Bool {
    dispatchPrecondition(condition: .onQueue(queue))
    let index = freeSlots.popLast() ?? slots.count
    if index == slots.count { slots.append(Slot()) }
    let token = UInt64(slots[index].generation) << 32 | UInt64(index)
    guard poller.add(descriptor, interest, token: token) else {
      freeSlots.append(index)
      return false
    }
    slots[index].member = make(token)
    memberCount += 1
    return true
  }

  /// The member's descriptor is about to be closed.
  ///
  /// Events that are still on their way to it find nobody, because the generation has changed.
  func remove(_ token: UInt64, _ descriptor: Int32) {
    poller.remove(descriptor)
    let index = Int(token & 0xFFFF_FFFF)
    slots[index].member = nil
    slots[index].generation &+= 1
    freeSlots.append(index)
    memberCount -= 1
    if memberCount == 0 { becameEmpty() }
  }

  private func member(_ token: UInt64) -> (any LoopMember)? {
    let slot = slots[Int(token & 0xFFFF_FFFF)]
    return slot.generation == UInt32(token >> 32) ? slot.member : nil
  }

  func connection(_ token: UInt64) -> Connection? { member(token) as? Connection }

  func listener(_ token: UInt64) -> Listener? { member(token) as? Listener }

  /// O(n), n members.
  var connections: [Connection] { slots.compactMap { $0.member as? Connection } }

  /// Lets all members come to their end; those that are still added do by themselves.
  func drain() {
    isDraining = true
    for slot in slots { slot.member?.drain() }
  }

  /// Tells, once, when no member is left. None may be added after this.
  func whenEmpty(_ onEmpty: @escaping @Sendable () -> Void) {
    self.onEmpty = onEmpty
    if memberCount == 0 { becameEmpty() }
  }

  func abortAll() {
    for slot in slots { slot.member?.abort() }
  }

  private func becameEmpty() {
    onEmpty?()
    onEmpty = nil
  }
}

// MARK: - Time

extension EventLoop {
  /// Calls the member's `timePassed` then or somewhat later; or earlier, where that is far away.
  ///
  /// - Returns: when it will be called at the earliest.
  @discardableResult
  func schedule(_ token: UInt64, at moment: Moment) -> Moment {
    let moment = wheel.schedule(token, at: moment)
    if armedFor == nil || moment < (armedFor ?? moment) { arm() }
    return moment
  }

  private func fireTimers() {
    refreshClock()
    armedFor = nil
    inTurn { for token in wheel.advance(to: now) { member(token)?.timePassed() } }
    arm()
  }

  /// One timer for the whole wheel, and none while nothing is scheduled.
  private func arm() {
    guard let next = wheel.next else { return }
    if let armedFor, armedFor <= next { return }
    armedFor = next
    let wait = max(0, next.nanoseconds - now.nanoseconds)
    timer.schedule(deadline: .now() + .nanoseconds(Int(wait)), leeway: .milliseconds(5))
  }
}
