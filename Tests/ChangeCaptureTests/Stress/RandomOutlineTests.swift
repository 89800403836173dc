import GRDB
import TestSupport
import Testing

@testable import ChangeCapture

/// Random commits to b-trees that are several levels high, and whether their outlines hold.
///
/// `DIDCHANGE_STEPS` is ten times the number of looks for each page size, `DIDCHANGE_SEED` replays a run.
@Suite struct `Random outlines` {
  static let steps = RandomSource.number("DIDCHANGE_STEPS").map { $0 / 10 } ?? 150

  @Test(arguments: [512, 1024, 4096], [0, 1, 2])
  func `are as the b-trees are`(_ pageSize: Int, _ autoVacuum: Int) throws {
    let run = try OutlineRun(pageSize: pageSize, autoVacuum: autoVacuum)
    for step in 0..<Self.steps {
      do { try run.step() } catch {
        Issue.record("\(error), step \(step), \(pageSize), \(autoVacuum), \(RandomSource.seed)")
        return
      }
    }
    print("page size \(pageSize), auto_vacuum \(autoVacuum): \(run.summary)")
    #expect(run.heights.max() ?? 0 >= (pageSize == 4096 ? 1 : 2))
  }
}

private final class OutlineRun {
  private let folder: TemporaryFolder
  private let writer: DatabaseQueue
  private let connection: DatabaseQueue
  private let reader = ChangeReader()
  private var random: RandomSource
  private var outlines = OutlineExaminer()
  private var isReadingAhead = false
  private var commits = 0
  private var splits = 0
  private(set) var heights: Set<Int> = []

  var summary: String {
    """
    \(commits) transactions, \(splits) looks with other interior pages, heights \
    \(heights.sorted()); \(outlines.summary); \
    \(reader.statistics.fallbacks.sorted { $0.key < $1.key })
    """
  }

  init(pageSize: Int, autoVacuum: Int) throws {
    folder = try TemporaryFolder()
    random = RandomSource(seed: RandomSource.seed ^ UInt64(pageSize + autoVacuum))
    writer = try DatabaseQueue(path: folder.file())
    try writer.writeWithoutTransaction { db in
      for sql in [
        "PRAGMA page_size = \(pageSize)", "PRAGMA auto_vacuum = \(autoVacuum)",
        "PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF",
        "PRAGMA wal_autocheckpoint = 2000",
        "CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT, number)",
        "CREATE INDEX item_text ON item (text)",
        "CREATE INDEX item_number ON item (number DESC, text)",
      ] { _ = try Row.fetchAll(db, sql: sql) }
    }
    var configuration = Configuration()
    configuration.readonly = true
    connection = try DatabaseQueue(path: folder.file(), configuration: configuration)
    try connection.read { [reader] db in
      _ = try reader.changes(in: db)
      reader.commit()
      try reader.outline(OutlineExaminer.trees(in: db), in: db)
    }
  }

  func step() throws {
    for _ in 0..<random.number(1...random.pick([1, 1, 4])) {
      let statements = (0..<random.number(1...random.pick([1, 3]))).map { _ in change() }
      try writer.write { db in
        for statement in statements { try db.execute(sql: statement) }
      }
      commits += 1
    }
    if random.once(in: 10) {
      try writer.writeWithoutTransaction { db in
        _ = try Row.fetchAll(db, sql: "PRAGMA incremental_vacuum(\(random.number(1...60)))")
      }
    }
    try connection.read { db in
      let old = reader.map?.pages.interior.mapValues(\.children)
      _ = try reader.changes(in: db)
      reader.commit()
      if let pages = reader.map?.pages {
        if pages.interior.mapValues(\.children) != old { splits += 1 }
        heights.formUnion(pages.interior.values.map(\.height))
      }
      try readAhead(in: db)
      if !isReadingAhead, random.once(in: 3) { try outlines.examine(reader, in: db, &random) }
      try reader.checkInvariants(in: db)
    }
  }

  /// Lets go of the outlines now and then, and makes them anew from what is read beforehand.
  private func readAhead(in db: Database) throws {
    if !isReadingAhead, random.once(in: 10) {
      try reader.outline([], in: db)
      isReadingAhead = true
    }
    guard isReadingAhead else { return }
    let trees = try OutlineExaminer.trees(in: db)
    for tree in trees where random.once(in: 2) {
      _ = try reader.readAhead(tree, atMost: random.number(1...random.pick([5, 500])), in: db)
    }
    guard random.once(in: 4) else { return }
    try reader.outline(trees, in: db)
    isReadingAhead = false
  }

  private func change() -> String {
    let first = random.number(1...random.pick([50, 5000, 9_000_000]))
    let count = random.number(1...random.pick([1, 1, 10, 600]))
    return switch random.number(0...11) {
    case 0...4:
      """
      INSERT OR REPLACE INTO item WITH RECURSIVE c(n) AS (SELECT \(first) UNION ALL SELECT n + 1
      FROM c WHERE n < \(first + count - 1)) SELECT n, \(text("n")), n % \(random.number(1...40)) FROM c
      """
    case 5:
      "INSERT INTO item (text, number) VALUES (\(text("\(first)")), \(random.number(0...9)))"
    case 6: "UPDATE item SET text = \(text("id")) WHERE id BETWEEN \(first) AND \(first + count)"
    case 7: "UPDATE item SET number = number + 1 WHERE id % 97 = \(first % 97)"
    case 8: "DELETE FROM item WHERE id BETWEEN \(first) AND \(first + count)"
    case 9: "DELETE FROM item WHERE id % \(random.number(3...50)) = 1"
    case 10: "DELETE FROM item WHERE id \(random.once(in: 8) ? ">" : "=") \(first)"
    default: random.once(in: 40) ? "DELETE FROM item" : "UPDATE item SET number = id WHERE id < 30"
    }
  }

  /// Mostly short, so that pages hold many; else so long that there is an overflow.
  private func text(_ number: String) -> String {
    let length = random.pick([3, 8, 8, 20, 90, 700])
    let (factor, size) = (random.number(1...100_000), random.pick([10, 100_000]))
    return "printf('%0\(length)d', \(number) * \(factor) % \(size))"
  }
}
