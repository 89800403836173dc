import ArgumentParser
import Foundation
import GRDB

/// A process that commits as fast as it can, and a server that follows.
struct Burst: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A burst of one-row commits by another process: speed, memory, and the last state.",
    discussion: """
      The writer is a Python process with synchronous=OFF, first alone and then under the eyes of \
      the server.
      """)

  @Option(help: "Commits of the burst.") var commits = 100_000
  @Option(help: "Rows of the table.") var rows = 10_000
  @Option(help: "The server's executable.") var server = ".build/release/didchange"

  func run() throws {
    let alone = try write(SampleDatabase(rows: rows))
    let database = try SampleDatabase(rows: rows)
    let server = try ServerProcess(
      server, database: database.path,
      queries: "players: {table: player, fields: [id, name, team, score], order: [name]}")
    let stream = try EventSocket(
      port: server.port, path: "/v1/queries/players/events?snapshot=false")
    try database.write("UPDATE player SET score = -7 WHERE id = 1")
    try stream.wait(for: "\"score\":-7}")
    let (cpu, memory) = (server.cpuTime, server.residentMemory)
    let refreshes = try server.metric("refreshes_total")

    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      try? stream.wait(for: "\"score\":-8}")
      isDone.signal()
    }
    let watched = try write(database)
    let start = ContinuousClock.now
    try database.write("UPDATE player SET score = -8 WHERE id = 1")
    isDone.wait()
    let lag = (ContinuousClock.now - start).milliseconds
    let joined = try server.metric("refreshes_total") - refreshes
    let (cpuAfter, memoryAfter) = (server.cpuTime, server.residentMemory)
    let answer = try EventSocket.get(
      "/v1/queries/players/records?limit=\(rows)", port: server.port)
    let shown = answer.split(separator: "\"score\":").dropFirst().reduce(0) {
      $0 + (Int($1.prefix { $0.isNumber || $0 == "-" }) ?? 0)
    }
    let truth = try database.writer.read {
      try Int.fetchOne($0, sql: "SELECT sum(score) FROM player") ?? 0
    }
    printTable(
      ["", ""],
      [
        ["commits a second, writer alone", "\(Int(Double(commits) / alone * 1000))"],
        ["commits a second, followed", "\(Int(Double(commits) / watched * 1000))"],
        ["ratio", (alone / watched).short],
        ["commits joined in one refresh", (Double(commits) / joined).short],
        ["from the end of the burst to the last event, ms", lag.short],
        ["server CPU for each commit, µs", ((cpuAfter - cpu) / Double(commits) * 1000).short],
        ["memory before and after, MB", "\(memory.short) and \(memoryAfter.short)"],
        ["the last state is right", "\(shown == truth)"],
      ])
    if shown != truth { throw ExitCode.failure }
  }

  /// Milliseconds that the burst takes.
  private func write(_ database: SampleDatabase) throws -> Double {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c", Self.program, database.path, "\(commits)", "\(rows)",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard let seconds = Double(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw ValidationError("the writer failed: \(line)")
    }
    return seconds * 1000
  }

  private static let program = """
    import sqlite3, sys, time
    connection = sqlite3.connect(sys.argv[1], isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    start = time.perf_counter()
    for number in range(int(sys.argv[2])):
        connection.execute(
            "UPDATE player SET score = ? WHERE id = ?",
            (number, number * 7919 % int(sys.argv[3]) + 1))
    print(time.perf_counter() - start)
    """
}
