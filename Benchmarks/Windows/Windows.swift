import ArgumentParser
import Foundation
import GRDB

/// Pages and live windows of a list that nobody holds, at a server that has just started.
struct Windows: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "The first page, a live window in the middle, and commits in it, of a list that nobody holds.",
    discussion: """
      The server is a process of its own; this one is the writer and the client. The peer of the window's \
      snapshot is SQLite itself: the same records by LIMIT and OFFSET.
      """)

  @Option(parsing: .upToNextOption, help: "Rows of the table, for each run.")
  var rows: [Int] = [1000, 100_000, 1_000_000, 10_000_000]
  @Option(help: "Commits of each kind.") var commits = 1000
  @Option(help: "The server's executable.") var server = ".build/release/didchange"

  func run() throws {
    var reading: [[String]] = []
    var following: [[String]] = []
    var base: (update: Double, insertion: Double)?
    for rows in rows {
      let bench = try WindowBench(SampleDatabase(rows: rows), rows: rows, server: server)
      let read = try bench.read()
      reading.append([
        "\(rows)", read.page.short, read.window.short, read.again.short, read.offset.short,
        (read.again / read.offset).short, read.held.short, read.resident.short,
      ])
      let updates = try bench.updates(commits).sorted()
      let insertions = try bench.insertions(commits).sorted()
      let medians = (updates.median ?? 0, insertions.median ?? 0)
      let first = base ?? medians
      base = first
      following.append([
        "\(rows)", medians.0.short, updates[updates.count * 99 / 100].short,
        (medians.0 / first.update).short, medians.1.short,
        insertions[insertions.count * 99 / 100].short, (medians.1 / first.insertion).short,
      ])
    }
    print("a page and a window of \(WindowBench.limit) records, milliseconds and megabytes\n")
    printTable(
      [
        "rows", "first page, cold", "first window", "another", "LIMIT, OFFSET", "ratio", "counted",
        "resident",
      ], reading)
    print("\n\(commits) commits each, from COMMIT to the event, milliseconds\n")
    printTable(
      [
        "rows", "in the window p50", "p99", "to the first row's", "before it p50", "p99",
        "to the first row's",
      ], following)
  }
}

private final class WindowBench {
  static let limit = 100

  private let database: SampleDatabase
  private let rows: Int
  private let server: ServerProcess
  private var stream: EventSocket?

  init(_ database: SampleDatabase, rows: Int, server: String) throws {
    (self.database, self.rows) = (database, rows)
    // What the writer wrote last is in the log, and would be read from there.
    try database.writer.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
    self.server = try ServerProcess(
      server, database: database.path,
      queries: "players: {table: player, fields: [id, name, team, email, score], order: [name]}",
      settings: "timeouts: {linger: 1}")
  }

  private var middle: Int { rows / 2 - Self.limit / 2 }

  /// What it takes to read what is shown; milliseconds and megabytes.
  func read() throws -> (
    page: Double, window: Double, again: Double, offset: Double, held: Double, resident: Double
  ) {
    _ = try EventSocket.get("/healthz", port: server.port)
    rest()
    let resident = server.residentMemory
    let page = try Measure.median(runs: 1) {
      _ = try EventSocket.get("/v1/queries/players/records?limit=\(Self.limit)", port: server.port)
    }
    let window = try Measure.median(runs: 1) { stream = try open(at: middle) }
    let held = try (server.metric("memory_bytes") / 1e6, server.residentMemory - resident)
    var offset = rows / 4
    let (again, peer, _) = try Measure.medians(runs: 11) {
      offset += rows / 64
    } _: {
      _ = try open(at: offset)
    } peer: {
      _ = try database.writer.read {
        try Player.fetchAll($0, sql: "\(Self.sql) LIMIT \(Self.limit) OFFSET \(offset)")
      }
    }
    // Those that nobody watches any more are followed for a while.
    sleep(3)
    return (page, window, again, peer, held.0, held.1)
  }

  /// Waits until the server has nothing to do: when it has started, it reads where the records of large
  /// lists are.
  private func rest() {
    var used = Double.infinity
    while used > 5 {
      let before = server.cpuTime
      usleep(50_000)
      used = server.cpuTime - before
    }
  }

  private static let sql = "SELECT id, name, team, email, score FROM player ORDER BY name"

  /// Opens a live window, and reads its snapshot.
  private func open(at offset: Int) throws -> EventSocket {
    let stream = try EventSocket(
      port: server.port, path: "/v1/queries/players/events?offset=\(offset)&limit=\(Self.limit)")
    try stream.wait(for: "event: snapshot")
    try stream.wait(for: "\n\n")
    return stream
  }

  /// One row of the window changes.
  func updates(_ count: Int) throws -> [Double] {
    let ids = try database.writer.read { [middle] db in
      try Int.fetchAll(
        db, sql: "SELECT id FROM player ORDER BY name LIMIT ? OFFSET ?",
        arguments: [Self.limit, middle])
    }
    return try times(count) { number in
      let score = database.nextScore()
      let id = ids[number % ids.count]
      return ("UPDATE player SET score = \(score) WHERE id = \(id)", "\"score\":\(score)}")
    }
  }

  /// A row comes before all others: in the window one goes, and one comes.
  func insertions(_ count: Int) throws -> [Double] {
    try times(count) { number in
      (
        "INSERT INTO player VALUES (NULL, 'A \(1_000_000 - number)', 'Team 1', 0, '')",
        "event: didChange"
      )
    }
  }

  private func times(
    _ count: Int, _ commit: (Int) -> (sql: String, awaited: String)
  ) throws -> [Double] {
    var times: [Double] = []
    for number in 0..<count + 5 {
      let (sql, awaited) = commit(number)
      try database.write(sql)
      let start = ContinuousClock.now
      try stream?.wait(for: awaited)
      // The first may take what the others find.
      if number >= 5 { times.append((ContinuousClock.now - start).milliseconds) }
    }
    return times
  }
}
