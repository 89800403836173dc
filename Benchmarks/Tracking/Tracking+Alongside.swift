extension Tracking {
  /// What stands beside a list of one table.
  func runAlongside(rows: Int) throws {
    let statements = [
      ("count(*)", ["count(*)"]), ("max(score)", ["max(score)"]), ("sum(score)", ["sum(score)"]),
      ("count(*), max(score)", ["count(*)", "max(score)"]),
      ("count(*), sum(score), avg(score)", ["count(*)", "sum(score)", "avg(score)"]),
    ]
    let change = "UPDATE player SET score = score + 1 WHERE id = 500"
    var table: [[String]] = []
    for (name, values) in statements {
      let database = try SampleDatabase(rows: rows)
      let list = "SELECT * FROM player WHERE id <= 1000 ORDER BY name"
      let alone = try TrackedQuery(database, list)
      let kept = try TrackedQuery(
        database, list, alongside: values.map { "SELECT \($0) FROM player" })
      let again = values.map { "SELECT \($0) FROM player WHERE (SELECT 1)" }
      let run = try TrackedQuery(database, list, alongside: again)
      // The first changes make what the others need.
      for live in [alone, kept, run] { _ = try live.measure(3, change) }
      let times = try TrackedQuery.measureInTurns([alone, kept, run], runs, change)
      table.append(
        [name] + times.map(\.short) + [(times[1] / times[0]).short, (times[2] / times[1]).short])
    }
    print("\nalongside a list of 1000 of the rows, milliseconds\n")
    printTable(
      ["alongside", "without", "followed", "run again", "to without", "ratio"], table)
  }
}
