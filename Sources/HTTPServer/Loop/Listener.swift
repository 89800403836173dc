import Dispatch

/// Accepts connections on one socket and deals them out.
// Guarded by its loop's queue.
final class Listener: LoopMember {
  /// Accepted at a time, so that a burst of new connections does not hold up the old ones.
  private static let batch = 64
  /// How long accepting pauses when there are no descriptors.
  ///
  /// Connections wait in the kernel's queue meanwhile; those that are open live on.
  private static let pause: Duration = .milliseconds(100)

  private let loop: EventLoop
  private let token: UInt64
  private let descriptor: Int32
  private let dealer: ConnectionDealer
  private var pausedUntil: Moment?
  /// Whether the last pause was told to the operator: a shortage lasts for many.
  private var hasToldOfPause = false
  private var isClosed = false

  private init(
    loop: EventLoop, token: UInt64, descriptor: Int32, dealer: ConnectionDealer
  ) {
    self.loop = loop
    self.token = token
    self.descriptor = descriptor
    self.dealer = dealer
  }

  deinit { assert(isClosed, "a listener must be closed before it goes") }

  static func listen(_ descriptor: Int32, dealer: ConnectionDealer, on loop: EventLoop) {
    let isWatched =
      !loop.isDraining
      && loop.add(descriptor, .read) { token in
        Listener(loop: loop, token: token, descriptor: descriptor, dealer: dealer)
      }
    if !isWatched { SystemCalls.close(descriptor) }
  }

  func becameReady(_ readiness: Readiness) {
    guard pausedUntil == nil else { return }
    for _ in 0..<Self.batch {
      guard dealer.hasRoom else { return pause("there are too many connections") }
      var address = SocketAddress()
      switch SystemCalls.accept(descriptor, &address) {
      case .success(let accepted): dealer.deal(accepted, address, from: loop)
      case .failure(let error) where error.isWouldBlock: return tellThatAllAreAccepted()
      case .failure(let error) where error.isOutOfDescriptors: return pause(error.description)
      // The client has gone already, or the network had a fault: that is its own affair.
      case .failure: continue
      }
    }
  }

  func timePassed() {
    guard let pausedUntil, pausedUntil <= loop.now else { return }
    self.pausedUntil = nil
    loop.poller.change(descriptor, .read, token: token)
  }

  func drain() {
    guard !isClosed else { return }
    isClosed = true
    loop.remove(token, descriptor)
    SystemCalls.close(descriptor)
  }

  func abort() { drain() }

  private func tellThatAllAreAccepted() {
    if hasToldOfPause { loop.log(.info, "accepting goes on") }
    hasToldOfPause = false
  }

  private func pause(_ reason: String) {
    if !hasToldOfPause { loop.log(.warning, "accepting pauses: \(reason)") }
    hasToldOfPause = true
    loop.counters.update { $0.acceptPauses += 1 }
    let end = loop.now + Self.pause
    pausedUntil = end
    loop.poller.change(descriptor, [], token: token)
    loop.schedule(token, at: end)
  }
}

/// Deals connections out to the loops in turn: they live long, so that numbers even out.
// Unchecked: `next` is guarded by the queue of the loop that listens.
final class ConnectionDealer: @unchecked Sendable {
  private let loops: [EventLoop]
  private let limit: Int
  private var next = 0

  init(loops: [EventLoop], limit: Int) {
    self.loops = loops
    self.limit = limit
  }

  var hasRoom: Bool {
    loops.reduce(0) { $0 + $1.counters.current.connectionsOpen } < limit
  }

  func deal(_ descriptor: Int32, _ address: SocketAddress, from listening: EventLoop) {
    let loop = loops[next % loops.count]
    next += 1
    if loop === listening { return Connection.adopt(descriptor, address, on: loop) }
    loop.perform { Connection.adopt(descriptor, address, on: $0) }
  }
}
