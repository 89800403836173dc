#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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

  // Glibc has made an enumeration of the constants.
  #if canImport(Glibc)
    private static let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let files = RLIMIT_NOFILE
  #endif
}
