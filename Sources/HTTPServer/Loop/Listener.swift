import Dispatch
import HTTPTypes
import Logging

/// Accepts connections on one socket and deals them out.
// Guarded by its loop's queue.
final class Listener: LoopMember {
  /// Accepted at a time, so that a burst of new connections does not hold up the old ones.
  private static let batch = 64
  /// How long accepting pauses when there are no descriptors and no connection is idle.
  ///
  /// Connections wait in the kernel's queue meanwhile; those that are open live on.
  private static let pause: Duration = .milliseconds(100)

  private let loop: EventLoop
  private let token: UInt64
  private let descriptor: Int32
  /// Where its socket stands in the file system, if it does.
  private let path: String?
  private let dealer: ConnectionDealer
  private let reserve = DescriptorReserve()
  /// Whether the last descriptor was one of the reserve.
  private var isScarce = false
  /// Whether idle connections are being closed, until when nothing is accepted.
  private var isMakingRoom = false
  private var pausedUntil: Moment?
  /// Whether the last pause was told to the operator: a shortage lasts for many.
  private var hasToldOfPause = false
  private var isClosed = false
  private var toldOfRefusalAt: Moment?
  private var toldOfShortageAt: Moment?

  private init(
    loop: EventLoop, token: UInt64, socket: ListeningSocket, dealer: ConnectionDealer
  ) {
    self.loop = loop
    self.token = token
    descriptor = socket.descriptor
    path = socket.path
    self.dealer = dealer
  }

  deinit { assert(isClosed, "a listener must be closed before it goes") }

  static func listen(_ socket: ListeningSocket, dealer: ConnectionDealer, on loop: EventLoop) {
    let isWatched =
      !loop.isDraining
      && loop.add(socket.descriptor, .read) { token in
        Listener(loop: loop, token: token, socket: socket, dealer: dealer)
      }
    if !isWatched { SystemCalls.close(socket.descriptor) }
  }

  func becameReady(_ readiness: Readiness) {
    guard pausedUntil == nil, !isMakingRoom else { return }
    for _ in 0..<Self.batch {
      guard dealer.hasRoom else { return pause("there are too many connections") }
      if isScarce { isScarce = reserve.isAllThatIsLeft(beside: descriptor) }
      guard !isScarce else { return makeRoom("there are too few descriptors") }
      var address = SocketAddress()
      switch SystemCalls.accept(descriptor, &address) {
      case .success(let accepted):
        isScarce = reserve.contains(accepted)
        if loop.settings.counts.enter(address) {
          dealer.deal(accepted, address, from: loop)
        } else {
          turnAway(accepted, address)
        }
      case .failure(let error) where error.isWouldBlock: return tellThatAllAreAccepted()
      case .failure(let error) where error.isOutOfDescriptors: return makeRoom(error.description)
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
    // Before the close: after it another server may have put its own socket there.
    if let path { FileSystem.remove(path) }
    loop.remove(token, descriptor)
    SystemCalls.close(descriptor)
  }

  func abort() { drain() }

  /// One write that does not wait, and the end: whoever has thousands of connections is owed no
  /// more than the reason.
  private func turnAway(_ accepted: Int32, _ address: SocketAddress) {
    loop.counters.update { $0.connectionsRefused += 1 }
    warnOnce(\.toldOfRefusalAt, "\(address.host) has too many connections: more are answered 503")
    let refusal = Self.refusal.bytesOfLast(date: loop.date)
    _ = refusal.withUnsafeBytes { SystemCalls.send(accepted, $0) }
    SystemCalls.close(accepted)
  }

  private static let refusal = Problem.response(
    Problem(.serviceUnavailable, "Close some of your connections to here."))

  private func tellThatAllAreAccepted() {
    if hasToldOfPause { loop.logger.info("accepting goes on") }
    hasToldOfPause = false
  }

  /// Has idle connections closed, and accepts on as soon as they are; where there are none, it pauses.
  private func makeRoom(_ reason: String) {
    isMakingRoom = true
    loop.poller.change(descriptor, [], token: token)
    let (loop, token) = (loop, token)
    dealer.closeIdle { closed in
      loop.perform { $0.listener(token)?.goOn(having: closed, reason) }
    }
  }

  private func goOn(having closed: Int, _ reason: String) {
    isMakingRoom = false
    guard closed > 0 else { return pause(reason) }
    warnOnce(\.toldOfShortageAt, "\(reason): idle connections are closed to make room")
    loop.poller.change(descriptor, .read, token: token)
  }

  /// Once a minute at most.
  private func warnOnce(
    _ last: ReferenceWritableKeyPath<Listener, Moment?>, _ message: @autoclosure () -> String
  ) {
    if let told = self[keyPath: last], loop.now - told <= .seconds(60) { return }
    self[keyPath: last] = loop.now
    loop.logger.warning("\(message())")
  }

  private func pause(_ reason: String) {
    if !hasToldOfPause { loop.logger.warning("accepting pauses: \(reason)") }
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
  let loops: [EventLoop]
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
