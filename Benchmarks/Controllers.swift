import ArgumentParser
import Dispatch
import FetchedRecords
import Foundation
import GRDB

/// The typed API in this process: a controller that holds its records.
struct Controllers: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "controller",
    abstract: "Fetches with a FetchedRecordsController, and follows one-row commits.")

  @Option(parsing: .upToNextOption, help: "Rows of the table, for each run.")
  var rows: [Int] = [1000, 100_000, 1_000_000]
  @Option(help: "Commits of each run, of the controller's own writer.") var commits = 500

  func run() throws {
    var table: [[String]] = []
    for rows in rows {
      let database = try SampleDatabase(rows: rows)
      let queue = DispatchQueue(label: "benchmark")
      let request = DeclaredRequest<Player>(table: "player", order: ["name"])
      let all = try Measure.median(runs: 3) {
        _ = try database.writer.read { try request.fetchAll($0) }
      }
      let controller = try FetchedRecordsController(
        database.writer, request: request, queue: queue)
      let told = DispatchSemaphore(value: 0)
      queue.sync { controller.trackChanges(didChange: { _ in told.signal() }) }
      let fetch = try Measure.median(runs: 3) { try queue.sync { try controller.performFetch() } }
      var number = 0
      let follow = { (writer: DatabaseQueue) in
        try Measure.median(
          runs: commits,
          prepare: {
            number += 1
            try writer.write {
              try $0.execute(
                sql: "UPDATE player SET name = ? WHERE id = ?",
                arguments: ["Player \(number)", number * 7919 % rows + 1])
            }
          }
        ) { told.wait() }
      }
      let own = try follow(database.writer)
      let foreign = try follow(DatabaseQueue(path: database.path))
      table.append([
        "\(rows)", all.short, fetch.short, own.short, foreign.short, "\(Memory.peak)",
      ])
    }
    print("milliseconds\n")
    printTable(
      [
        "rows", "fetchAll", "performFetch", "own commit to didChange",
        "foreign commit to didChange", "peak memory so far, MB",
      ], table)
  }
}

/// The typed API in this process: more records than are held.
struct Batches: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Opens a large table with a BatchedRecordsController, pages, and follows commits.")

  @Option(help: "Rows of the table.") var rows = 10_000_000
  @Option(help: "Pages and commits.") var repetitions = 500

  func run() throws {
    let database = try SampleDatabase(rows: rows)
    let before = Memory.peak
    let queue = DispatchQueue(label: "benchmark")
    let controller = try BatchedRecordsController<Player>(
      database.writer, request: Player.order(Column("name")), fetchBatchSize: 50, queue: queue)
    let told = DispatchSemaphore(value: 0)
    queue.sync { controller.trackChanges(didChange: { _ in told.signal() }) }
    let open = try Measure.median(runs: 1) { try queue.sync { try controller.performFetch() } }
    let opened = Memory.peak
    let page = try Measure.median(runs: repetitions) {
      let start = Int.random(in: 0..<rows - 50)
      let records = try queue.sync { try controller.records(in: start..<start + 50) }
      precondition(records.count == 50, "a page has 50 records")
    }
    var number = 0
    let commit = {
      number += 1
      try database.write(
        "UPDATE player SET score = score + 1 WHERE id = \(number * 7919 % rows + 1)")
    }
    let first = try Measure.median(runs: 1, prepare: commit) { told.wait() }
    let follow = try Measure.median(runs: repetitions, prepare: commit) { told.wait() }
    printTable(
      ["\(rows) rows", ""],
      [
        ["open, ms", open.short], ["a page of 50 from anywhere, ms", page.short],
        ["first commit to didChange, ms", first.short],
        ["further commits to didChange, ms", follow.short],
        ["peak memory before, opened, in all, MB", "\(before), \(opened), \(Memory.peak)"],
      ])
  }
}

private enum Memory {
  /// The most memory that the process has had so far, in MB.
  static var peak: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
  }
}
