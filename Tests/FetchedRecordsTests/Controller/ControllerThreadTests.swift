import Dispatch
import Foundation
import GRDB
import Locks
import OrderedResults
import TestSupport
import Testing

@testable import FetchedRecords

private let byName = Player.order(Column("name"))

@Suite struct `A controller among other threads, connections and processes` {
  @Test(arguments: Storage.files)
  func `notices the commits of another connection`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(byName)
    let other = try DatabaseQueue(path: world.path, configuration: world.writer.configuration)
    try other.write { try $0.execute(sql: "UPDATE player SET score = 3 WHERE id = 3") }
    listener.wait()
    world.onQueue {
      #expect(
        listener.changes == [.update(indexPath: path(0, 2), changes: ["score": 0.databaseValue])])
      #expect(listener.isInStep(with: controller))
    }
  }

  @Test(arguments: Storage.files)
  func `notices the commits of another process`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(byName)
    let process = try SpawnedProcess("sqlite3", [world.path, "DELETE FROM player WHERE id = 2"])
    #expect(process.exitCode(within: 20) == 0)
    listener.wait()
    world.onQueue {
      #expect(listener.changes == [.deletion(indexPath: path(0, 1))])
      #expect(listener.isInStep(with: controller))
    }
  }

  /// From other processes: in this one, a copy would drop SQLite's locks.
  @Test func `reads anew what was written over in place, and says when another file stands there`()
    throws
  {
    let world = try ControllerWorld(.pool)
    let (controller, listener) = try world.follow(byName)
    // Nothing is left in the log that would hide the file.
    _ = try world.writer.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    let copy = world.folder.file("copy.sqlite")
    func run(_ program: String, _ arguments: String...) throws {
      #expect(try SpawnedProcess(program, arguments).exitCode(within: 20) == 0)
    }
    try run(
      "sqlite3", copy,
      ControllerWorld.schema + "DELETE FROM player WHERE id = 2; PRAGMA journal_mode = WAL")
    // What is written between a checkpoint and the look that finds it is taken for its own: some
    // polls have to pass.
    usleep(500_000)
    try run("cp", copy, world.path)
    // Who looks while it is copied sees half of a file.
    repeat { listener.wait() } while world.onQueue { controller.fetchedRecords.count } == 3
    world.onQueue {
      let kinds = listener.errors.map { ($0 as? DatabaseError)?.resultCode }
      let ofHalf: [ResultCode] = [.SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_IOERR]
      #expect(kinds.allSatisfy { $0.map(ofHalf.contains) == true }, "\(listener.errors)")
      #expect(controller.fetchedRecords.map(\.id) == [1, 3])
      #expect(listener.isInStep(with: controller))
      listener.forget()
    }
    try run("mv", copy, world.path)
    listener.wait()
    world.onQueue {
      #expect(listener.errors.count == 1)
      #expect("\(listener.errors)".contains("open the database anew"))
    }
  }

  @Test func `does not wait for others where it is told not to`() throws {
    let world = try ControllerWorld()
    let controller = try FetchedRecordsController(
      world.writer, request: byName, tracksExternalChanges: false, queue: world.queue)
    let listener = try world.follow(controller)
    try world.write("UPDATE player SET score = 1 WHERE id = 1", settling: controller)
    world.onQueue { #expect(listener.changes.count == 1) }
  }

  @Test(arguments: Storage.allCases)
  func `does not deadlock when its queue also writes, in callbacks and between`(storage: Storage)
    throws
  {
    let world = try ControllerWorld(storage)
    let controller = try world.controller(byName)
    let done = DispatchSemaphore(value: 0)
    try world.onQueue {
      controller.trackChanges(
        willChange: { _ in #expect(throws: Never.self) { try world.write("PRAGMA user_version") } },
        didChange: { controller in
          let count = controller.fetchedRecords.count
          if count == 13 { return _ = done.signal() }
          #expect(throws: Never.self) {
            try world.write("INSERT INTO player (name) VALUES ('n\(count)')")
          }
        })
      try controller.performFetch()
      try world.write("INSERT INTO player (name) VALUES ('first')")
    }
    #expect(done.wait(timeout: .now() + 20) == .success)
  }

  @Test(arguments: [Storage.rollbackQueue, .memory])
  func `refuses to fetch what a transaction may still take back`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let controller = try world.controller(byName)
    _ = world.writer.unsafeReentrantWrite { db in
      #expect {
        try db.inTransaction {
          try controller.performFetch()
          return .commit
        }
      } throws: {
        ($0 as? FetchedRecordsError)?.kind == .transaction
      }
    }
    try world.onQueue { try controller.performFetch() }
    #expect(controller.fetchedRecords.count == 3)
  }

  @Test func `hands results to any thread`() async throws {
    let world = try ControllerWorld()
    try world.write(
      """
      INSERT INTO player (id, name)
      WITH RECURSIVE n(i) AS (VALUES (10) UNION ALL SELECT i + 1 FROM n WHERE i < 999)
      SELECT i, 'n' || i FROM n
      """)
    let controller = try world.controller(byName)
    try world.onQueue { try controller.performFetch() }
    let records = controller.fetchedRecords
    let ids = records.map(\.id)
    await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { #expect(records.map(\.id) == ids) } }
    }
    try world.write("DELETE FROM player", settling: controller)
    #expect(records.count == ids.count)
  }

  @Test(arguments: Storage.allCases)
  func `is let go with all that followed its database`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    weak var engine: Refresher?
    try world.onQueue {
      let controller = try world.controller(byName)
      controller.trackChanges(didChange: { _ in Issue.record("told after its end") })
      try controller.performFetch()
      engine = controller.core.engine
    }
    try world.write("DELETE FROM player")
    world.queue.sync {}
    // What was under way on the engine's connection may be the last to hold it.
    engine?.settle()
    for _ in 0..<1_000 where engine != nil { usleep(1_000) }
    #expect(engine == nil)
  }

  @Test func `controllers of one writer share an engine, and show one commit`() throws {
    let world = try ControllerWorld()
    let all = try world.controller(byName)
    let blue = try world.controller(byName.filter(Column("team") == "Blue"))
    #expect(all.core.engine === blue.core.engine)
  }

  @Test(arguments: Storage.allCases)
  func `looks again at what nobody can see, when notifyChanges(in:) says so`(storage: Storage)
    throws
  {
    let world = try ControllerWorld(storage)
    let value = Mutex(1)
    let function = DatabaseFunction("outside", argumentCount: 0, pure: false) { _ in
      value.withLock { $0 }
    }
    world.writer.unsafeReentrantWrite { $0.add(function: function) }
    // Only the writer has the function, which is how it is with one that a configuration adds.
    guard storage == .memory || storage == .rollbackQueue else { return }
    let controller = try FetchedRecordsController<Player>(
      world.writer, sql: "SELECT id, name, team, outside() AS score FROM player ORDER BY id",
      queue: world.queue)
    let listener = try world.follow(controller)
    value.withLock { $0 = 2 }
    try world.writer.write { try $0.notifyChanges(in: Table("player")) }
    world.settle(controller)
    world.onQueue { #expect(listener.changes.count == 3) }
  }
}

