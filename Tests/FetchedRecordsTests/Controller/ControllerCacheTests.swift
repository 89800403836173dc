import Dispatch
import Foundation
import GRDB
import OrderedResults
import TestSupport
import Testing

@testable import FetchedRecords

private let byName = Player.order(Column("name"), Column("id"))

@Suite struct `A cache` {
  /// Fetches with a controller of its own; returns the records' names and whether the cache held.
  private func fetch(
    _ world: ControllerWorld, _ request: QueryInterfaceRequest<Player> = byName,
    section: String? = "team", cacheName: String? = "players"
  ) throws -> (names: [String], wasCached: Bool) {
    let controller = try FetchedRecordsController(
      world.writer, request: request, sectionName: section.map { Column($0) },
      cacheName: cacheName, queue: world.queue)
    let hits = controller.core.engine.statistics.cacheHits
    try world.onQueue { try controller.performFetch() }
    let result = (
      controller.fetchedRecords.map(\.name), controller.core.engine.statistics.cacheHits > hits
    )
    ResultsCache.queue.sync {}
    return result
  }

  private func files(_ world: ControllerWorld) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: world.folder.path)
      .filter { $0.contains("-fetched-") }.sorted()
  }

  @Test(arguments: Storage.files)
  func `spares a fetch where nothing was written since`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    #expect(try fetch(world).wasCached == false)
    let again = try fetch(world)
    #expect(again.names == ["Ada", "Barbara", "Cleo"])
    #expect(again.wasCached)
    #expect(try files(world) == ["test.sqlite-fetched-players"])
  }

  @Test(arguments: Storage.files)
  func `that is stale costs a fetch, whoever wrote`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    _ = try fetch(world)
    try world.write("UPDATE player SET name = 'Abe' WHERE id = 2")
    var result = try fetch(world)
    #expect(result.names == ["Abe", "Ada", "Cleo"])
    #expect(!result.wasCached)
    let other = try DatabaseQueue(path: world.path, configuration: world.writer.configuration)
    try other.write { try $0.execute(sql: "UPDATE player SET name = 'Bob' WHERE id = 2") }
    result = try fetch(world)
    #expect(result.names == ["Ada", "Bob", "Cleo"])
    #expect(!result.wasCached)
    #expect(try fetch(world).wasCached)
  }

  @Test func `is of one query, its arguments, its sections and its schema`() throws {
    let world = try ControllerWorld(.rollbackQueue)
    let requests: [(QueryInterfaceRequest<Player>, String?)] = [
      (byName.filter(Column("score") < 5), "team"), (byName.filter(Column("score") < 6), "team"),
      (byName.filter(Column("score") < 6), nil), (byName.filter(Column("score") < 6), "score"),
    ]
    for (request, section) in requests {
      #expect(try fetch(world, request, section: section).wasCached == false)
      #expect(try fetch(world, request, section: section).wasCached)
    }
    try world.write("CREATE INDEX byTeam ON player (team)")
    #expect(try fetch(world, requests[3].0, section: requests[3].1).wasCached == false)
  }

  @Test func `that is damaged costs a fetch, wherever the damage is`() throws {
    let world = try ControllerWorld(.rollbackQueue)
    _ = try fetch(world)
    let url = CacheFile(name: "players", databasePath: world.path).url
    let whole = try Data(contentsOf: url)
    #expect(try fetch(world).wasCached)
    for position in whole.indices where position % 41 == 0 || position > whole.count - 40 {
      var damaged = whole
      damaged[position] ^= 0x55
      try damaged.write(to: url)
      let result = try fetch(world)
      #expect(result.names == ["Ada", "Barbara", "Cleo"])
      #expect(!result.wasCached)
    }
    for count in stride(from: 0, to: whole.count, by: 101) {
      try whole.prefix(count).write(to: url)
      #expect(try fetch(world).wasCached == false)
    }
    try (whole + Data([0])).write(to: url)
    #expect(try fetch(world).wasCached == false)
    #expect(try fetch(world).wasCached)
  }

  @Test func `of many arguments is bounded, and the oldest go first`() throws {
    let world = try ControllerWorld(.rollbackQueue)
    func file(_ variant: String?, of name: String = "some") -> CacheFile {
      CacheFile(name: name, variant: variant, databasePath: world.path)
    }
    func make(_ file: CacheFile, age: Int, size: Int = 100) throws {
      try Data(count: size).write(to: file.url)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: Double(-age))],
        ofItemAtPath: file.url.path)
    }
    let others = [
      file(nil), file("x", of: "some-1"), file("x", of: "som"), file(nil, of: "some.x"),
    ]
    for other in others { try make(other, age: 9999) }
    func kept() -> [String] {
      (1...6).map(String.init).filter {
        FileManager.default.fileExists(atPath: file($0).url.path)
      }
    }
    for age in 1...6 { try make(file("\(age)"), age: age) }
    file("5").deleteOldest(maximumCount: 4, maximumBytes: 1000)
    #expect(kept() == ["1", "2", "3", "5"])
    file("1").deleteOldest(maximumCount: 4, maximumBytes: 250)
    #expect(kept() == ["1", "2"])
    try make(file("3"), age: 0, size: 5000)
    file("3").deleteOldest(maximumCount: 4, maximumBytes: 250)
    #expect(kept() == ["3"])
    file(nil).deleteOldest(maximumCount: 0, maximumBytes: 0)
    for other in others { #expect(FileManager.default.fileExists(atPath: other.url.path)) }
  }

  @Test func `that nobody can write is none`() throws {
    let world = try ControllerWorld(.rollbackQueue)
    try FileManager.default.createDirectory(
      at: CacheFile(name: "players", databasePath: world.path).url,
      withIntermediateDirectories: true)
    #expect(try fetch(world).names.count == 3)
    #expect(try fetch(world).wasCached == false)
  }

  @Test func `is deleted by name, or with all others`() throws {
    let world = try ControllerWorld(.rollbackQueue)
    for name in ["a", "b/..%", "é"] { _ = try fetch(world, cacheName: name) }
    #expect(
      try files(world) == [
        "test.sqlite-fetched-%c3%a9", "test.sqlite-fetched-a", "test.sqlite-fetched-b%2f%2e%2e%25",
      ])
    try FetchedRecordsController<Player>.deleteCache(withName: "b/..%", of: world.writer)
    #expect(try files(world).count == 2)
    try FetchedRecordsController<Player>.deleteCache(withName: nil, of: world.writer)
    #expect(try files(world).isEmpty)
    #expect(try fetch(world).names.count == 3)
  }

  @Test(arguments: Storage.files)
  func `has what changed while it was tracked`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let keeper = try world.controller(byName)
    do {
      let controller = try FetchedRecordsController(
        world.writer, request: byName, sectionName: Column("team"), cacheName: "players",
        queue: world.queue)
      _ = try world.follow(controller)
      try world.write("DELETE FROM player WHERE id = 2", settling: controller)
    }
    world.settle(keeper)
    ResultsCache.queue.sync {}
    let result = try fetch(world)
    #expect(result.names == ["Ada", "Cleo"])
    #expect(result.wasCached)
  }

  @Test func `is not made of what depends on more than the database`() throws {
    let world = try ControllerWorld(.rollbackQueue)
    for sql in [
      "SELECT *, random() AS r FROM player", "SELECT *, datetime('now') AS t FROM player",
      "SELECT *, CURRENT_TIMESTAMP AS t FROM player",
      "SELECT * FROM player ORDER BY name COLLATE swiftLocalizedCompare",
    ] {
      let controller = try FetchedRecordsController<Player>(
        world.writer, sql: sql, cacheName: "odd", queue: world.queue)
      try world.onQueue { try controller.performFetch() }
      ResultsCache.queue.sync {}
      #expect(try files(world).isEmpty, "\(sql)")
    }
  }

  @Test func `of a database in memory is none`() throws {
    let world = try ControllerWorld(.memory)
    #expect(try fetch(world).names.count == 3)
    #expect(try fetch(world).wasCached == false)
  }
}
