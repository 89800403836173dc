import Dispatch
import FetchedRecords
import Foundation
import GRDB
import Locks
import TestSupport
import Testing

@testable import RecordsAPI

/// The table `t` of a database in a temporary folder, as a live feed.
final class FeedFixture {
  let feed: Feed
  let registry: FeedRegistry
  private let writer: DatabaseQueue
  private let folder: TemporaryFolder

  init(_ schema: String) throws {
    folder = try TemporaryFolder()
    let path = folder.file()
    writer = try DatabaseQueue(path: path)
    try writer.write { try $0.execute(sql: schema) }
    registry = FeedRegistry(
      refresher: try Refresher(path: path, queries: .everyTable()), settings: FeedSettings())
    let opened = Mutex<Result<Feed, FetchFailure>?>(nil)
    registry.acquire(FeedKey(query: "t", arguments: [:])) { result in
      opened.withLock { $0 = result }
    }
    registry.refresher.settle()
    feed = try #require(try opened.withLock { try $0?.get() })
  }

  /// Commits, and waits until the feed has shown it.
  func commit(_ sql: String) throws {
    try writer.write { try $0.execute(sql: sql) }
    registry.refresher.refresh()
    registry.refresher.settle()
  }
}

extension Refresher {
  /// Waits until everything shows the present.
  func settle() {
    while !queue.sync({ isSettled }) { usleep(100) }
  }
}
