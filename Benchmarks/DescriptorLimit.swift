import Foundation

/// How many files and sockets this process may open, and so the servers that it starts.
enum DescriptorLimit {
  /// Raises it as far as the system lets this process, and says how far that is.
  static func raise() -> Int {
    var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
    if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 {
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    return Int(limit.rlim_cur)
  }
}
