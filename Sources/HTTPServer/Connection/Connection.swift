import Dispatch
import HTTP1

/// Performs what the state machine of one connection says, on its loop's queue.
// Everything here is guarded by the loop's queue.
final class Connection: LoopMember {
  /// What is being written after a head.
  enum ActiveBody {
    case none
    case file(FileBody, sent: Int)
    case stream(ActiveStream)
  }

  // Constant.
  let loop: EventLoop
  let token: UInt64
  let descriptor: Int32
  let address: SocketAddress

  // Guarded by the loop's queue.
  var machine: ConnectionStateMachine
  var outbox = Outbox()
  /// The socket took less than it was given; EPOLLOUT will come.
  var isBlocked = false
  var body = ActiveBody.none
  /// Long work that somebody waits for.
  var abandonments = Abandonments()
  /// Whether this connection has its turn, and with it the loop's scratch memory.
  private(set) var isInTurn = false
  private(set) var isClosed = false
  /// What an observer will be told; nil where there is none.
  let observation: Observation?
  private var interest: Readiness
  /// When the timer wheel will wake this connection; later deadlines do not touch the wheel.
  private var wokenAt: Moment?

  static let firstInterest: Readiness = .read

  init(loop: EventLoop, token: UInt64, descriptor: Int32, address: SocketAddress) {
    self.loop = loop
    self.token = token
    self.descriptor = descriptor
    self.address = address
    interest = Self.firstInterest
    observation = loop.settings.server.observer.map { Observation($0, address) }
    machine = ConnectionStateMachine(settings: loop.settings, now: loop.now)
    loop.counters.update {
      $0.connectionsAccepted += 1
      $0.connectionsOpen += 1
    }
  }

  deinit { assert(isClosed, "a connection must be closed before it goes") }

  /// Takes over an accepted socket.
  static func adopt(_ descriptor: Int32, _ address: SocketAddress, on loop: EventLoop) {
    var adopted: Connection?
    let isWatched = loop.add(descriptor, firstInterest) { token in
      let connection = Connection(
        loop: loop, token: token, descriptor: descriptor, address: address)
      connection.settle()
      adopted = connection
      return connection
    }
    if !isWatched {
      SystemCalls.close(descriptor)
      loop.settings.counts.leave(address)
    }
    // Another loop had accepted it before that one knew.
    if loop.isDraining { adopted?.drain() }
  }

  // MARK: - Events

  func becameReady(_ readiness: Readiness) {
    turn {
      if !readiness.isDisjoint(with: .broken) { return machine.failed() }
      if readiness.contains(.write) { becameWritable() }
      if readiness.contains(.read), machine.wantsRead { receive() }
      if readiness.contains(.peerClosed) { peerFinished() }
    }
  }

  func timePassed() {
    guard let wokenAt, wokenAt <= loop.now else { return }
    self.wokenAt = nil
    turn {
      if let deadline = machine.deadline, deadline <= loop.now {
        loop.counters.update { $0.timeouts += 1 }
        machine.timePassed(loop.now)
      } else {
        streamIsDue()
      }
    }
  }

  func drain() { turn { machine.drain() } }

  func abort() { turn { machine.failed() } }

  private func receive() {
    switch SystemCalls.receive(descriptor, into: loop.readBuffer) {
    case .wouldBlock: break
    case .failed: machine.failed()
    case .bytes(0): peerFinished()
    case .bytes(let count):
      loop.counters.update { $0.bytesReceived += count }
      machine.received(UnsafeRawBufferPointer(loop.readBuffer)[..<count].rebased, at: loop.now)
    }
  }

  private func peerFinished() {
    machine.peerFinished()
    noteAbandonment()
  }

  // MARK: - Turns

  /// Takes in what has happened, performs what follows, sends what that made, and says what to wait
  /// for.
  ///
  /// What happens during a turn becomes a part of it.
  func turn(_ events: () -> Void) {
    dispatchPrecondition(condition: .onQueue(loop.queue))
    guard !isClosed else { return }
    if isInTurn { return events() }
    isInTurn = true
    if case .stream(let stream) = body { stream.unpark() }
    events()
    repeat {
      while !isClosed, let action = machine.next(at: loop.now) { perform(action) }
    } while flush()
    isInTurn = false
    settle()
  }

  /// Brings what is watched and what is waited for in line with the state.
  func settle() {
    guard !isClosed else { return }
    var wanted: Readiness = []
    if machine.wantsRead { wanted.insert(.read) }
    if machine.isStreaming { wanted.insert(.peerClosed) }
    if isBlocked { wanted.insert(.write) }
    if wanted != interest {
      loop.poller.change(descriptor, wanted, token: token)
      interest = wanted
    }
    var deadline = machine.deadline
    if !isBlocked, case .stream(let stream) = body, let streamDeadline = stream.deadline {
      deadline = min(deadline ?? streamDeadline, streamDeadline)
    }
    if let deadline, wokenAt.map({ deadline < $0 }) ?? true {
      wokenAt = loop.schedule(token, at: deadline)
    }
    parkStream()
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    loop.scratch.removeAll(keepingCapacity: true)
    loop.remove(token, descriptor)
    SystemCalls.close(descriptor)
    outbox = Outbox()
    loop.settings.counts.leave(address)
    loop.counters.update { $0.connectionsOpen -= 1 }
    observation?.end(written: bytesOfBody, at: loop.now)
    endBody()
    for response in machine.takeResponses() { response.discard() }
    noteAbandonment()
  }
}

extension UnsafeRawBufferPointer.SubSequence {
  fileprivate var rebased: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self) }
}
