import ArgumentParser
import Dispatch
import FetchedRecords
import GRDB
import GRDBSQLite
import OrderedResults
import QueryAnalysis

/// A refetch and its diff against a bare loop over the same statement.
struct Refetch: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Refetch and diff, against a bare sqlite3_step loop that reads all columns.")

  @Option(help: "Rows of the result.") var rows = 100_000
  @Option(help: "Runs of each case; the median counts.") var runs = 7
  @Option(help: "Only the cases whose name contains this.") var only = ""

  /// Each case changes the table and changes it back, so that every run finds the same work.
  private static let cases: [(name: String, there: String, back: String)] = [
    (
      "one row updated", "UPDATE player SET score = -1 WHERE id = 50",
      "UPDATE player SET score = 1550 % 1000 WHERE id = 50"
    ),
    (
      "one row moved", "UPDATE player SET name = 'zz' WHERE id = 50",
      "UPDATE player SET name = 'aa' WHERE id = 50"
    ),
    (
      "all rows changed", "UPDATE player SET score = score + 1",
      "UPDATE player SET score = score - 1"
    ),
    ("order reversed", "UPDATE player SET rank = -rank", "UPDATE player SET rank = -rank"),
    ("all replaced", "UPDATE player SET id = -id", "UPDATE player SET id = -id"),
  ]

  func run() throws {
    let database = try SampleDatabase(rows: rows)
    try database.write(
      "ALTER TABLE player ADD COLUMN rank INTEGER; UPDATE player SET rank = id")
    var table: [[String]] = []
    for order in ["rank", "name"] {
      let bench = try RefetchBench(database: database, order: order)
      for item in Self.cases where only.isEmpty || item.name.contains(only) {
        guard order == "rank" || item.name.hasPrefix("one") else { continue }
        try table.append(bench.measure(item.name, there: item.there, back: item.back, runs: runs))
      }
    }
    print("\(rows) rows, medians of \(runs) runs\n")
    printTable(["order", "change", "bare loop, ms", "refetch + diff, ms", "ratio"], table)
  }
}

private final class RefetchBench {
  private let database: SampleDatabase
  private let order: String
  private let refresher: Refresher
  private let bare: DatabaseQueue
  private let sql: String
  private let controller: LiveResult

  init(database: SampleDatabase, order: String) throws {
    self.database = database
    self.order = order
    let definition = QueryDefinition(
      name: "players",
      // Without the subquery it would be maintained row by row.
      form: .sql(
        """
        SELECT id, name, team, score, email FROM player WHERE (SELECT 1) ORDER BY \(order), id
        """))
    refresher = try Refresher(path: database.path, queries: .definitions([definition]))
    bare = try DatabaseQueue(path: database.path)
    controller = try refresher.opened("players")
    sql = controller.snapshot.query.sql
  }

  func measure(_ name: String, there: String, back: String, runs: Int) throws -> [String] {
    var isThere = false
    let prepare = {
      try self.database.write(isThere ? back : there)
      isThere.toggle()
    }
    let times = try Measure.medians(
      runs: runs, prepare: prepare, refresher.refreshAndWait, peer: bareLoop)
    if isThere { try prepare() }
    refresher.refreshAndWait()
    return [order, name, times.peer.short, times.work.short, times.ratio.short]
  }

  /// Steps through the statement, reads every column, and keeps nothing.
  private func bareLoop() throws {
    try bare.read { db in
      let statement = try db.cachedStatement(sql: sql).sqliteStatement
      defer { sqlite3_reset(statement) }
      var sum = 0
      while sqlite3_step(statement) == SQLITE_ROW {
        for column in 0..<sqlite3_column_count(statement) {
          switch sqlite3_column_type(statement, column) {
          case SQLITE_INTEGER: sum &+= Int(sqlite3_column_int64(statement, column))
          case SQLITE_TEXT:
            sum &+= Int(sqlite3_column_text(statement, column)?.pointee ?? 0)
            sum &+= Int(sqlite3_column_bytes(statement, column))
          default: break
          }
        }
      }
      precondition(sum != 1)
    }
  }
}
