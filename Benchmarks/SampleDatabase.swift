import Foundation
import GRDB

/// A record of ``SampleDatabase``.
struct Player: Codable, FetchableRecord, TableRecord, Sendable {
  var id: Int64
  var name: String
  var team: String
  var score: Int
  var email: String
}

/// A table of players in a temporary folder, which goes when the value does.
final class SampleDatabase {
  let writer: DatabaseQueue
  private let folder: URL

  var path: String { writer.path }
  private var score = 1_000_000

  /// A score that no row has had: to write it is a change.
  func nextScore() -> Int {
    score += 1
    return score
  }

  init(rows: Int) throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "didchange-benchmark-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var configuration = Configuration()
    configuration.busyMode = .timeout(60)
    writer = try DatabaseQueue(
      path: folder.appending(path: "players.sqlite").path, configuration: configuration)
    try writer.writeWithoutTransaction { db in
      try db.execute(
        sql: """
          PRAGMA journal_mode = WAL;
          PRAGMA synchronous = NORMAL;
          CREATE TABLE player (
            id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER, email TEXT);
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
          INSERT INTO player
          SELECT i, printf('Player %07d', (i * 7919) % 10000019), 'Team ' || (i % 40), i * 31 % 1000,
            printf('player%d@example.com', i) FROM n;
          CREATE INDEX playerByName ON player(name);
          """)
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func write(_ sql: String) throws { try writer.write { try $0.execute(sql: sql) } }
}
