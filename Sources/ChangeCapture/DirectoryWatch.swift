/// The inotify queue and the directory that it is about.
///
/// Not sendable: everything happens on the watcher's queue.
final class DirectoryWatch {
  private let descriptor: Int32
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 8)
  /// The watch of the directory; nil: it is gone, or was never had.
  private var watch: Int32?
  private(set) var location: DatabaseLocation?
  private var isClosed = false

  /// Whether of the database file and its log the file was written last, as far as is known.
  private(set) var isDatabaseLast = false

  /// Why there are no notifications now; nil: there are.
  private(set) var trouble: String?

  var isWatching: Bool { watch != nil }

  /// - Parameter descriptor: of ``OperatingSystem/openNotifications()``; closed by ``close()``.
  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    assert(isClosed, "close() closes the descriptor")
    buffer.deallocate()
  }

  /// Watches the directory of `location` instead of the one before.
  func move(to location: DatabaseLocation?) {
    if let watch { OperatingSystem.unwatch(watch, descriptor: descriptor) }
    watch = nil
    self.location = location
    guard let location else {
      trouble = "the directory does not exist"
      return
    }
    switch OperatingSystem.watch(directory: location.directory, descriptor: descriptor) {
    case .watching(let watch): (self.watch, trouble) = (watch, nil)
    case .unavailable(let reason): trouble = reason
    }
  }

  /// Empties the queue and says what it was about.
  func read() -> TouchedFiles {
    var touched: TouchedFiles = []
    OperatingSystem.readNotifications(descriptor, buffer: buffer) { notification in
      guard notification.watch == watch || notification.kinds.contains(.overflow) else { return }
      let files = location?.touched(by: notification) ?? []
      if !files.isDisjoint(with: [.database, .log]) { isDatabaseLast = !files.contains(.log) }
      touched.formUnion(files)
    }
    if touched.contains(.directory) { watch = nil }
    return touched
  }

  /// Nobody may wait for the descriptor any more.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    OperatingSystem.closeDescriptor(descriptor)
  }
}
