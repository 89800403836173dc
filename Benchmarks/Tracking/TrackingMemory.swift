import ArgumentParser
import FetchedRecords
import Foundation
import GRDB
import QueryAnalysis

/// What a live query takes beside its records, to lead changed rows to them.
struct TrackingMemory: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Memory by which changed rows lead to records.",
    discussion: """
      Resident memory before and after the first commits of one row each, so all is in it that these need: \
      the index of records, and what is kept of rows. One form a run, for memory that one has given back \
      another would take.
      """)

  @Option(help: "Rows of the table.") var rows = 1_000_000
  @Option(help: "list, groups, unindexed, all, union or view.") var form = "list"

  private static let forms = [
    "list": "SELECT id, name, score FROM player",
    // Of ten rows each, with an index and without.
    "groups":
      "SELECT 'Club ' || (id / 10) AS club, sum(score) AS n FROM player GROUP BY 'Club ' || (id / 10)",
    "unindexed": "SELECT 'Club ' || (id / 10) AS club, sum(score) AS n FROM player GROUP BY club",
    "all": """
    SELECT 'a' AS kind, id, name, score FROM player WHERE id % 2
    UNION ALL SELECT 'b', id, name, score FROM player WHERE NOT id % 2
    """,
    "union": """
    SELECT name, score FROM player WHERE id % 2 UNION SELECT name, score FROM player WHERE NOT id % 2
    """,
    "view": "SELECT id, name FROM feed WHERE kind > 'A' ORDER BY name",
  ]

  func run() throws {
    guard let sql = Self.forms[form] else { throw ValidationError("there is no form \(form)") }
    let database = try SampleDatabase(rows: rows)
    try database.write(
      """
      CREATE VIEW feed AS SELECT 'a' AS kind, id, name FROM player WHERE id % 2
        UNION ALL SELECT 'b', id, name FROM player WHERE NOT id % 2
      """)
    if form == "groups" {
      try database.write("CREATE INDEX playerByClub ON player('Club ' || (id / 10))")
    }
    let query = try TrackedQuery(database, sql)
    guard query.mode == .incremental else { throw ValidationError(query.reason) }
    let before = Measure.residentMemory()
    let first = try query.measure(1, change)
    for _ in 0..<3 { _ = try query.measure(1, change) }
    let grown = Measure.residentMemory() - before
    printTable(
      ["form", "rows", "first change, ms", "bytes a row"],
      [[form, "\(rows)", first.short, (grown * 1e6 / Double(rows)).short]])
  }

  private var change: String {
    "UPDATE player SET score = score + 1 WHERE id = \(Int.random(in: 1...rows))"
  }
}
