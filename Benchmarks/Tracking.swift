import ArgumentParser
import Foundation
import GRDB
import FetchedRecords
import QueryAnalysis

/// One-row commits to queries of many forms, maintained and refetched.
struct Tracking: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A one-row commit to joins, groups and windows: maintained, and refetched.")

  @Option(help: "Rows of the table of players.") var rows = 100_000
  @Option(help: "Runs of each; medians are shown.") var runs = 21

  private struct Form {
    let name: String
    let select: String
    var rest = ""
    let change: String
  }

  private static let forms = [
    Form(
      name: "one table", select: "SELECT * FROM player WHERE 1", rest: "ORDER BY name",
      change: "UPDATE player SET score = score + 1 WHERE id = 500"),
    Form(
      name: "window of 50", select: "SELECT * FROM player WHERE 1",
      rest: "ORDER BY score DESC, name LIMIT 50",
      change: "UPDATE player SET score = score + 1 WHERE id = 500"),
    Form(
      name: "n:1 join, main table",
      select: "SELECT p.id, p.name, c.title FROM player p JOIN club c ON c.id = p.clubId WHERE 1",
      rest: "ORDER BY p.name", change: "UPDATE player SET name = name || '+' WHERE id = 500"),
    Form(
      name: "n:1 join, other table (10 players a club)",
      select: "SELECT p.id, p.name, c.title FROM player p JOIN club c ON c.id = p.clubId WHERE 1",
      rest: "ORDER BY p.name", change: "UPDATE club SET title = title || '+' WHERE id = 50"),
    Form(
      name: "groups by another table's key",
      select: """
        SELECT c.id, c.title, count(p.id) AS n FROM club c LEFT JOIN player p ON p.clubId = c.id
        WHERE 1
        """, rest: "GROUP BY c.id ORDER BY n DESC, c.title",
      change: "UPDATE player SET clubId = 1 + (clubId + 1) % 1000 WHERE id = 500"),
    Form(
      name: "groups by a column (10 rows each)",
      select: "SELECT clubId, count(*) AS n, sum(score) AS total FROM player WHERE 1",
      rest: "GROUP BY clubId ORDER BY total DESC",
      change: "UPDATE player SET score = score + 1 WHERE id = 500"),
    Form(
      name: "count in a subquery (10 rows each)",
      select: """
        SELECT id, title, (SELECT count(*) FROM player WHERE clubId = club.id AND score > 10) AS n
        FROM club WHERE 1
        """, rest: "ORDER BY n DESC, title",
      change: "UPDATE player SET clubId = 1 + (clubId + 1) % 1000 WHERE id = 500"),
    Form(
      name: "IN (SELECT …), main table",
      select: "SELECT * FROM player WHERE clubId IN (SELECT id FROM club WHERE title <> 'x')",
      rest: "ORDER BY name", change: "UPDATE player SET score = score + 1 WHERE id = 500"),
    Form(
      name: "IN (SELECT …), what is in the list",
      select: """
        SELECT * FROM player WHERE clubId IN (SELECT id FROM club WHERE title NOT LIKE '%+')
        """,
      rest: "ORDER BY name",
      change: """
        UPDATE club SET title = CASE WHEN title LIKE '%+' THEN 'x' ELSE 'y+' END WHERE id = 50
        """),
    Form(
      name: "NOT EXISTS",
      select: """
        SELECT * FROM player p WHERE NOT EXISTS (
          SELECT 1 FROM player q WHERE q.clubId = p.clubId AND q.score > p.score)
        """, rest: "ORDER BY name",
      change: "UPDATE player SET score = score + 1 WHERE id = 500"),
  ]

  func run() throws {
    var table: [[String]] = []
    for form in Self.forms {
      let database = try SampleDatabase(rows: rows)
      try database.write(
        """
        ALTER TABLE player ADD COLUMN clubId INTEGER;
        UPDATE player SET clubId = 1 + id % \(max(1, rows / 10));
        CREATE INDEX playerByClub ON player(clubId);
        CREATE TABLE club (id INTEGER PRIMARY KEY, title TEXT);
        INSERT INTO club SELECT id, 'Club ' || id FROM player WHERE id <= \(rows / 10);
        """)
      let maintained = try Live(database, form.select + " " + form.rest)
      let refetched = try Live(database, form.select + " AND (SELECT 1) " + form.rest)
      // The first change is told apart: it makes what the others need.
      let first = try maintained.measure(1, form.change)
      let times = try [maintained, refetched].map { try $0.measure(runs, form.change) }
      precondition(maintained.mode == .incremental && refetched.mode == .refetch)
      table.append([
        form.name, first.short, times[0].short, times[1].short, (times[1] / times[0]).short,
      ])
    }
    print("\(rows) rows, milliseconds\n")
    printTable(["query", "first change", "maintained", "refetched", "ratio"], table)
    try runAlongside()
  }

  /// What stands beside a list of one table.
  private func runAlongside() throws {
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
      let alone = try Live(database, list)
      let kept = try Live(database, list, alongside: values.map { "SELECT \($0) FROM player" })
      let run = try Live(
        database, list, alongside: values.map { "SELECT \($0) FROM player WHERE (SELECT 1)" })
      // The first changes make what the others need.
      for live in [alone, kept, run] { _ = try live.measure(3, change) }
      let times = try [alone, kept, run].map { try $0.measure(runs, change) }
      table.append(
        [name] + times.map(\.short) + [(times[1] / times[0]).short, (times[2] / times[1]).short])
    }
    print("\nalongside a list of 1000 of the rows, milliseconds\n")
    printTable(
      ["alongside", "without", "followed", "run again", "to without", "ratio"], table)
  }
}

private final class Live {
  private let database: SampleDatabase
  private let refresher: Refresher
  let mode: QueryAnalysis.Tracking.Mode

  init(_ database: SampleDatabase, _ sql: String, alongside: [String] = []) throws {
    self.database = database
    let definition = QueryDefinition(
      name: "q", form: .sql(sql),
      alongside: alongside.enumerated().map { .init(name: "v\($0)", sql: $1) })
    refresher = try Refresher(path: database.path, queries: .definitions([definition]))
    mode = try refresher.opened("q").snapshot.query.tracking.mode
  }

  func measure(_ runs: Int, _ change: String) throws -> Double {
    refresher.refreshAndWait()
    return try Measure.median(runs: runs) {
      try self.database.write(change)
    } _: {
      refresher.refreshAndWait()
    }
  }
}
