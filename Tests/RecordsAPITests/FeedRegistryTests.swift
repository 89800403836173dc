import Dispatch
import FetchedRecords
import Foundation
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

  /// A window and a pace, so that it is no plain feed.
  private static func composition(_ number: Int) -> Composition {
    let key = FeedKey(query: "player", arguments: [:])
    return Composition(
      members: [.init(key: key, window: nil)], minimumInterval: .milliseconds(number),
      isMultiple: false)
  }

  /// Who is answered while others end.
  @Test func `keeps no composition of a feed that has ended`() throws {
    let isOver = Atomic(false)
    let group = DispatchGroup()
    for thread in 0..<2 {
      DispatchQueue.global().async(group: group) { [registry] in
        var number = thread * 150
        while !isOver.load(ordering: .relaxed) {
          number += 1
          _ = registry.acquire(Self.composition(number % 300)) { result in
            if case .success(let feed) = result { registry.release(feed) }
          }
        }
      }
    }
    for _ in 0..<30 {
      while registry.compositions.live.count < 100 { sched_yield() }
      registry.end { _ in true }
      let compositions = registry.compositions.live.map(\.value)
      let present = registry.feeds.live.map { ObjectIdentifier($0.value) }
      for feed in compositions.flatMap(\.feeds) {
        #expect(present.contains(ObjectIdentifier(feed)))
      }
    }
    isOver.store(true, ordering: .relaxed)
    group.wait()
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
