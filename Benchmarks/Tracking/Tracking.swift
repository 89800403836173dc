import ArgumentParser
import FetchedRecords
import Foundation
import GRDB
import QueryAnalysis

/// One-row commits to queries of many forms, maintained and refetched.
struct Tracking: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A one-row commit to queries of many forms: maintained, and refetched.",
    discussion: """
      Each form is compared with the plain list of the same table, at each size, in turns: after a \
      commit of one row, and after one of as many rows as the form's change concerns records. At the \
      first size it is compared also with itself, run again for each commit.
      """)

  @Option(parsing: .upToNextOption, help: "Rows of the table of players, for each run.")
  var rows: [Int] = [100_000, 1000, 1_000_000]
  @Option(help: "Runs of each; medians are shown.") var runs = 21
  @Option(help: "Only forms whose names contain this.") var form = ""

  func run() throws {
    var base: [String: Double] = [:]
    for (number, rows) in rows.enumerated() {
      let forms = TrackingForm.all.filter {
        (form.isEmpty || $0.name.contains(form)) && rows <= $0.mostRows
      }
      print("\(rows) rows, milliseconds\n")
      printTable(
        [
          "query", "first change", "maintained", "to one row of a table", "records",
          "to as many rows of a table", "to the first size's", "refetched", "ratio",
        ], [])
      for form in forms {
        let figures = try measure(form, rows: rows, refetched: number == 0)
        let first = base[form.name] ?? figures.maintained
        base[form.name] = first
        printRow([
          form.name, figures.first.short, figures.maintained.short, figures.toRow.short,
          "\(form.records)", figures.toRows.short, (figures.maintained / first).short,
          figures.refetched?.short ?? "",
          figures.refetched.map { ($0 / figures.maintained).short } ?? "",
        ])
      }
      print()
    }
    try runAlongside(rows: rows[0])
  }

  /// Each of a query that nobody asked for before.
  private func medianOfFirstChanges(
    _ form: TrackingForm, at database: SampleDatabase
  ) throws -> Double {
    let start = ContinuousClock.now
    var times: [Double] = []
    // Some queries take minutes as a whole.
    while times.count < min(runs, 7), times.isEmpty || ContinuousClock.now - start < .seconds(1) {
      times.append(try TrackedQuery(database, form.maintained).measure(1, form.change))
    }
    return times.median ?? 0
  }

  private struct Figures {
    /// The first change, which makes what the others need.
    var first: Double
    var maintained: Double
    /// The ratio to a commit of one row to the plain list.
    var toRow: Double
    /// The ratio to a commit of as many rows as the form's has records.
    var toRows: Double
    var refetched: Double?
  }

  private func measure(_ form: TrackingForm, rows: Int, refetched: Bool) throws -> Figures {
    let database = try SampleDatabase(rows: rows)
    try database.write(TrackingForm.prepare(rows: rows))
    let live = try TrackedQuery(database, form.maintained)
    guard live.mode == .incremental else { throw ValidationError("\(form.name): \(live.reason)") }
    let first = try medianOfFirstChanges(form, at: database)
    _ = try live.measure(1, form.change)
    let (one, many) = (TrackingForm.plain(), TrackingForm.plain(changing: form.records))
    let plain = try TrackedQuery(database, one.maintained)
    _ = try plain.measure(1, many.change)
    // Some changes come and go, and so the first of each pair is made twice.
    _ = try live.measure(2, form.change)
    var turns: [(live: Double, row: Double, rows: Double)] = []
    for _ in 0..<runs {
      let row = try plain.measure(1, one.change)
      let live = try live.measure(1, form.change)
      turns.append((live, row, try plain.measure(1, many.change)))
    }
    var again: Double?
    if refetched {
      let live = try TrackedQuery(database, form.refetched)
      precondition(live.mode == .refetch)
      again = try live.measure(min(runs, 5), form.change)
    }
    return Figures(
      first: first, maintained: turns.map(\.live).median ?? 0,
      toRow: turns.map { $0.live / $0.row }.median ?? 0,
      toRows: turns.map { $0.live / $0.rows }.median ?? 0, refetched: again)
  }
}