@Suite struct `Whole change sets` {
  @Test func `come to didChange(with:)`() throws {
    let world = try ControllerWorld()
    let controller = try world.controller(byName, sectionName: Column("team"))
    var received: [FetchedRecordsChangeSet<Player>] = []
    try world.onQueue {
      controller.didChange(with: { _, changes in received.append(changes) })
      try controller.performFetch()
    }
    try world.write("UPDATE player SET team = 'Red' WHERE id = 2", settling: controller)
    try world.onQueue {
      let changes = try #require(received.first)
      #expect(received.count == 1)
      #expect(changes.old.sections.map(\.numberOfRecords) == [2, 1])
      #expect(changes.new.sections.map(\.numberOfRecords) == [1, 2])
      #expect(changes.recordChanges.map { changes.record(of: $0).id } == [2])
      #expect(changes.sectionChanges.isEmpty)
      controller.didChange(with: nil)
    }
    try world.write("DELETE FROM player", settling: controller)
    world.onQueue { #expect(received.count == 1) }
  }

  @Test func `come as a sequence, joined for a slow consumer`() async throws {
    let world = try ControllerWorld()
    let controller = try world.controller(byName)
    try world.onQueue { try controller.performFetch() }
    var iterator = controller.changeSets.makeAsyncIterator()
    let first = try #require(try await iterator.next())
    #expect(first.isReset && first.old.isEmpty && first.new.count == 3)
    for id in 10..<20 {
      try world.write(
        "INSERT INTO player (id, name) VALUES (\(id), 'n\(id)')", settling: controller)
    }
    try world.write("DELETE FROM player WHERE id > 12", settling: controller)
    let joined = try #require(try await iterator.next())
    #expect(joined.old.count == 3)
    #expect(joined.new.count == 6)
    #expect(joined.recordChanges.count == 3)
    // What cancels out is nothing.
    try world.write("DELETE FROM player WHERE id = 1", settling: controller)
    try world.write(
      "INSERT INTO player (id, name, team) VALUES (1, 'Ada', 'Blue')", settling: controller)
    async let next = iterator.next()
    try world.write("DELETE FROM player WHERE id = 2")
    #expect(try await next?.recordChanges.count == 1)
  }

  @Test func `end with the controller, and with the task`() async throws {
    let world = try ControllerWorld()
    var controller: FetchedRecordsController<Player>? = try world.controller(byName)
    try world.onQueue { try controller?.performFetch() }
    let sequence = try #require(controller?.changeSets)
    let task = Task { for try await _ in sequence {} }
    controller = nil
    try await task.value
    let other = try world.controller(byName)
    let otherSequence = other.changeSets
    let cancelled = Task { for try await _ in otherSequence {} }
    cancelled.cancel()
    try await cancelled.value
  }

  @Test func `a reset tells to read everything anew`() throws {
    let world = try ControllerWorld()
    let controller = try world.controller(byName)
    let listener = Listener<Player>()
    var resets = 0
    var wholes: [Bool] = []
    try world.onQueue {
      listener.track(controller)
      controller.trackResets { _ in resets += 1 }
      controller.didChange(with: { wholes.append($1.isReset) })
      try controller.performFetch()
      try world.write("DELETE FROM player WHERE id = 1")
      try controller.reset()
      #expect(controller.fetchedRecords.count == 2)
    }
    world.settle(controller)
    world.onQueue {
      #expect(resets == 1)
      #expect(wholes == [true])
      #expect(listener.calls.isEmpty)
    }
  }

  /// Where there are no connections beside the writer's, nothing is interrupted to be done there.
  @Test(arguments: Storage.allCases)
  func `what takes long is told at each change`(storage: Storage) throws {
    let world = try ControllerWorld(storage)
    let (controller, listener) = try world.follow(
      SQLRequest<PlainPlayer>(
        sql: """
          SELECT id, name FROM player WHERE random() IS NOT NULL AND (
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
            SELECT count(*) FROM n) > 0 ORDER BY id
          """))
    for run in 1...4 {
      try world.write("UPDATE player SET name = 'N\(run)' WHERE id = 2", settling: controller)
      // Nothing identifies a record.
      world.onQueue { #expect(listener.changes.count == 2 * run) }
    }
  }
}
