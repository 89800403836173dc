import Foundation
import GRDB
import TestSupport
import Testing

@testable import ChangeCapture

/// What a look costs on a large table: with `DIDCHANGE_COST=1`, in release.
@Suite(.enabled(if: RandomSource.number("DIDCHANGE_COST") != nil), .serialized)
struct `The cost of a look` {
  let folder: TemporaryFolder
  let writer: DatabaseQueue
  let connection: DatabaseQueue
  let rows: Int

  init() throws {
    folder = try TemporaryFolder()
    rows = RandomSource.number("DIDCHANGE_ROWS") ?? 1_000_000
    writer = try DatabaseQueue(path: folder.file())
    try writer.writeWithoutTransaction { [rows] db in
      _ = try Row.fetchAll(db, sql: "PRAGMA journal_mode = WAL")
      try db.execute(
        sql: """
          PRAGMA synchronous = NORMAL;
          CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INT, email TEXT);
          INSERT INTO player WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c
            WHERE n < \(rows)) SELECT n, 'name' || (n * 7919 % 1000003), 'team' || n % 30,
            n % 1000, 'player' || n || '@example.org' FROM c;
          CREATE INDEX player_name ON player (name);
          """)
      _ = try Row.fetchAll(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.allowsUnsafeTransactions = true
    connection = try DatabaseQueue(path: folder.file(), configuration: configuration)
  }

  private static func residentMegabytes() -> Int {
    let fields = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(
      separator: " ")
    return (fields.flatMap { Int($0[1]) } ?? 0) * 4 / 1024
  }

  private func look(_ reader: ChangeReader) throws -> (DatabaseChanges, Duration) {
    try connection.inDatabase { db in
      let begin = try db.cachedStatement(sql: "BEGIN")
      let end = try db.cachedStatement(sql: "COMMIT")
      let start = ContinuousClock.now
      try begin.execute()
      let changes = try reader.changes(in: db)
      reader.commit()
      try end.execute()
      return (changes, ContinuousClock.now - start)
    }
  }

  private func measure(_ what: String, _ count: Int, _ sql: (Int) -> String) throws {
    let reader = ChangeReader(tables: ["player"])
    let (_, load) = try look(reader)
    var times: [Duration] = []
    var reported = 0
    for run in 0..<count {
      try writer.writeWithoutTransaction { try $0.execute(sql: sql(run)) }
      let (changes, time) = try look(reader)
      if case .rows(let rows) = changes[table: "player"] { reported += rows.count }
      times.append(time)
    }
    times.sort()
    print(
      """
      \(what): \(Self.residentMegabytes()) MB, load \(load), p50 \(times[count / 2]), p99 \(times[count * 99 / 100]), \
      \(reported / count) rows a commit
      """)
  }

  @Test func `after commits of one row and of many`() throws {
    let id = { (run: Int) in run * 7919 % rows + 1 }
    try measure("nothing of interest", 2000) { "PRAGMA user_version = \($0)" }
    try measure("one row, no index", 2000) {
      "UPDATE player SET score = score + 1 WHERE id = \(id($0))"
    }
    try measure("one row, an index", 2000) {
      "UPDATE player SET name = 'other\($0)' WHERE id = \(id($0))"
    }
    try measure("one row inserted", 2000) {
      "INSERT INTO player VALUES (\(rows + 1 + $0), 'new', 'team', 1, 'new@example.org')"
    }
    try measure("one row deleted", 2000) { "DELETE FROM player WHERE id = \(id($0))" }
    try measure("1000 rows", 100) {
      "UPDATE player SET score = score + 1 WHERE id BETWEEN \(id($0)) AND \(id($0) + 999)"
    }
    try measure("a tenth of all", 5) {
      "UPDATE player SET score = score + 1 WHERE id % \(rows) < \(rows / 10 + $0)"
    }
  }

  @Test func `with outlines`() throws {
    let reader = ChangeReader()
    let trees: [OutlinedTree] = [.index("player_name"), .table("player")]
    try connection.read { db in _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM player") }
    try connection.read { db in
      _ = try reader.changes(in: db)
      for count in 1...2 {
        let some = Set(trees[..<count])
        let time = try ContinuousClock().measure { try reader.outline(some, in: db) }
        print(count, "outlines loaded in", time)
      }
    }
    for outline in reader.map?.outlines.values.map({ $0 }) ?? [] {
      let counts = outline.nodes.values.map(\.counts.count).reduce(0, +)
      print(outline.total, "entries on", counts, "pages,", outline.nodes.count, "nodes")
    }
    var times: [String: [Duration]] = [:]
    for run in 0..<2000 {
      try writer.writeWithoutTransaction { db in
        try db.execute(
          sql: """
            INSERT OR REPLACE INTO player
            SELECT id, 'name' || \(run), team, score, email FROM player WHERE id = \(run * 7919 % rows);
            INSERT INTO player VALUES (\(rows + run), 'new' || \(run * 7919 % 2000), 't', 1, 'e')
            """)
      }
      try connection.read { db in
        let looked = try ContinuousClock().measure { _ = try reader.changes(in: db) }
        reader.commit()
        times["look", default: []].append(looked)
        for tree in trees {
          for size in [1, 100] {
            let start = run * 7919 % (rows - 100)
            let read = try ContinuousClock().measure {
              _ = try reader.rowIDs(of: tree, at: start..<(start + size), in: db)
            }
            times["\(size) of \(tree)", default: []].append(read)
          }
        }
      }
    }
    for (what, times) in times.mapValues({ $0.sorted() }).sorted(by: { $0.key < $1.key }) {
      print("\(what): p50 \(times[times.count / 2]), p99 \(times[times.count * 99 / 100])")
    }
  }

  /// Keeps a copy of a column up to date from nothing but the rows that are reported.
  @Test func `under a writer that commits all the time`() throws {
    let count = 100_000
    let script = try ForeignScript(
      folder.file(),
      transactions: (0..<count).map {
        ["UPDATE player SET score = score + 1 WHERE id = \($0 * 7919 % rows + 1)"]
      }, folder: folder)
    let reader = ChangeReader(tables: ["player"])
    var scores: [Int64: Int] = [:]
    var (time, work) = (ContinuousClock.now, Duration.zero)
    var isLast = false
    while !isLast {
      isLast = !script.isRunning
      try connection.inDatabase { db in
        try db.execute(sql: "BEGIN")
        let start = ContinuousClock.now
        let changes = try reader.changes(in: db)
        work += ContinuousClock.now - start
        if case .rows(let changed) = changes[table: "player"] {
          let select = try db.cachedStatement(sql: "SELECT score FROM player WHERE id = ?")
          for id in changed { scores[id] = try Int.fetchOne(select, arguments: [id]) }
        } else if changes.extent == .everything {
          for row in try Row.fetchAll(db, sql: "SELECT id, score FROM player") {
            scores[row[0]] = row[1]
          }
        }
        reader.commit()
        try db.execute(sql: "COMMIT")
      }
      if reader.statistics.commits == 1 { time = .now }
    }
    print(
      "\(count) commits in \(ContinuousClock.now - time), captured in \(work):", reader.statistics)
    let sum = try connection.read { try Int.fetchOne($0, sql: "SELECT sum(score) FROM player") }
    #expect(scores.values.reduce(0, +) == sum)
  }

  @Test func `where the log was lost, and without a log`() throws {
    try writer.writeWithoutTransaction { db in
      _ = try Row.fetchAll(db, sql: "PRAGMA wal_autocheckpoint = 0")
    }
    try measure("log lost", 20) {
      """
      UPDATE player SET score = score + 1 WHERE id = \($0 + 5); PRAGMA wal_checkpoint(RESTART);
      UPDATE player SET score = score + 1 WHERE id = \($0 + 9); PRAGMA wal_checkpoint(RESTART);
      UPDATE player SET score = score + 1 WHERE id = 1;
      """
    }
    try connection.close()
    try writer.writeWithoutTransaction { db in
      _ = try Row.fetchAll(db, sql: "PRAGMA journal_mode = DELETE")
    }
    let path = folder.file()
    let reading = try DatabaseQueue(path: path)
    let reader = ChangeReader(tables: ["player"])
    for run in 0..<10 {
      try writer.writeWithoutTransaction { db in
        try db.execute(sql: "UPDATE player SET score = score + 1 WHERE id = \(run + 1)")
      }
      let start = ContinuousClock.now
      let changes = try reading.read { try reader.changes(in: $0) }
      reader.commit()
      print("rollback journal:", ContinuousClock.now - start, changes.extent)
    }
  }
}
