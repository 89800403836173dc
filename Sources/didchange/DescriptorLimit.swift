import Foundation

/// How many files and connections the process may have open: `ulimit -n`.
enum DescriptorLimit {
  /// Raises the limit to what the system lets this user have.
  ///
  /// The low one that shells start with, often 1024, is for programs that use select(2), which knows
  /// no descriptors beyond.
  ///
  /// - Returns: how many there may be now; nil where the system does not tell.
  static func raise() -> UInt64? {
    var limit = rlimit()
    guard getrlimit(files, &limit) == 0 else { return nil }
    var wanted = limit
    wanted.rlim_cur = limit.rlim_max
    #if canImport(Darwin)
      // man 2 setrlimit, "COMPATIBILITY".
      wanted.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
    #endif
    if wanted.rlim_cur > limit.rlim_cur, setrlimit(files, &wanted) == 0 { limit = wanted }
    return UInt64(limit.rlim_cur)
  }

  /// What a server opens before its first client: the database twice, notifications, event loops.
  private static let leastForServer = 24

  /// Refuses to begin what would fail halfway: Dispatch ends the process where it can open nothing.
  ///
  /// - Throws: ``TooFewDescriptors``.
  static func checkForServer() throws {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    while opened.count < leastForServer {
      let descriptor = dup(STDERR_FILENO)
      if descriptor < 0 {
        // Without a standard error there is nothing to copy, and nobody to tell.
        if errno == EBADF { return }
        throw TooFewDescriptors(free: opened.count, needed: leastForServer)
      }
      opened.append(descriptor)
    }
  }

  // Glibc has made an enumeration of the constants.
  #if canImport(Glibc)
    private static let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let files = RLIMIT_NOFILE
  #endif
}

/// The process may open too few files to serve anybody.
struct TooFewDescriptors: Error, CustomStringConvertible {
  let free: Int
  let needed: Int

  var description: String {
    "only \(free) files may be opened, and a server without clients takes \(needed): raise the limit "
      + "with ulimit -n"
  }
}
