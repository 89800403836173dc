import Dispatch
import Foundation
import GRDB
import Locks
import TestSupport
import Testing

@testable import ChangeCapture

/// Another file at the path, none, or one that is no database.
@Suite struct FileChangeTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @discardableResult
  private func make(_ path: String, greatest id: Int, mode: String = "DELETE") throws
    -> ForeignWriter
  {
    let writer = try ForeignWriter(path)
    try writer.execute("PRAGMA journal_mode = \(mode)")
    try writer.execute("CREATE TABLE item (id INTEGER PRIMARY KEY)")
    try writer.execute("INSERT INTO item VALUES (\(id))")
    return writer
  }

  private func move(_ from: String, to: String) throws {
    guard rename(from, to) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  @Test(arguments: ["DELETE", "WAL"])
  func `a file replaced by another is an event, and so are the commits to the new one`(
    _ mode: String
  ) async throws {
    // Closed before it is moved, so that it is whole without its log.
    try make(folder.file("new.db"), greatest: 2, mode: mode)
    try make(folder.file(), greatest: 1, mode: "DELETE")
    let owner = try Owner(folder.file())
    try move(folder.file("new.db"), to: folder.file())
    try await owner.sees(2)
    #expect(owner.events == [.replaced])
    try ForeignWriter(folder.file()).execute("INSERT INTO item VALUES (3)")
    try await owner.sees(3)
    #expect(owner.events == [.replaced, .committed])
  }

  @Test func `a file that is removed and restored is two events`() async throws {
    try make(folder.file(), greatest: 1)
    let owner = try Owner(folder.file())
    try move(folder.file(), to: folder.file("away.db"))
    try await owner.waits("the loss") { $0.last?.event == .removed }
    try move(folder.file("away.db"), to: folder.file())
    try await owner.sees(1)
    #expect(owner.events == [.removed, .restored])
    try ForeignWriter(folder.file()).execute("INSERT INTO item VALUES (2)")
    try await owner.sees(2)
  }

  @Test func `a file that cannot be reached is not taken for one that is gone`() async throws {
    try make(folder.file(), greatest: 1)
    let owner = try Owner(folder.file())
    try move(folder.file(), to: folder.file("away.db"))
    try #require(symlink(folder.file(), folder.file()) == 0)
    try await owner.waits("the obstacle") { events in
      guard case .unreadable(let error)? = events.last?.event else { return false }
      return error.advice.contains("may not be reached")
    }
    try move(folder.file("away.db"), to: folder.file())
    try await owner.sees(1)
  }

  /// To open it would wait for somebody who writes it.
  @Test(arguments: ["", "-wal"])
  func `a pipe is no database, nor a log`(ending: String) async throws {
    try make(folder.file(), greatest: 1)
    let owner = try Owner(folder.file())
    try move(folder.file(), to: folder.file("away.db"))
    try #require(mkfifo(folder.file() + ending, 0o600) == 0)
    if !ending.isEmpty { try Data("SQLite".utf8).write(to: URL(fileURLWithPath: folder.file())) }
    try await owner.waits("the pipe") { events in
      guard case .unreadable(let error)? = events.last?.event else { return false }
      return error.message.contains("a pipe")
    }
    try #require(unlink(folder.file() + ending) == 0)
    try move(folder.file("away.db"), to: folder.file())
    try await owner.sees(1)
  }

  /// Else the thread would run without an end.
  @Test func `without a file nothing is waited for but the next poll`() throws {
    try make(folder.file(), greatest: 1, mode: "WAL")
    let events = Mutex<[WatchEvent]>([])
    let core = WatcherCore(
      path: folder.file(), queue: DispatchQueue(label: "owner"),
      settings: .init(pollInterval: .milliseconds(20)), letGo: {}
    ) { event in
      events.withLock { $0.append(event) }
      return nil
    }
    let started = core.executor.sync {
      core.assumeIsolated { core in
        Result { () throws(DatabaseAccessError) in try core.start() }
      }
    }
    try started.get()
    defer {
      core.isStopped.store(true, ordering: .releasing)
      _ = core.takeTurn()
    }
    try FileManager.default.removeItem(atPath: folder.file())
    while events.withLock({ $0.last }) != .removed { _ = try #require(core.takeTurn()) }
    // Whatever was to come soon after the event is due by then.
    let due = ContinuousClock.now + LookSchedule.firstLookAfterReport
    while ContinuousClock.now <= due {}
    let start = ContinuousClock.now
    guard case .notification(let next) = try #require(core.takeTurn()).wait else {
      Issue.record("a pause")
      return
    }
    #expect(next > start)
  }

  /// A log that begins anew accounts for no write to the file.
  @Test func `a file that is cut right after its log began anew is opened anew`() async throws {
    let writer = try make(folder.file(), greatest: 1, mode: "WAL")
    try writer.execute(
      "INSERT INTO item WITH n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n LIMIT 4999) SELECT i FROM n"
    )
    try writer.execute("PRAGMA wal_checkpoint(RESTART)")
    let owner = try Owner(folder.file(), settings: .init(pollInterval: .milliseconds(500)))
    try writer.execute("INSERT INTO item VALUES (5001)")
    try await owner.sees(5001)
    try #require(owner.events.allSatisfy { $0 == .committed })
    #expect(truncate(folder.file(), 8192) == 0)
    try await owner.waits("a file that is cut") { $0.contains { $0.event != .committed } }
  }

  private func makeDirectory(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder.file(name), withIntermediateDirectories: false)
  }

  @Test func `the directory may be removed and made again`() async throws {
    try makeDirectory("data")
    let path = folder.file("data/music.db")
    try make(path, greatest: 1)
    let owner = try Owner(path)
    try FileManager.default.removeItem(atPath: folder.file("data"))
    try await owner.waits("the loss") { $0.last?.event == .removed }
    try makeDirectory("data")
    let writer = try make(path, greatest: 2)
    try await owner.sees(2)
    try writer.execute("INSERT INTO item VALUES (3)")
    try await owner.sees(3)
    #expect(owner.watcher.status.notificationTrouble == nil)
  }

  @Test func `the directory may be replaced as a whole`() async throws {
    try makeDirectory("data")
    try makeDirectory("next")
    try make(folder.file("data/music.db"), greatest: 1)
    try make(folder.file("next/music.db"), greatest: 2)
    // Notifications alone tell of it all.
    let owner = try Owner(
      folder.file("data/music.db"), settings: .init(pollInterval: .seconds(3600)))
    try move(folder.file("data"), to: folder.file("previous"))
    try move(folder.file("next"), to: folder.file("data"))
    try await owner.sees(2)
    try ForeignWriter(folder.file("data/music.db")).execute("INSERT INTO item VALUES (3)")
    try await owner.sees(3)
  }

  @Test func `a symbolic link is followed, also to another place`() async throws {
    let manager = FileManager.default
    try makeDirectory("a")
    try makeDirectory("b")
    let a = try make(folder.file("a/music.db"), greatest: 1, mode: "WAL")
    let b = try make(folder.file("b/music.db"), greatest: 2, mode: "WAL")
    let link = folder.file()
    try manager.createSymbolicLink(atPath: link, withDestinationPath: "a/music.db")
    // Notifications alone tell of commits to the file that is linked to.
    let notified = try Owner(link, settings: .init(pollInterval: .seconds(3600)))
    try a.execute("INSERT INTO item VALUES (10)")
    try await notified.sees(10)
    // That the link leads elsewhere is seen by a poll.
    let owner = try Owner(link)
    try manager.createSymbolicLink(atPath: link + "2", withDestinationPath: "b/music.db")
    try move(link + "2", to: link)
    try await owner.sees(2)
    try b.execute("INSERT INTO item VALUES (20)")
    try await owner.sees(20)
    #expect(owner.events == [.replaced, .committed])
  }

  @Test func `a file that becomes garbage is an event, and so is its recovery`() async throws {
    try make(folder.file(), greatest: 1)
    let copy = try Data(contentsOf: URL(fileURLWithPath: folder.file()))
    let owner = try Owner(folder.file())
    try overwrite(Data(repeating: 0x55, count: 8192))
    try await owner.waits("garbage") {
      if case .unreadable(let error) = $0.last?.event { return error.code == .SQLITE_NOTADB }
      return false
    }
    try overwrite(copy)
    try await owner.sees(1)
    #expect(owner.events.contains(.restored))
  }

  @Test func `a file under a log that becomes garbage is told once`() async throws {
    let writer = try make(folder.file(), greatest: 1)
    try writer.execute("PRAGMA journal_mode = WAL")
    try writer.execute("INSERT INTO item VALUES (2)")
    try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let owner = try Owner(folder.file(), settings: .init(pollInterval: .milliseconds(5)))
    try overwrite(Data(repeating: 0x55, count: 8192))
    // From what the writer remembers of the file.
    try writer.execute("INSERT INTO item VALUES (3)")
    func unreadable(_ entries: [Owner.Entry]) -> Int {
      entries.count { if case .unreadable = $0.event { true } else { false } }
    }
    try await owner.waits("garbage") { unreadable($0) > 0 }
    let looks = owner.watcher.status.statistics.looks
    try await owner.waits("many polls") { _ in owner.watcher.status.statistics.looks > looks + 30 }
    #expect(unreadable(owner.entries) == 1 && !owner.events.contains(.restored))
  }

  /// Whoever has it open keeps it, so that it is another one again as soon as it is opened.
  @Test func `a log that is cut under somebody who holds it is opened less and less often`()
    async throws
  {
    let writer = try make(folder.file(), greatest: 1, mode: "WAL")
    // The log has no page that opening reads.
    try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let owner = try Owner(folder.file(), settings: .init(pollInterval: .milliseconds(5)))
    try writer.execute("INSERT INTO item VALUES (2)")
    try await owner.sees(2)
    let cut = try SpawnedProcess("truncate", ["-s", "0", folder.file() + "-wal"])
    #expect(cut.exitCode(within: 20) == 0)
    let reopenings = { owner.watcher.status.statistics.reopenings }
    try await owner.waits("many reopenings") { _ in reopenings() >= 6 }
    let (count, start) = (reopenings(), ContinuousClock.now)
    try await owner.waits("two more") { _ in reopenings() >= count + 2 }
    #expect(ContinuousClock.now - start > .milliseconds(250))
  }

  /// It has a log then whose index is in its own memory (https://www.sqlite.org/wal.html#noshm).
  @Test(.slow) func `a writer that goes over to a log of its own is told as a lock`() async throws {
    var writer: ForeignWriter? = try make(folder.file(), greatest: 1, mode: "DELETE")
    let owner = try Owner(folder.file(), settings: .init(pollInterval: .milliseconds(5)))
    try writer?.execute("PRAGMA locking_mode = EXCLUSIVE")
    try writer?.execute("PRAGMA journal_mode = WAL")
    try writer?.execute("INSERT INTO item VALUES (2)")
    try await owner.waits("the lock") { _ in owner.events.contains(.locked) }
    writer = nil
    try await owner.sees(2)
  }

  @Test func `a file cut to any size crashes nothing`() async throws {
    let writer = try make(folder.file(), greatest: 1)
    let copy = try Data(contentsOf: URL(fileURLWithPath: folder.file()))
    // What it ends with was not there before: what has been seen before is no news.
    try writer.execute("INSERT INTO item VALUES (2)")
    let last = try Data(contentsOf: URL(fileURLWithPath: folder.file()))
    let owner = try Owner(folder.file(), settings: .init(pollInterval: .milliseconds(1)))
    for size in [0, 1, 16, 50, 99, 100, 101, 4095, 4096, 4097] {
      try overwrite(copy.prefix(size))
      try overwrite(copy)
    }
    try overwrite(Data())
    try await owner.waits("the loss of all tables") { $0.last.map { $0.greatest == nil } ?? false }
    try overwrite(last)
    try await owner.sees(2)
  }

  /// Writes into the file as `cp` does, from another process: the inode stays, and the locks of
  /// this process too.
  private func overwrite(_ content: Data) throws {
    try content.write(to: URL(fileURLWithPath: folder.file("content")))
    let copy = try SpawnedProcess("cp", [folder.file("content"), folder.file()])
    #expect(copy.exitCode(within: 20) == 0)
  }

  @Test func `the journal of a killed writer is as a lock, until one undoes what it did`()
    async throws
  {
    let writer = try make(folder.file(), greatest: 1)
    let owner = try Owner(folder.file())
    try writer.execute("PRAGMA cache_size = 5")
    try writer.execute("CREATE TABLE filler (text)")
    try writer.execute("BEGIN")
    try writer.execute("repeat 200 INSERT INTO filler SELECT hex(randomblob(1000 + ?))")
    writer.kill()
    try await owner.waits("the hot journal") { $0.last?.event == .locked }
    try ForeignWriter(folder.file()).execute("INSERT INTO item VALUES (2)")
    try await owner.sees(2)
    // What was undone was never committed, and what was written in undoing it is as it was before.
    #expect(!owner.events.contains(.replaced))
  }

  @Test func `more notifications than the system keeps do not hide a commit`() async throws {
    let writer = try make(folder.file(), greatest: 1, mode: "WAL")
    let queue = DispatchQueue(label: "owner")
    let owner = try Owner(
      folder.file(), queue: queue, settings: .init(pollInterval: .seconds(3600)))
    // While the queue does something else, notifications pile up in the system.
    queue.suspend()
    try writer.execute("INSERT INTO item VALUES (2)")
    try overflow()
    queue.resume()
    try await owner.waits("the overflow") { _ in owner.watcher.status.statistics.overflows == 1 }
    try writer.execute("INSERT INTO item VALUES (3)")
    try await owner.sees(3)
  }

  /// Equal notifications in a row are one: so two files take turns.
  private func overflow() throws {
    let limit = try String(
      contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
    let noise = try ["noise1", "noise2"].map { name in
      try Data().write(to: URL(fileURLWithPath: folder.file(name)))
      return try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file(name)))
    }
    for _ in 0..<(try #require(Int(limit.dropLast()))) {
      for file in noise { try file.write(contentsOf: Data([1])) }
    }
  }

  @Test func `starting without a database says why`() throws {
    let watchers = try [
      ("no directory", folder.file("nowhere/music.db"), "directory does not exist"),
      ("no file", folder.file("nothing.db"), "does not exist"),
      ("garbage", garbage(), "not an SQLite database"),
      ("a directory", folder.path, "regular file"),
    ].map { name, path, advice in
      (
        name, advice,
        DatabaseWatcher(path: path, queue: DispatchQueue(label: name), handler: { _ in nil })
      )
    }
    for (name, advice, watcher) in watchers {
      let error = #expect(throws: DatabaseAccessError.self, "\(name)") { try watcher.start() }
      #expect(error?.advice.contains(advice) == true, "\(name): \(String(describing: error))")
    }
  }

  private func garbage() throws -> String {
    let path = folder.file("garbage.db")
    try Data(repeating: 0x55, count: 4096).write(to: URL(fileURLWithPath: path))
    return path
  }
}
