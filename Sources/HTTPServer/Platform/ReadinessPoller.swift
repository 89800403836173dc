import Dispatch

#if os(Linux)
  import CLinux
#endif

/// What a descriptor is ready for, or is asked about.
struct Readiness: OptionSet, Hashable, Sendable {
  let rawValue: UInt32

  static let read = Readiness(rawValue: 0x001)
  static let write = Readiness(rawValue: 0x004)
  /// Broken both ways; always reported.
  static let broken = Readiness(rawValue: 0x008 | 0x010)
  /// The peer has shut down its side.
  static let peerClosed = Readiness(rawValue: 0x2000)
}

#if os(Linux)
  /// Tells an event loop which of its descriptors are ready: one epoll descriptor, which one
  /// Dispatch source watches on the loop's queue.
  ///
  /// A source for each connection costs half of the request rate (two dispatch hops and an
  /// `epoll_ctl` of the library's own for each event).
  ///
  /// The values of `Readiness` are epoll's.
  // Guarded by the loop's queue, on which the source's handler runs too.
  final class ReadinessPoller {
    private let epoll: Int32
    private let events = EpollEvents(capacity: 256)
    /// How many of these the kernel has written, and how many were reported.
    private var (count, reported) = (0, 0)
    private let source: any DispatchSourceRead

    init(queue: DispatchQueue) throws(ServerError) {
      epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
      guard epoll >= 0 else { throw .outOfDescriptors }
      source = DispatchSource.makeReadSource(fileDescriptor: epoll, queue: queue)
      let descriptor = epoll
      source.setCancelHandler { SystemCalls.close(descriptor) }
    }

    deinit { assert(source.isCancelled, "a poller must be stopped") }

    /// Starts to report: `wake` runs once for each wake-up and calls `poll`.
    func start(_ wake: @escaping @Sendable () -> Void) {
      source.setEventHandler(handler: wake)
      source.activate()
    }

    /// Reports what is ready, at most 256 descriptors.
    ///
    /// - Parameter report: returns whether to go on. What is left is reported first the next time, so
    ///   that all have their turn; as it is ready still, there will be a wake-up for it.
    /// - Returns: whether to ask again may bring more.
    func poll(_ report: (_ token: UInt64, Readiness) -> Bool) -> Bool {
      if reported == count { (count, reported) = (events.poll(epoll), 0) }
      while reported < count {
        let (ready, token) = events[reported]
        reported += 1
        if !report(token, Readiness(rawValue: ready)) { return true }
      }
      return count > 0
    }

    /// Watches a descriptor.
    ///
    /// `token` comes back with its events.
    func add(_ descriptor: Int32, _ interest: Readiness, token: UInt64) -> Bool {
      EpollEvents.control(
        epoll, EPOLL_CTL_ADD, descriptor, events: interest.rawValue, data: token) == 0
    }

    /// Watches for something else.
    func change(_ descriptor: Int32, _ interest: Readiness, token: UInt64) {
      _ = EpollEvents.control(
        epoll, EPOLL_CTL_MOD, descriptor, events: interest.rawValue, data: token)
    }

    /// Stops watching a descriptor, which is still open.
    func remove(_ descriptor: Int32) {
      _ = EpollEvents.control(epoll, EPOLL_CTL_DEL, descriptor, events: 0, data: 0)
    }

    func stop() { source.cancel() }
  }
#else
  /// The same interface on two Dispatch sources for each descriptor, for systems without epoll.
  // Guarded by the loop's queue, on which the handlers of all sources run too.
  final class ReadinessPoller {
    private let queue: DispatchQueue
    private var wake: @Sendable () -> Void = {}
    /// The active sources of each descriptor, by what they report.
    private var sources: [Int32: [Readiness: any DispatchSourceProtocol]] = [:]
    private var ready: [(token: UInt64, Readiness)] = []

    init(queue: DispatchQueue) throws(ServerError) { self.queue = queue }

    func start(_ wake: @escaping @Sendable () -> Void) { self.wake = wake }

    func poll(_ report: (_ token: UInt64, Readiness) -> Bool) -> Bool {
      let events = ready
      ready = []
      // A source reports one descriptor at a time.
      for (token, readiness) in events { _ = report(token, readiness) }
      return false
    }

    func add(_ descriptor: Int32, _ interest: Readiness, token: UInt64) -> Bool {
      change(descriptor, interest, token: token)
      return true
    }

    func change(_ descriptor: Int32, _ interest: Readiness, token: UInt64) {
      var active = sources[descriptor] ?? [:]
      for kind in [Readiness.read, .write] where interest.contains(kind) != (active[kind] != nil) {
        if let source = active.removeValue(forKey: kind) {
          source.cancel()
        } else {
          active[kind] = activeSource(descriptor, kind, token)
        }
      }
      sources[descriptor] = active
    }

    func remove(_ descriptor: Int32) {
      for source in (sources.removeValue(forKey: descriptor) ?? [:]).values { source.cancel() }
    }

    func stop() {
      for descriptor in sources.keys { remove(descriptor) }
    }

    private func activeSource(
      _ descriptor: Int32, _ kind: Readiness, _ token: UInt64
    ) -> any DispatchSourceProtocol {
      let source: any DispatchSourceProtocol =
        kind == .read
        ? DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        : DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
      // Only touched on the queue, where the handler runs.
      nonisolated(unsafe) let poller = self
      source.setEventHandler {
        poller.ready.append((token, kind))
        poller.wake()
      }
      source.activate()
      return source
    }
  }
#endif
