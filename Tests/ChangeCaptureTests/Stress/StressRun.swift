import Foundation
import GRDB
import GRDBSQLite
import TestSupport

@testable import ChangeCapture

/// One database under random transactions of a writer in this process, and a reader that follows
/// it, each held against plain SELECTs.
final class StressRun {
  struct Layout: CustomStringConvertible {
    var pageSize: Int
    var autoVacuum: Int
    var journalMode: String
    /// Bytes at the end of each page that belong to an extension.
    var reserved = 0

    var description: String {
      "page size \(pageSize), auto_vacuum \(autoVacuum), \(journalMode), reserved \(reserved)"
    }
  }

  let layout: Layout
  private let folder: TemporaryFolder
  private let writer: DatabaseQueue
  private let connection: DatabaseQueue
  private let longReader: DatabaseQueue
  private var longReaderStepsLeft = 0
  let reader: ChangeReader
  private var sql: RandomSQL
  private var random: RandomSource
  private(set) var examiner: Examiner
  private(set) var outlines = OutlineExaminer()
  private(set) var commits = 0
  /// Looks at which not all rows were known that are followed.
  private(set) var incompleteLooks = 0
  /// Whether the next look reports some changes for the second time.
  private var wasCarried = false
  private var history: [String] = []

  init(_ layout: Layout, seed: UInt64) throws {
    self.layout = layout
    folder = try TemporaryFolder()
    random = RandomSource(seed: seed)
    sql = RandomSQL(random: RandomSource(seed: seed ^ 0xABCD), hasFullTextSearch: true)
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    configuration.foreignKeysEnabled = true
    writer = try DatabaseQueue(path: folder.file(), configuration: configuration)
    let statements =
      [
        "PRAGMA page_size = \(layout.pageSize)", "PRAGMA auto_vacuum = \(layout.autoVacuum)",
        "PRAGMA journal_mode = \(layout.journalMode)", "PRAGMA synchronous = OFF",
      ] + sql.schema + OutlineExaminer.indexes
    try writer.inDatabase { db in
      var reserved = Int32(layout.reserved)
      _ = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
      for statement in statements {
        _ = try Row.fetchAll(db, sql: statement)
      }
    }
    configuration.readonly = true
    connection = try DatabaseQueue(path: folder.file(), configuration: configuration)
    longReader = try DatabaseQueue(path: folder.file(), configuration: configuration)
    let reader = ChangeReader(
      tables: Set(RandomSQL.rowidTables + RandomSQL.otherTables),
      settings: .init(pagesAtOnce: random.pick([0, 0, 5, 1000])))
    self.reader = reader
    examiner = try connection.read { db in
      _ = try reader.changes(in: db)
      reader.commit()
      try reader.outline(OutlineExaminer.trees(in: db), in: db)
      return try Examiner(db)
    }
  }

  func step() throws {
    for _ in 0..<random.number(1...random.pick([1, 2, 6, 40])) { try writeTransaction() }
    try holdLog()
    try look()
  }

  private func writeTransaction() throws {
    let statements = sql.transaction()
    history.append(statements.joined(separator: ";\n") + ";")
    if history.count > 40 { history.removeFirst() }
    try writer.inDatabase { db in
      for statement in statements {
        do {
          _ = try Row.fetchAll(db, sql: statement)
        } catch is DatabaseError {
          // Constraints, tables that are not there, locks; see RandomSQL.
        }
      }
      if db.isInsideTransaction { try? db.execute(sql: "ROLLBACK") }
    }
    commits += 1
  }

  /// Now and then another connection's transaction keeps the log from being begun anew.
  private func holdLog() throws {
    guard layout.journalMode == "wal" else { return }
    if longReaderStepsLeft > 0 {
      longReaderStepsLeft -= 1
      if longReaderStepsLeft == 0 { try longReader.inDatabase { try $0.execute(sql: "COMMIT") } }
    } else if random.once(in: 20) {
      longReaderStepsLeft = random.number(1...10)
      try longReader.inDatabase { db in
        try db.execute(sql: "BEGIN")
        _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM player")
      }
    }
  }

  private func look() throws {
    // Now and then the owner fails to bring itself up to date.
    let isCommitted = !random.once(in: 10)
    let readsFirst = random.once(in: 20)
    let follows = random.once(in: 25)
    try connection.read { db in
      if readsFirst {
        _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM tiny")
        // The reader must find out that these are behind the snapshot.
        if layout.journalMode == "wal" {
          for _ in 0..<random.number(0...3) { try writeTransaction() }
        }
      }
      let isComplete = !reader.hasUnreadRows
      if !isComplete { incompleteLooks += 1 }
      let changes = try reader.changes(in: db)
      if random.once(in: 10), try reader.changes(in: db) != changes {
        throw Examiner.Miss(description: "a second look at the same snapshot differs")
      }
      let isExact = isComplete && reader.carried.isNothing && !wasCarried
      try examiner.examine(
        changes, try Contents(of: db), isCommitted: isCommitted, isExact: isExact)
      if isCommitted { reader.commit() }
      try outlines.examine(reader, in: db, &random)
      wasCarried = !reader.carried.isNothing || !isCommitted
      if follows { try followOthers(in: db) }
      if random.once(in: 3) { _ = try reader.readRowsAhead(atMost: random.number(1...9), in: db) }
      if random.once(in: 4) { try reader.checkInvariants(in: db) }
    }
  }

  private func followOthers(in db: Database) throws {
    let all = RandomSQL.rowidTables + RandomSQL.otherTables
    try reader.follow(Set(all.filter { _ in !random.once(in: 3) }), in: db)
  }

  /// Everything that it takes to see it again.
  func trace(step: Int, seed: UInt64, _ error: any Error) -> String {
    """
    \(error)
    \(layout), step \(step); replay with DIDCHANGE_SEED=\(RandomSource.seed)
    \(history.joined(separator: "\n"))
    """
  }
}

extension RandomSource {
  /// Another one for each layout, but always the same one.
  static func seed(_ layout: StressRun.Layout) -> UInt64 {
    var random = RandomSource(seed: seed)
    for _ in 0...(layout.pageSize / 512 + layout.autoVacuum) { _ = random.next() }
    return random.next()
  }
}
