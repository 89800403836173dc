import ChangeCapture
import Dispatch
import GRDB
import HeldMemory

/// An engine's way to a database file: a connection of its own, which disturbs no writer.
// Safe to share: every mutable field is touched on `queue` only.
final class OwnConnection: DatabaseAccess, @unchecked Sendable {
  typealias Open = @Sendable (_ path: String, StatementGuard) throws -> DatabaseQueue

  let path: String
  let statementGuard = StatementGuard()
  private let queue = DispatchQueue(label: "didchange.engine", qos: .userInitiated)
  /// Marks the queue, whose turns may ask for what would wait for them.
  private let mark = DispatchSpecificKey<Bool>()
  private let open: Open
  /// Whether an application has the file open in this process too, and writes to it.
  private let isBesideWriter: Bool
  // Touched on `queue` only.
  private var connection: DatabaseQueue?
  private var isReading = false
  /// Whether the connection waits for locks as under one that lasts; nil: it was not told yet.
  private var waitsBriefly: Bool?
  private(set) var files: DatabaseIdentity?
  private var watcher: DatabaseWatcher?

  /// - Parameters:
  ///   - path: the database file.
  ///   - isBesideWriter: whether an application has it open in this process, and writes to it.
  ///   - open: opens a connection to it that can change nothing.
  init(
    path: String, isBesideWriter: Bool = false, open: @escaping Open
  ) {
    self.path = path
    self.isBesideWriter = isBesideWriter
    self.open = open
    queue.setSpecific(key: mark, value: true)
  }

  deinit { watcher?.stop() }

  // MARK: - Turns

  func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  func async(after interval: DispatchTimeInterval, _ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + interval, execute: body)
  }

  func sync<T>(_ body: () throws -> T) rethrows -> T {
    if DispatchQueue.getSpecific(key: mark) == true { return try body() }
    return try queue.sync(execute: body)
  }

  func preconditionInTurn() { dispatchPrecondition(condition: .onQueue(queue)) }

  // MARK: - Reading

  func read<T>(isLocked: Bool, _ body: (Database) throws -> T) throws -> T {
    preconditionInTurn()
    let opened = try connected()
    // Somebody who reads within a read is told so by the body.
    if isReading { return try opened.unsafeReentrantRead(body) }
    isReading = true
    defer { isReading = false }
    return try opened.inDatabase { db in
      if waitsBriefly != isLocked {
        waitsBriefly = isLocked
        db.waitForLocks(
          atMost: isLocked ? ReadOnlyConnection.retryTimeout : ReadOnlyConnection.busyTimeout)
      }
      return try body(db)
    }
  }

  private func connected() throws -> DatabaseQueue {
    if let connection { return connection }
    let opened = try DatabaseIdentity.opening(path) { try open(path, statementGuard) }
    files = opened.identity
    guard isConnectedAsWatched else {
      throw DatabaseError(resultCode: .SQLITE_BUSY, message: "the files are being replaced")
    }
    connection = opened.connection
    waitsBriefly = nil
    return opened.connection
  }

  func disconnect() {
    if isBesideWriter {
      // What the connection remembers of the file's pages.
      connection?.releaseMemory()
      let present = DatabaseIdentity(path: path)
      if present?.database == files?.database { files = present }
      return
    }
    try? connection?.close()
    connection = nil
    files = nil
  }

  /// Whether the watcher has the same files open, so that it would notice if others came.
  private var isConnectedAsWatched: Bool {
    guard let files, let watched = watcher?.status.identity else { return true }
    return files == watched
  }

  var isOutdated: Bool {
    guard !isBesideWriter, let connection else { return false }
    // It may have gone over to a log of which it is not known whether it still stands there.
    return !isConnectedAsWatched || files?.log == nil && connection.unsafeRead(\.hasOpenLog)
  }

  var misplacement: FetchFailure? {
    guard isBesideWriter, connection != nil,
      DatabaseIdentity(path: path)?.database != files?.database
    else { return nil }
    return FetchFailure(
      kind: .unavailable,
      detail: "another database file stands at the path: open the database anew")
  }

  func makeReader(
    number: Int, turns: ProcessorTurns, limits: RefresherLimits, memory: MemoryBudget
  ) -> BackgroundReader? {
    BackgroundReader(
      path: path, number: number, turns: turns, limits: limits, memory: memory, open: open)
  }

  // MARK: - Watching

  func startWatching(
    letGo: @escaping @Sendable () -> Void,
    handler: @escaping @Sendable (WatchEvent) -> DatabaseWatcher.Afterwards?
  ) throws {
    guard watcher == nil else { return }
    let watcher = DatabaseWatcher(
      path: path, queue: queue, letGo: { [isBesideWriter] in if !isBesideWriter { letGo() } },
      handler: handler)
    try watcher.start()
    self.watcher = watcher
  }

  func stopWatching() {
    watcher?.stop()
    watcher = nil
  }

  var hasUnseenCommit: Bool { watcher?.hasUnseenCommit ?? false }

  var isWriteAheadLog: Bool { watcher?.status.journalMode == .writeAheadLog }
}
