import ArgumentParser
import FetchedRecords
import Foundation
import GRDB
import QueryAnalysis

/// A one-row commit without a log: pages are compared instead of running the query again.
struct Scan: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A one-row commit in a rollback-journal database: page scan against refetch.")

  @Option(parsing: .upToNextOption, help: "Rows of the table, for each run.")
  var rows: [Int] = [1000, 10_000, 100_000, 1_000_000]
  @Option(help: "Runs; medians are shown.") var runs = 11

  func run() throws {
    var table: [[String]] = []
    for rows in rows {
      let database = try SampleDatabase(rows: rows)
      try database.writer.writeWithoutTransaction {
        _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = DELETE")
      }
      let times = try ["", "WHERE (SELECT 1) "].map { condition in
        let definition = QueryDefinition(
          name: "players", form: .sql("SELECT * FROM player \(condition)ORDER BY name"))
        let refresher = try Refresher(path: database.path, queries: .definitions([definition]))
        let controller = try refresher.opened("players")
        defer { withExtendedLifetime(controller) {} }
        let change = "UPDATE player SET score = score + 1 WHERE id = 500"
        try database.write(change)
        refresher.refreshAndWait()
        return try Measure.median(runs: runs) {
          try database.write(change)
        } _: {
          refresher.refreshAndWait()
        }
      }
      table.append(["\(rows)", times[0].short, times[1].short, (times[1] / times[0]).short])
    }
    print("medians of \(runs) refreshes, milliseconds\n")
    printTable(["rows", "page scan", "refetch", "ratio"], table)
  }
}
