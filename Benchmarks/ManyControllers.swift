import ArgumentParser
import FetchedRecords
import Foundation
import GRDB
import OrderedResults
import QueryAnalysis

/// Commits under many live controllers.
struct ManyControllers: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A one-row commit under many controllers of one query, each with its own argument.")

  @Option(help: "Rows of the table.") var rows = 100_000
  @Option(parsing: .upToNextOption, help: "Controllers, for each run.")
  var controllers = [1, 10, 100, 1000]
  @Option(help: "Commits of each run.") var commits = 501

  func run() throws {
    var table: [[String]] = []
    for count in controllers {
      let database = try SampleDatabase(rows: rows)
      try database.write(
        """
        ALTER TABLE player ADD COLUMN club INTEGER;
        UPDATE player SET club = id % 1000;
        CREATE INDEX playerByClub ON player(club);
        CREATE TABLE unused (id INTEGER PRIMARY KEY, value);
        INSERT INTO unused VALUES (1, 1);
        """)
      let run = try ManyControllersRun(database, count)
      let one = try run.measure(commits, "UPDATE player SET score = score + 1 WHERE id = 1000")
      let move = try run.measure(
        commits, "UPDATE player SET club = (club + 1) % 1000 WHERE id = 2000")
      let unused = try run.measure(commits, "UPDATE unused SET value = value + 1")
      table.append(["\(count)", one.short, move.short, unused.short])
    }
    print("\(rows) rows, medians of \(commits) refreshes, microseconds\n")
    printTable(
      ["controllers", "a row of one", "a row goes from one to another", "a table of none"], table)
  }
}

private final class ManyControllersRun {
  private let database: SampleDatabase
  private let refresher: Refresher
  private let controllers: [LiveResult]

  init(_ database: SampleDatabase, _ count: Int) throws {
    self.database = database
    let definition = QueryDefinition(
      name: "club",
      form: .declared(.init(table: "player", predicate: "club = :club", order: ["name"])),
      parameters: [QueryParameter(name: "club", type: .integer)])
    let refresher = try Refresher(path: database.path, queries: .definitions([definition]))
    self.refresher = refresher
    controllers = try (0..<count).map { club in
      try refresher.opened("club", arguments: ["club": .integer(Int64(club))])
    }
  }

  /// Microseconds of a refresh, without the wake-up before it.
  func measure(_ commits: Int, _ change: String) throws -> Double {
    try database.write(change)
    refresher.refreshAndWait()
    return try Measure.median(runs: commits) {
      try self.database.write(change)
    } _: {
      refresher.refreshAndWait()
    } * 1000
  }
}
