import Foundation

/// How much memory the process has, and may have: that of the machine, or less in a container or under
/// `ulimit -v`.
package enum SystemMemory {
  /// The least of all that is known, in bytes; the file systems of the kernel are mounted in `root`.
  package static func limit(root: String = "/") -> Int {
    ([physical, addressSpace] + containerLimits(root: root)).compactMap { $0 }.min() ?? 1 << 30
  }

  /// Half of that: the other half is for what is not counted, the allocator's own needs, SQLite's
  /// caches and sorters, and other programs.
  package static let share = limit() / 2

  /// What the process has in memory now, in bytes; nil where the system does not tell that in
  /// `/proc` (https://man7.org/linux/man-pages/man5/proc_pid_statm.5.html).
  package static var resident: Int? {
    guard let fields = text("/proc/self/statm")?.split(separator: " "), fields.count > 1 else {
      return nil
    }
    return Int(fields[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
  }

  private static var physical: Int? {
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    let size = sysconf(Int32(_SC_PAGESIZE))
    return pages > 0 && size > 0 ? Int(pages) * Int(size) : nil
  }

  private static var addressSpace: Int? {
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_AS.rawValue)
    #else
      let resource = RLIMIT_AS
    #endif
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return nil }
    return Int(exactly: limit.rlim_cur)
  }

  /// The limits of the control groups that the process is in: each of them counts, up to the
  /// outermost (https://docs.kernel.org/admin-guide/cgroup-v2.html#memory).
  private static func containerLimits(root: String) -> [Int] {
    guard let groups = text(root + "proc/self/cgroup") else { return [] }
    return groups.split(separator: "\n").flatMap { line -> [Int] in
      // hierarchy-ID:controllers:path, `man 7 cgroups`
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { return [] }
      let mount = root + "sys/fs/cgroup"
      if parts[1].isEmpty { return limits(in: mount, parts[2], file: "memory.max") }
      guard parts[1].split(separator: ",").contains("memory") else { return [] }
      return limits(in: mount + "/memory", parts[2], file: "memory.limit_in_bytes")
    }
  }

  private static func limits(in mount: String, _ path: Substring, file: String) -> [Int] {
    var folder = mount
    // Within a container its own group is mounted as the outermost, whatever the path says.
    return ([""] + path.split(separator: "/")).compactMap { name in
      if !name.isEmpty { folder += "/" + name }
      // "max" is no limit; nor is version 1's, of nearly all there can be.
      return text("\(folder)/\(file)").flatMap { Int($0.filter { $0 != "\n" }) }
    }
  }

  private static func text(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 16384)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
