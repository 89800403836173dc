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
  private let server: ServerProcess
  private let stream: EventSocket
  private(set) var cpuPerCommit = 0.0

  init(database: SampleDatabase, server: String) throws {
    self.database = database
    self.server = try ServerProcess(
      server, database: database.path,
      queries: """
        players: {table: player, fields: [id, name, team, email, score], order: [name], section: team}
        """)
    stream = try EventSocket(
      port: self.server.port, path: "/v1/queries/players/events?snapshot=false")
  }

  func measure(commits: Int) throws -> [Double] {
    let count = try database.writer.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM player") ?? 1
    }
    var random = SystemRandomNumberGenerator()
    // The first change makes the server's index of rows.
    _ = try commit(1, id: 1)
    let cpu = server.cpuTime
    var times: [Double] = []
    for number in 0..<commits {
      times.append(try commit(1000 + number, id: .random(in: 1...count, using: &random)))
    }
    cpuPerCommit = (server.cpuTime - cpu) / Double(commits)
    return times
  }

  private func commit(_ value: Int, id: Int) throws -> Double {
    try database.write("UPDATE player SET score = \(1_000_000 + value) WHERE id = \(id)")
    let start = ContinuousClock.now
    try stream.wait(for: "\"score\":\(1_000_000 + value)}")
    return (ContinuousClock.now - start).milliseconds
  }
}

/// GRDB's own observation, in the writer's process.
private final class ObservationBench {
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
