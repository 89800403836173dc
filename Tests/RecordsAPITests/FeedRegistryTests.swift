import Dispatch
import FetchedRecords
import GRDB
import Locks
import TestSupport
import Testing

@testable import RecordsAPI

@Suite struct `A registry of feeds` {
  private let folder: TemporaryFolder
  private let writer: DatabaseQueue
  private let refresher: Refresher
  private let registry: FeedRegistry

  init() throws {
    folder = try TemporaryFolder()
    let path = folder.file("test.sqlite")
    writer = try DatabaseQueue(path: path)
    try writer.writeWithoutTransaction { db in
      try db.execute(
        sql: """
          PRAGMA journal_mode = WAL;
          CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT);
          INSERT INTO player VALUES (1, 'Ada'), (2, 'Bob');
          """)
    }
    refresher = try Refresher(path: path, queries: .everyTable())
    var settings = FeedSettings()
    settings.linger = .zero
    registry = FeedRegistry(refresher: refresher, settings: settings)
  }

  private func acquire() throws -> Feed {
    let opened = Mutex<Result<Feed, FetchFailure>?>(nil)
    registry.acquire(FeedKey(query: "player", arguments: [:])) { result in
      opened.withLock { $0 = result }
    }
    refresher.settle()
    return try #require(try opened.withLock { try $0?.get() })
  }

  @Test func `lets go of a feed that nobody uses`() throws {
    weak var feed: Feed?
    do {
      let acquired = try acquire()
      feed = acquired
      registry.release(acquired)
    }
    #expect(feed != nil)
    registry.sweep()
    // The controller is closed on the refresher's queue.
    refresher.settle()
    #expect(feed == nil)
  }
}
