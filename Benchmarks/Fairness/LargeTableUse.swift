import Foundation
import GRDB
import Locks

/// Somebody who uses a large table of the same database, one after the other in the ways that take
/// as long as it is large, if they are not done beside or a little at a time.
final class LargeTableUse: Sendable {
  static let rows = 3_000_000

  static let queries = """
    firstOfLarge: {sql: "SELECT id, text FROM large WHERE id < 20"}
    countedLarge:
      sql: SELECT id, text FROM large WHERE id = :n
      parameters: {n: {type: integer}}
      alongside: {count: SELECT count(*) FROM large}
    allOfLarge: {sql: "SELECT id, text FROM large ORDER BY id"}
    half: {sql: "SELECT id, text FROM large WHERE id <= 500000 ORDER BY id"}
    """

  private let isOver = Mutex(false)
  private let drain = Drain()
  private let steps: [Step]

  /// Makes the table.
  init(_ database: SampleDatabase, _ steps: [Step]) throws {
    self.steps = steps
    try database.write(
      """
      CREATE TABLE large (id INTEGER PRIMARY KEY, text TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.rows))
      INSERT INTO large SELECT i, printf('%060d', i) FROM n
      """)
    try database.writer.writeWithoutTransaction { db in
      _ = try Row.fetchAll(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }

  /// Uses it, over and over, until ``end()``.
  func begin(path: String, port: UInt16) throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(30)
    let writer = try DatabaseQueue(path: path, configuration: configuration)
    Thread.detachNewThread { [self] in
      var round = 0
      while !isOver.withLock(\.self) {
        round += 1
        for step in steps where !isOver.withLock(\.self) {
          do {
            try use(step, round, writer, port)
          } catch  where !isOver.withLock(\.self) {
            print("\(step): \(error)")
          } catch {
            // The server has ended.
          }
          Thread.sleep(forTimeInterval: 0.2)
        }
      }
    }
  }

  func end() { isOver.withLock { $0 = true } }

  /// What is done with it.
  enum Step {
    case first, count, page, window, list, commitOfMany, checkpoint, schema

    static let all: [Step] = [.first, .count, .page, .window, .list, .commitOfMany, .checkpoint]
  }

  private func use(_ step: Step, _ round: Int, _ writer: DatabaseQueue, _ port: UInt16) throws {
    func get(_ path: String) throws { _ = try EventSocket.get(path, port: port) }
    func follow(_ path: String) throws { drain.add(try EventSocket.ask(path, port: port, from: 1)) }
    func write(_ sql: String) throws {
      try writer.writeWithoutTransaction { _ = try Row.fetchAll($0, sql: sql) }
    }
    switch step {
    case .first: try get("/v1/queries/firstOfLarge/records")
    case .count: try get("/v1/queries/countedLarge/records?n=\(round)")
    case .page: try get("/v1/queries/allOfLarge/records?limit=100&offset=\(2_000_000 + round)")
    case .window: try follow("/v1/queries/allOfLarge/events?offset=\(1_000_000 + round)&limit=50")
    case .list: if round == 1 { try follow("/v1/queries/half/events?snapshot=false") }
    case .commitOfMany:
      let first = round % 10 * 50_000
      try write(
        "UPDATE large SET text = \(round) || text WHERE id BETWEEN \(first) AND \(first + 50_000)")
    case .schema:
      try write("CREATE TABLE IF NOT EXISTS other (id)")
      try write("DROP TABLE other")
    case .checkpoint: try write("PRAGMA wal_checkpoint(TRUNCATE)")
    }
  }
}
