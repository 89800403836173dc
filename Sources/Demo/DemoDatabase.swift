import Foundation
import GRDB
package import Logging
import SeededRandom

/// A small league in a temporary folder that plays by itself, so that there is something to watch.
///
/// It is an ordinary WAL database: `sqlite3` and every other program can change it too.
package final class DemoDatabase: Sendable {
  package let path: String
  private let folder: URL
  private let writer: DemoWriter

  /// Makes the database, which the same seed fills with the same league.
  package init(seed: UInt64 = 7) throws {
    let name = "didchange-demo-\(UUID().uuidString.prefix(8).lowercased())"
    folder = FileManager.default.temporaryDirectory.appending(
      path: name, directoryHint: .isDirectory)
    // Nobody else's business: temporary folders are shared.
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    path = folder.appending(path: "league.sqlite").path
    do {
      var configuration = GRDB.Configuration()
      configuration.journalMode = .wal
      // A visitor at the sqlite3 prompt may hold the lock for a moment.
      configuration.busyMode = .timeout(5)
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      var season = DemoSeason(generator: SeededGenerator(seed: seed))
      try queue.write { database in try season.begin(database) }
      writer = DemoWriter(queue: queue, season: season)
    } catch {
      try? FileManager.default.removeItem(at: folder)
      throw error
    }
  }

  /// Changes the database from now on, a few times a second, from a connection of its own.
  package func startWriting(logger: Logger) {
    writer.start(logger: logger)
  }

  /// Stops the changes and takes the files away: waits for a transaction that is under way.
  package func remove() {
    writer.stop()
    try? FileManager.default.removeItem(at: folder)
  }
}
