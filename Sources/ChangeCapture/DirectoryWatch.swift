import Dispatch

/// The inotify queue, and the source that says when something waits in it.
///
/// Not sendable: everything happens on the queue that it was made with.
final class DirectoryWatch {
  private let descriptor: Int32
  private let source: any DispatchSourceRead
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 8)
  /// The watch of the directory; nil: it is gone, or was never had.
  private var watch: Int32?
  private(set) var location: DatabaseLocation?
  private var isSuspended = false
  private var isCancelled = false

  /// Why there are no notifications now; nil: there are.
  private(set) var trouble: String?

  var isWatching: Bool { watch != nil }

  /// - Parameters:
  ///   - descriptor: of ``SystemCalls/openNotifications()``; closed by ``cancel()``.
  ///   - queue: where `handler` is called, and the only place to use this object from.
  ///   - handler: called while something waits to be read.
  init(descriptor: Int32, queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
    self.descriptor = descriptor
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler(handler: handler)
    source.setCancelHandler { SystemCalls.closeNotifications(descriptor) }
    source.activate()
  }

  deinit {
    assert(isCancelled, "cancel() closes the descriptor")
    buffer.deallocate()
  }

  /// Watches the directory of `location` instead of the one before.
  func move(to location: DatabaseLocation?) {
    if let watch { SystemCalls.unwatch(watch, descriptor: descriptor) }
    watch = nil
    self.location = location
    guard let location else {
      trouble = "the directory does not exist"
      return
    }
    switch SystemCalls.watch(directory: location.directory, descriptor: descriptor) {
    case .watching(let watch): (self.watch, trouble) = (watch, nil)
    case .unavailable(let reason): trouble = reason
    }
  }

  /// Empties the queue and says what it was about.
  func read() -> TouchedFiles {
    var touched: TouchedFiles = []
    SystemCalls.readNotifications(descriptor, buffer: buffer) { notification in
      guard notification.watch == watch || notification.kinds.contains(.overflow) else { return }
      touched.formUnion(location?.touched(by: notification) ?? [])
    }
    if touched.contains(.directory) { watch = nil }
    return touched
  }

  /// Leaves notifications in the system's queue, which joins equal ones and is bounded.
  func suspend() {
    guard !isSuspended else { return }
    isSuspended = true
    source.suspend()
  }

  func resume() {
    guard isSuspended else { return }
    isSuspended = false
    source.resume()
  }

  func cancel() {
    guard !isCancelled else { return }
    isCancelled = true
    source.cancel()
    // A suspended source would never run its cancel handler, and may not be released.
    resume()
  }
}
