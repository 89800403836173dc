import ArgumentParser
import Foundation
import GRDB

/// From a foreign process's COMMIT to the event at a client on loopback.
struct Commit: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "From the return of a foreign one-row commit to the event at a client.",
    discussion: """
      The server is a process of its own; this one is the writer and the client. Beside it, in this \
      process and on the same table: GRDB's ValueObservation of the same request.
      """)

  @Option(parsing: .upToNextOption, help: "Rows of the table, for each run.")
  var rows: [Int] = [1000, 10_000, 100_000, 1_000_000]
  @Option(help: "Commits of each run.") var commits = 1000
  @Option(help: "The server's executable.") var server = ".build/release/didchange"
  @Option(help: "ValueObservation is measured up to that many rows.") var observed = 100_000

  func run() throws {
    var table: [[String]] = []
    var base: Double?
    for rows in rows {
      let database = try SampleDatabase(rows: rows)
      let bench = try CommitBench(database: database, server: server)
      let times = try bench.measure(commits: commits).sorted()
      let median = times[times.count / 2]
      base = base ?? median
      table.append([
        "\(rows)", median.short, times[times.count * 99 / 100].short,
        (median / (base ?? median)).short, bench.cpuPerCommit.short,
        rows <= observed ? try ObservationBench(database).measure().short : "",
      ])
    }
    print("\(commits) commits each, milliseconds\n")
    printTable(
      [
        "rows", "p50", "p99", "p50 to the first row's", "server CPU a commit",
        "ValueObservation p50",
      ], table)
  }
}

private final class CommitBench {
  private let database: SampleDatabase
  private let process = Process()
  private let stream: EventSocket
  private(set) var cpuPerCommit = 0.0

  init(database: SampleDatabase, server: String) throws {
    self.database = database
    let configuration = database.path + ".yaml"
    try """
    database: \(database.path)
    queries:
      players: {table: player, fields: [id, name, team, email, score], order: [name], section: team}
    """.write(toFile: configuration, atomically: true, encoding: .utf8)
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: server)
    process.arguments = ["serve", "--config", configuration, "--port", "0", "--log-level", "error"]
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard
      let port = line.split(separator: ":").last.flatMap({
        UInt16($0.trimmingCharacters(in: .whitespacesAndNewlines))
      })
    else { throw ValidationError("the server did not start: \(line)") }
    stream = try EventSocket(port: port, path: "/v1/queries/players/events?snapshot=false")
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
  }

  func measure(commits: Int) throws -> [Double] {
    let count = try database.writer.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM player") ?? 1
    }
    var random = SystemRandomNumberGenerator()
    // The first change makes the server's index of rows.
    _ = try commit(1, id: 1)
    let cpu = cpuTime
    var times: [Double] = []
    for number in 0..<commits {
      times.append(try commit(1000 + number, id: .random(in: 1...count, using: &random)))
    }
    cpuPerCommit = (cpuTime - cpu) / Double(commits)
    return times
  }

  private func commit(_ value: Int, id: Int) throws -> Double {
    try database.write("UPDATE player SET score = \(1_000_000 + value) WHERE id = \(id)")
    let start = ContinuousClock.now
    try stream.wait(for: "\"score\":\(1_000_000 + value)}")
    return (ContinuousClock.now - start).milliseconds
  }

  /// User and system time of the server so far, in milliseconds: man 5 proc.
  private var cpuTime: Double {
    let directory = "/proc/\(process.processIdentifier)/task"
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return tasks.reduce(0) { sum, task in
      let text =
        (try? String(contentsOfFile: "\(directory)/\(task)/schedstat", encoding: .utf8)) ?? ""
      return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e6
    }
  }
}

/// A blocking socket that reads an event stream.
private final class EventSocket {
  private let descriptor: Int32
  private var received: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(port: UInt16, path: String) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw ValidationError("no connection") }
    let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"
    _ = request.withCString { send(descriptor, $0, strlen($0), 0) }
    try wait(for: "retry:")
  }

  deinit { close(descriptor) }

  /// Reads until `text` has come.
  func wait(for text: String) throws {
    let pattern = Array(text.utf8)
    while true {
      if let range = received.firstRange(of: pattern) {
        received.removeSubrange(..<range.upperBound)
        return
      }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw ValidationError(
          "the stream ended (\(count), \(errno)): " + String(decoding: received, as: UTF8.self))
      }
      received += buffer[..<count]
    }
  }
}

/// GRDB's own observation, in the writer's process.
private final class ObservationBench {
  private struct Player: FetchableRecord, Decodable, Sendable {
    var id: Int64
    var name: String
    var team: String
    var score: Int
    var email: String
  }

  private let queue: DatabaseQueue

  init(_ database: SampleDatabase) throws { queue = try DatabaseQueue(path: database.path) }

  func measure() throws -> Double {
    let arrived = DispatchSemaphore(value: 0)
    let observation = ValueObservation.tracking { db in
      try Player.fetchAll(db, sql: "SELECT * FROM player ORDER BY team, name, id")
    }
    let cancellable = observation.start(in: queue, scheduling: .async(onQueue: .global())) { _ in
    } onChange: { _ in
      arrived.signal()
    }
    defer { cancellable.cancel() }
    arrived.wait()
    return try Measure.median(runs: 11) {
      try queue.write { try $0.execute(sql: "UPDATE player SET score = score + 1 WHERE id = 1") }
      arrived.wait()
    }
  }
}
