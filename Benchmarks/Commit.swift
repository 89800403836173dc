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
  @Flag(help: "Compare with a server whose query has a count and a maximum alongside.")
  var alongside = false

  func run() throws {
    var table: [[String]] = []
    var beside: [[String]] = []
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
      if alongside { beside.append(try compareAlongside(database, rows: rows)) }
    }
    print("\(commits) commits each, milliseconds\n")
    printTable(
      [
        "rows", "p50", "p99", "p50 to the first row's", "server CPU a commit",
        "ValueObservation p50",
      ], table)
    if alongside {
      print("\ncount(*) and max(score) alongside, p50 of turns, milliseconds\n")
      printTable(["rows", "without", "with", "ratio"], beside)
    }
  }

  /// The same list without and with statements alongside, at servers that take turns.
  private func compareAlongside(_ database: SampleDatabase, rows: Int) throws -> [String] {
    var times: (without: [Double], with: [Double]) = ([], [])
    for _ in 0..<5 {
      times.without += try CommitBench(database: database, server: server)
        .measure(commits: commits / 5)
      times.with += try CommitBench(
        database: database, server: server,
        alongside: """
          , alongside: {n: "SELECT count(*) FROM player", best: "SELECT max(score) FROM player"}
          """
      ).measure(commits: commits / 5)
    }
    let medians = (times.without.median ?? 0, times.with.median ?? 0)
    return ["\(rows)", medians.0.short, medians.1.short, (medians.1 / medians.0).short]
  }
}

private final class CommitBench {
  private let database: SampleDatabase
  private let server: ServerProcess
  private let stream: EventSocket
  private(set) var cpuPerCommit = 0.0

  init(database: SampleDatabase, server: String, alongside: String = "") throws {
    self.database = database
    self.server = try ServerProcess(
      server, database: database.path,
      queries: """
        players: {table: player, fields: [id, name, team, email, score], order: [name], section: team\(alongside)}
        """)
    stream = try EventSocket(
      port: self.server.port, path: "/v1/queries/players/events?snapshot=false")
  }

  func measure(commits: Int) throws -> [Double] {
    let count = try database.writer.read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM player") ?? 1
    }
    var random = SystemRandomNumberGenerator()
    // The first changes make the server's index of rows, and what the values alongside need.
    for _ in 0..<5 { _ = try commit(id: 1) }
    let cpu = server.cpuTime
    var times: [Double] = []
    for _ in 0..<commits {
      times.append(try commit(id: .random(in: 1...count, using: &random)))
    }
    cpuPerCommit = (server.cpuTime - cpu) / Double(commits)
    return times
  }

  private func commit(id: Int) throws -> Double {
    let score = database.nextScore()
    try database.write("UPDATE player SET score = \(score) WHERE id = \(id)")
    let start = ContinuousClock.now
    try stream.wait(for: "\"score\":\(score)}")
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
