import TestSupport
import Testing

@testable import ChangeCapture

/// How long after a commit its callback begins: printed, not asserted.
///
/// A machine that does something else meanwhile says little.
@Suite(.serialized) struct WakeLatencyTests {
  @Test(arguments: [("WAL", "NORMAL"), ("WAL", "FULL"), ("DELETE", "FULL")])
  func `the time from the end of a commit to its callback`(
    _ mode: String, _ synchronous: String
  ) async throws {
    let folder = try TemporaryFolder()
    let writer = try ForeignWriter(
      folder.file(), pragmas: ["journal_mode = \(mode)", "synchronous = \(synchronous)"])
    try writer.execute("CREATE TABLE item (id INTEGER PRIMARY KEY)")
    let owner = try Owner(folder.file())
    var latencies: [Double] = []
    for id in 1...200 {
      let committed = try writer.execute("INSERT INTO item VALUES (\(id))").nanoseconds
      try await owner.sees(id)
      // Before zero: the callback began before the writer's statement returned.
      let begun = owner.entries.last?.nanoseconds ?? 0
      latencies.append((Double(begun) - Double(committed)) / 1000)
    }
    latencies.sort()
    let counters = owner.watcher.status.counters
    print(
      "wake latency in µs, \(mode) synchronous=\(synchronous):",
      "p50 \(latencies[100]), p90 \(latencies[180]), p99 \(latencies[198]);",
      "\(counters)")
  }
}
