import ArgumentParser
import FetchedRecords
import Foundation
import GRDB
import QueryAnalysis

/// What a live query of many records holds.
struct RecordMemory: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory",
    abstract: "Memory of a live query, above the bytes of its values.",
    discussion: """
      Resident memory before and after, so all is in it: the records with their order and sections, \
      the index of owners, the maps of the capture, SQLite's own cache, and what the allocator keeps.
      """)

  @Option(help: "Rows of the table.") var rows = 1_000_000

  func run() throws {
    let database = try SampleDatabase(rows: rows)
    let values = try database.writer.read {
      try Int.fetchOne(
        $0, sql: "SELECT sum(8 + length(name) + length(team) + 8 + length(email)) FROM player") ?? 0
    }
    try database.writer.close()
    let definition = QueryDefinition(
      name: "players", form: .declared(.init(table: "player", order: ["name"])), section: "team")
    let before = Measure.residentMemory()
    let refresher = try Refresher(path: database.path, queries: .definitions([definition]))
    let controller = try refresher.opened("players")
    let fetched = Measure.residentMemory() - before
    let writer = try DatabaseQueue(path: database.path)
    var times: [Double] = []
    for number in 0..<1000 {
      try writer.write {
        try $0.execute(
          sql: "UPDATE player SET name = name || 'x' WHERE id = \(number * 7919 % rows + 1)")
      }
      let start = ContinuousClock.now
      refresher.refreshAndWait()
      times.append((ContinuousClock.now - start).milliseconds)
    }
    let tracked = Measure.residentMemory() - before
    let own = Double(values) / 1e6
    let perRecord = { (megabytes: Double) in ((megabytes - own) * 1e6 / Double(rows)).short }
    print("\(rows) rows; values: \(own.short) MB\n")
    printTable(
      ["", "MB", "bytes a record above its values"],
      [
        ["fetched", fetched.short, perRecord(fetched)],
        ["after 1000 one-row commits", tracked.short, perRecord(tracked)],
      ])
    print(
      "\nfirst commit \(times[0].short) ms, the others \(times.dropFirst().sorted()[500].short) ms")
    withExtendedLifetime(controller) {}
  }
}
