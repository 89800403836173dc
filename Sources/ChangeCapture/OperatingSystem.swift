import Foundation

#if os(Linux)
  import CLinux
#endif

/// Everything this module asks of the operating system, and every difference between systems.
///
/// Nothing here may open a database file: closing any descriptor of a file drops all POSIX locks
/// that the process holds on it, SQLite's among them
/// (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
/// `stat` takes no descriptor and is safe.
package enum OperatingSystem {
  /// The path without symbolic links; nil: it leads nowhere.
  static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Why nothing can be reached at a path, in the system's words; nil: nothing is there.
  static func obstacle(to path: String) -> String? {
    var buffer = stat()
    guard stat(path, &buffer) != 0, errno != ENOENT, errno != ENOTDIR else { return nil }
    return String(cString: strerror(errno))
  }

  /// Whether this process may make files in a directory.
  static func isWritable(directory: String) -> Bool { access(directory, W_OK) == 0 }

  /// Lets who else wants to run on this processor do so, without any time sleeps for about so long, at
  /// least ``shortestSleep``.
  static func pause(_ duration: Duration) {
    if duration == .zero {
      sched_yield()
      return
    }
    let rest = max(duration - Self.shortestSleep, .nanoseconds(1))
    var request = timespec(tv_sec: 0, tv_nsec: Int(rest.components.attoseconds / 1_000_000_000))
    nanosleep(&request, nil)
  }

  /// Waits until one of the descriptors has something to read, or for the time, which is kept to a
  /// millisecond. Negative descriptors are left out.
  static func wait(for descriptors: [Int32], until time: ContinuousClock.Instant) {
    let rest = (time - .now).components
    let milliseconds =
      rest.seconds * 1000 + (rest.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    poll(&polled, nfds_t(polled.count), Int32(clamping: max(0, milliseconds)))
  }

  static func pipe() -> (reader: Int32, writer: Int32)? {
    var ends: [Int32] = [-1, -1]
    let result = Foundation.pipe(&ends)
    guard result == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  static func writeByte(to descriptor: Int32) {
    var byte: UInt8 = 0
    _ = write(descriptor, &byte, 1)
  }

  static func closeDescriptor(_ descriptor: Int32) {
    if descriptor >= 0 { _ = close(descriptor) }
  }

  /// Lets the calling thread's pauses end when they should.
  ///
  /// Linux gives each sleep a slack of 50 µs, which would treble ``shortestSleep``.
  static func keepPausesShort() {
    #if os(Linux)
      set_timer_slack(1)
    #endif
  }

  /// What a sleep of a nanosecond takes after ``keepPausesShort()``: what Linux needs to wake the thread.
  static let shortestSleep = Duration.microseconds(25)

  /// For how long processors had nothing to do since the machine began, all of them together, in hundredths of a
  /// second (`man 5 proc_uptime`); nil: the system does not tell.
  package static var idleTime: Duration? {
    #if os(Linux)
      let file = open("/proc/uptime", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      // "350735.47 234388.90\n", and the zero that ends a string of C.
      var text = [CChar](repeating: 0, count: 64)
      guard read(file, &text, text.count - 1) > 0, let space = strchr(text, 0x20) else {
        return nil
      }
      return .seconds(strtod(space, nil))
    #else
      return nil
    #endif
  }

  fileprivate static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

extension Thread {
  /// Names the calling thread, for those who look at the process: Foundation keeps the name of a
  /// `Thread` to itself on Linux, and a new thread has that of whoever began it.
  ///
  /// - Parameter name: 15 bytes, and no more of it is shown.
  package static func nameCurrent(_ name: String) {
    current.name = name
    #if os(Linux)
      set_thread_name(name)
    #endif
  }
}

extension FileStatus {
  /// What stands at a path, symbolic links followed; nil: nothing that can be reached.
  package init?(path: String) {
    var buffer = stat()
    guard stat(path, &buffer) == 0 else { return nil }
    #if canImport(Darwin)
      let (modified, changed) = (buffer.st_mtimespec, buffer.st_ctimespec)
    #else
      let (modified, changed) = (buffer.st_mtim, buffer.st_ctim)
    #endif
    identity = FileIdentity(device: UInt64(buffer.st_dev), inode: UInt64(buffer.st_ino))
    isRegular = buffer.st_mode & S_IFMT == S_IFREG
    size = Int64(buffer.st_size)
    self.modified = OperatingSystem.nanoseconds(modified)
    self.changed = OperatingSystem.nanoseconds(changed)
  }

  /// Whether it was last changed so many nanoseconds ago, by the clock of this machine.
  package func isOlder(than age: Int64) -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return OperatingSystem.nanoseconds(now) - changed > age
  }
}

// MARK: - Notifications of a directory

/// What became of the wish to be told of changes in a directory.
enum NotificationResult: Equatable {
  case watching(Int32)
  /// The reason, in the system's words.
  case unavailable(String)
}

#if os(Linux)
  extension OperatingSystem {
    /// Makes a new inotify queue.
    ///
    /// The reasons why there may be none are the limits of `/proc/sys/fs/inotify` and of
    /// descriptors.
    static func openNotifications() -> NotificationResult {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      return descriptor >= 0 ? .watching(descriptor) : .unavailable(lastError())
    }

    /// Adds a directory to the queue; the answer is the watch descriptor.
    ///
    /// Not IN_CLOSE_WRITE: whatever was written before the close was told as IN_MODIFY, and every
    /// reader's connection ends with a close of the log.
    static func watch(directory: String, descriptor: Int32) -> NotificationResult {
      let mask =
        IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM
        | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
      let watch = inotify_add_watch(descriptor, directory, UInt32(mask))
      return watch >= 0 ? .watching(watch) : .unavailable(lastError())
    }

    static func unwatch(_ watch: Int32, descriptor: Int32) {
      inotify_rm_watch(descriptor, watch)
    }

    /// Calls `body` for every notification that waits in the queue, without blocking.
    ///
    /// One read takes all that fit; a queue that somebody fills all the time is not read to its end.
    static func readNotifications(
      _ descriptor: Int32, buffer: UnsafeMutableRawBufferPointer,
      _ body: (DirectoryNotification) -> Void
    ) {
      var isFull = true
      while isFull {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return }
        DirectoryNotification.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count]), body)
        isFull = buffer.count - count < DirectoryNotification.mostBytes
      }
    }

    private static func lastError() -> String { String(cString: strerror(errno)) }
  }

  extension DirectoryNotification.Kinds {
    /// Reads the bits that `man 7 inotify` names.
    init(mask: UInt32) {
      self = []
      let mask = Int32(bitPattern: mask)
      if mask & IN_MODIFY != 0 { insert(.content) }
      if mask & (IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM) != 0 { insert(.entry) }
      if mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) != 0 { insert(.lost) }
      if mask & IN_Q_OVERFLOW != 0 { insert(.overflow) }
    }
  }
#else
  // Without inotify only the poll is left. (kqueue would need an own descriptor of each file, and
  // closing that drops SQLite's locks.)
  extension OperatingSystem {
    static func openNotifications() -> NotificationResult {
      .unavailable("this system has no inotify")
    }

    static func watch(directory: String, descriptor: Int32) -> NotificationResult {
      .unavailable("this system has no inotify")
    }

    static func unwatch(_ watch: Int32, descriptor: Int32) {}

    static func readNotifications(
      _ descriptor: Int32, buffer: UnsafeMutableRawBufferPointer,
      _ body: (DirectoryNotification) -> Void
    ) {}
  }

  extension DirectoryNotification.Kinds {
    init(mask: UInt32) { self = [] }
  }
#endif
