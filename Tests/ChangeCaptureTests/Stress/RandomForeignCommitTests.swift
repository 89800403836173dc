import Foundation
import GRDB
import TestSupport
import Testing

@testable import ChangeCapture

/// Random transactions of other processes, at the same time as the looks.
///
/// `DIDCHANGE_STEPS` is the number of transactions in all.
@Suite(.serialized) struct `Random commits of other processes` {
  static let steps = RandomSource.number("DIDCHANGE_STEPS") ?? 2000

  @Test(arguments: [512, 4096, 65_536], [0, 1])
  func `no changed row is missed while others write`(_ pageSize: Int, _ writers: Int) throws {
    let run = try ForeignRun(pageSize: pageSize, journalMode: "wal")
    try run.watch(transactions: Self.steps / 14, writers: writers + 1, kills: false)
    run.report()
  }

  @Test(arguments: [512, 4096, 65_536])
  func `no changed row is missed while others write without a log`(_ pageSize: Int) throws {
    let run = try ForeignRun(pageSize: pageSize, journalMode: "delete")
    try run.watch(transactions: Self.steps / 14, writers: 1, kills: false)
    run.report()
  }

  @Test(arguments: [512, 4096])
  func `no changed row is missed while writers are killed`(_ pageSize: Int) throws {
    let run = try ForeignRun(pageSize: pageSize, journalMode: "wal")
    for _ in 0..<10 {
      try run.watch(transactions: Self.steps / 28, writers: 2, kills: true)
    }
    run.report()
  }
}

/// One database that other processes write to while it is watched.
private final class ForeignRun {
  private let folder: TemporaryFolder
  private let connection: DatabaseQueue
  private let reader: ChangeReader
  private var sql: RandomSQL
  private var random = RandomSource(seed: RandomSource.seed)
  private var examiner: Examiner
  private var outlines = OutlineExaminer()
  private let title: String

  init(pageSize: Int, journalMode: String) throws {
    folder = try TemporaryFolder()
    reader = ChangeReader(
      tables: Set(RandomSQL.rowidTables + RandomSQL.otherTables),
      settings: .init(pagesAtOnce: random.pick([0, 5, 1000])))
    title = "page size \(pageSize), \(journalMode), seed \(RandomSource.seed)"
    sql = RandomSQL(
      random: RandomSource(seed: RandomSource.seed ^ UInt64(pageSize)), hasFullTextSearch: false)
    let writer = try ForeignWriter(folder.file())
    for statement in [
      "PRAGMA page_size = \(pageSize)", "PRAGMA auto_vacuum = \(random.number(0...2))",
      "PRAGMA journal_mode = \(journalMode)",
    ] + sql.schema + OutlineExaminer.indexes {
      try writer.execute(statement)
    }
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(20)
    connection = try DatabaseQueue(path: folder.file(), configuration: configuration)
    examiner = try connection.read { try Examiner($0) }
    try connection.read { [reader] db in
      _ = try reader.changes(in: db)
      try reader.outline(OutlineExaminer.trees(in: db), in: db)
    }
  }

  func watch(transactions: Int, writers: Int, kills: Bool) throws {
    var scripts = try (0..<writers).map { _ in
      try ForeignScript(
        folder.file(), transactions: (0..<(transactions / writers)).map { _ in sql.transaction() },
        folder: folder)
    }
    var commitsToLive = kills ? reader.statistics.commits + random.number(1...6) : Int.max
    while scripts.contains(where: \.isRunning) {
      try look()
      usleep(UInt32(random.number(0...2000)))
      guard reader.statistics.commits >= commitsToLive else { continue }
      // In whatever it is doing; the others go on for a while.
      scripts.removeFirst().kill()
      commitsToLive = reader.statistics.commits + random.number(1...3)
    }
    try look()
  }

  func report() {
    let fallbacks = reader.statistics.fallbacks.sorted { $0.key < $1.key }
      .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    print(
      """
      \(title): \(examiner.summary); \(outlines.summary); \(reader.statistics.commits) with commits; \
      \(reader.statistics.logRestarts) logs begun anew; \(fallbacks)
      """)
  }

  private func look() throws {
    let before = reader.statistics
    do {
      try connection.read { db in
        let changes = try reader.changes(in: db)
        // Reading everything is what takes the time.
        if changes.isNothing, !random.once(in: 4) { return }
        try outlines.examine(reader, in: db, &random)
        let isCommitted = !random.once(in: 20)
        try examiner.examine(changes, try Contents(of: db), isCommitted: isCommitted)
        if isCommitted { reader.commit() }
        if random.once(in: 3) { _ = try reader.readRowsAhead(atMost: random.number(1...9), in: db) }
        // Now and then it all begins anew.
        if random.once(in: 30) {
          for tables in [[], reader.tables] { try reader.follow(tables, in: db) }
        }
      }
    } catch let miss as Examiner.Miss {
      throw Examiner.Miss(
        description: """
          \(title): \(miss)
          \(before)
          \(reader.statistics)
          """)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      // Nothing is lost by it.
    }
  }
}
