import Dispatch
import TestSupport
import Testing

@testable import ChangeCapture

/// Commits of other processes, in each of the journal modes; and what is none.
@Suite struct CommitTests {
  let folder: TemporaryFolder
  let writer: ForeignWriter

  init() throws {
    folder = try TemporaryFolder()
    writer = try ForeignWriter(folder.file())
  }

  private func prepare(_ mode: String) throws {
    try writer.execute("PRAGMA journal_mode = \(mode)")
    try writer.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT)")
  }

  @Test(arguments: ["WAL", "DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF"])
  func `a commit of another process is one event, and visible in its callback`(
    _ mode: String
  ) async throws {
    try prepare(mode)
    let owner = try Owner(folder.file())
    for id in 1...5 {
      try writer.execute("INSERT INTO item (id) VALUES (\(id))")
      try await owner.sees(id)
    }
    #expect(owner.events == Array(repeating: .committed, count: 5))
    #expect(
      owner.watcher.status.journalMode == (mode == "WAL" ? .writeAheadLog : .rollbackJournal))
  }

  @Test(arguments: ["WAL", "DELETE", "TRUNCATE", "PERSIST"])
  func `what is rolled back is no event`(_ mode: String) async throws {
    try prepare(mode)
    let owner = try Owner(folder.file())
    // So large that the cache spills into the file or the log before the end.
    try writer.execute("PRAGMA cache_size = 5")
    try writer.execute("BEGIN")
    try writer.execute("repeat 200 INSERT INTO item VALUES (100 + ?, hex(randomblob(1000)))")
    try writer.execute("ROLLBACK")
    try writer.execute("BEGIN IMMEDIATE")
    try writer.execute("ROLLBACK")
    try writer.execute("INSERT INTO item (id) VALUES (1)")
    try await owner.sees(1)
    #expect(owner.events == [.committed])
  }

  @Test(arguments: ["DELETE", "PERSIST"])
  func `a lock that lasts is one event, and what was committed under it another`(
    _ mode: String
  ) async throws {
    try prepare(mode)
    let owner = try Owner(folder.file(), lockTimeout: 0.01)
    try writer.execute("BEGIN EXCLUSIVE")
    try writer.execute("INSERT INTO item (id) VALUES (1)")
    try await owner.waits("the lock") { !$0.isEmpty }
    // As long again, in which it is not told again.
    let looks = owner.watcher.status.statistics.busyLooks
    try await owner.waits("more looks") { _ in
      owner.watcher.status.statistics.busyLooks > looks + 1
    }
    try writer.execute("COMMIT")
    try await owner.sees(1)
    #expect(owner.events == [.locked, .committed])
  }

  @Test(arguments: ["PASSIVE", "FULL", "RESTART", "TRUNCATE"])
  func `a checkpoint is no event, only a new beginning of the log may be`(
    _ kind: String
  ) async throws {
    try prepare("WAL")
    try writer.execute("PRAGMA wal_autocheckpoint = 0")
    try writer.execute("repeat 100 INSERT INTO item VALUES (-1 - ?, hex(randomblob(1000)))")
    let beginsAnew = ["RESTART", "TRUNCATE"].contains(kind)
    let reader = try ForeignWriter(folder.file())
    if !beginsAnew {
      // Its snapshot is the log's, so that the sentinel cannot overwrite it.
      try reader.execute("BEGIN")
      try reader.execute("SELECT count(*) FROM item")
    }
    let owner = try Owner(folder.file())
    try writer.execute("PRAGMA wal_checkpoint(\(kind))")
    try writer.execute("INSERT INTO item (id) VALUES (1)")
    try await owner.sees(1)
    if beginsAnew {
      #expect(Set(owner.events.map { "\($0)" }).count == 1)
    } else {
      #expect(owner.events == [.committed])
    }
  }

  @Test func `a reader is no event`() async throws {
    try prepare("WAL")
    let owner = try Owner(folder.file())
    let reader = try ForeignWriter(folder.file())
    try reader.execute("SELECT * FROM item")
    try writer.execute("INSERT INTO item (id) VALUES (1)")
    try await owner.sees(1)
    #expect(owner.events == [.committed])
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `VACUUM is a commit`(_ mode: String) async throws {
    try prepare(mode)
    try writer.execute("repeat 100 INSERT INTO item VALUES (-1 - ?, hex(randomblob(1000)))")
    let owner = try Owner(folder.file())
    try writer.execute("VACUUM")
    try await owner.waits("VACUUM") { !$0.isEmpty }
    try writer.execute("INSERT INTO item (id) VALUES (1)")
    try await owner.sees(1)
    #expect(Set(owner.events.map { "\($0)" }).count == 1)
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `a burst of commits is joined, and the last one is seen`(_ mode: String) async throws {
    try prepare(mode)
    // Durability would only make the burst a slow one.
    try writer.execute("PRAGMA synchronous = OFF")
    let gate = DispatchSemaphore(value: 0)
    let owner = try Owner(folder.file()) { gate.wait() }
    try writer.execute("repeat 1000 INSERT INTO item (id) VALUES (1 + ?)")
    // The first callback has begun at some commit and waits; all others have to share the next.
    gate.signal()
    gate.signal()
    try await owner.sees(1000)
    gate.signal()
    #expect((1...3).contains(owner.events.count))
  }

  @Test func `many bursts, and none ends unseen`() async throws {
    try prepare("WAL")
    try writer.execute("PRAGMA synchronous = OFF")
    let owner = try Owner(folder.file())
    for burst in 1...50 {
      try writer.execute("repeat 20 INSERT INTO item (id) VALUES (\(burst * 20 - 19) + ?)")
      try await owner.sees(burst * 20)
    }
    #expect(owner.events.count <= 1000)
    print("many bursts:", owner.watcher.status.statistics)
  }

  @Test func `without notifications the poll finds every commit`() async throws {
    try prepare("WAL")
    let owner = try Owner(
      folder.file(), settings: .init(pollInterval: .milliseconds(5), usesNotifications: false))
    for id in 1...5 {
      try writer.execute("INSERT INTO item (id) VALUES (\(id))")
      try await owner.sees(id)
    }
    #expect(owner.watcher.status.statistics.commitsFoundByPoll == 5)
    #expect(owner.watcher.status.notificationTrouble != nil)
  }

  @Test func `a database that enters write-ahead mode is noticed`() async throws {
    try prepare("DELETE")
    let owner = try Owner(folder.file())
    try writer.execute("PRAGMA journal_mode = WAL")
    try writer.execute("INSERT INTO item (id) VALUES (1)")
    try await owner.sees(1)
    try await owner.waits("the mode") { _ in
      owner.watcher.status.journalMode == .writeAheadLog
    }
  }

  @Test func `several watchers of one database in one process do not disturb each other`()
    async throws
  {
    try prepare("DELETE")
    let owners = try (0..<4).map { _ in try Owner(folder.file()) }
    owners[0].watcher.stop()
    for id in 1...20 {
      try writer.execute("INSERT INTO item (id) VALUES (\(id))")
      for owner in owners[1...] { try await owner.sees(id) }
    }
    #expect(owners[0].events.isEmpty)
  }

  @Test func `no callback begins after the stop`() throws {
    try prepare("WAL")
    let queue = DispatchQueue(label: "stopped")
    let watcher = DatabaseWatcher(path: folder.file(), queue: queue) { _ in
      Issue.record("a callback after the stop")
      return nil
    }
    try watcher.start()
    queue.suspend()
    try writer.execute("INSERT INTO item (id) VALUES (1)")
    watcher.stop()
    watcher.stop()
    queue.resume()
    queue.sync {}
  }
}
