import Foundation

/// What the process takes of its machine at one moment; what the system does not tell is nil.
struct ProcessStatistics {
  /// Processor time of all threads, in seconds.
  let processorSeconds: Double
  let openFiles: Int?
  let mostOpenFiles: Int?
  let residentBytes: Int?
  let virtualBytes: Int?
  let threads: Int?

  /// In seconds since 1970; to be asked for when the process starts.
  static let start = Date().timeIntervalSince1970

  /// Reads them, from files of proc(5): some tens of microseconds, and one for each open file.
  init() {
    var usage = rusage()
    getrusage(Self.own, &usage)
    processorSeconds = usage.ru_utime.seconds + usage.ru_stime.seconds
    let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    // Without the one that lists them.
    openFiles = files.map { $0.count - 1 }
    mostOpenFiles = Self.number(after: "Max open files", in: "limits")
    residentBytes = Self.number(after: "VmRSS:", in: "status").map { $0 * 1024 }
    virtualBytes = Self.number(after: "VmSize:", in: "status").map { $0 * 1024 }
    threads = Self.number(after: "Threads:", in: "status")
  }

  // Glibc has made an enumeration of the constant.
  #if canImport(Glibc)
    private static let own = __rusage_who_t(RUSAGE_SELF.rawValue)
  #else
    private static let own = RUSAGE_SELF
  #endif

  private static func number(after name: String, in file: String) -> Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/\(file)", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
    else { return nil }
    let words = line.dropFirst(name.count).split(whereSeparator: \.isWhitespace)
    return words.first.flatMap { Int($0) }
  }
}

extension timeval {
  fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}

extension MetricsText {
  /// The names that Prometheus's own clients use:
  /// https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
  mutating func addProcess() {
    let process = ProcessStatistics()
    let cpu = "Total user and system CPU time spent in seconds."
    add(process: "cpu_seconds_total", .counter, cpu, process.processorSeconds)
    add(process: "open_fds", .gauge, "Number of open file descriptors.", process.openFiles)
    add(
      process: "max_fds", .gauge, "Maximum number of open file descriptors.",
      process.mostOpenFiles)
    add(
      process: "resident_memory_bytes", .gauge, "Resident memory size in bytes.",
      process.residentBytes)
    add(
      process: "virtual_memory_bytes", .gauge, "Virtual memory size in bytes.",
      process.virtualBytes)
    add(process: "threads", .gauge, "Number of OS threads in the process.", process.threads)
    add(
      process: "start_time_seconds", .gauge,
      "Start time of the process since unix epoch in seconds.", ProcessStatistics.start)
  }

  private mutating func add(
    process name: String, _ kind: Kind, _ help: String, _ value: (some CustomStringConvertible)?
  ) {
    if let value { add("process_\(name)", kind, help, [("", value)], prefix: "") }
  }
}
