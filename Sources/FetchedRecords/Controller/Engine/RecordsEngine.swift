import ChangeCapture
import Dispatch
import Foundation
import GRDB
import OrderedResults
import Synchronization

/// Keeps the records of all controllers of one database writer up to date.
///
/// A database file in write-ahead mode is read through a connection of the engine's own, which
/// disturbs no writer and learns from the log which rows changed, whoever changed them. Every other
/// database is read through the writer itself: one in memory has no second connection, and readers
/// of a rollback-journal file would make the writer's commits fail as busy.
// Safe to share: every mutable field is touched inside `connection` only, or has its own lock.
final class RecordsEngine: @unchecked Sendable {
  let writer: any DatabaseWriter
  /// Where everything is read, one access at a time.
  let connection: any DatabaseWriter
  /// Whether `connection` is not the writer.
  let isReader: Bool
  private let source: any ChangeSource
  private let observer: WriteObserver
  private let watching = Mutex<ExternalWatch?>(nil)

  // Touched inside `connection` only.
  private var all: [ControllerID: LiveRecords] = [:]
  private var schemaNumber: Int64?
  private var isRetryScheduled = false
  /// Whether a transaction of the engine's own is under way.
  private(set) var isReading = false
  /// Whether the database could not be read at the last attempt.
  private var isFailing = false

  private let path: String
  /// The file that stood at the path when the engine was made.
  private let file: FileIdentity?
  private var isSaveScheduled = false
  /// Fetches that a cache spared.
  private(set) var cacheHits = 0

  /// How long changes are gathered before they are cached.
  private static let saveInterval = DispatchTimeInterval.seconds(1)
  /// How long to wait before trying again what a lock prevented.
  private static let retryInterval = DispatchTimeInterval.milliseconds(250)

  /// - Throws: `DatabaseError` where the file cannot be read by a second connection.
  init(_ writer: any DatabaseWriter) throws {
    self.writer = writer
    let file = try DatabaseFile(of: writer)
    path = file.path
    self.file = DatabaseIdentity(path: file.path)?.database
    if file.isWriteAheadLog {
      connection = try ReaderConnection.open(path: file.path, like: writer.configuration)
      isReader = true
      source = CaptureSource()
      observer = WriteObserver()
    } else {
      connection = writer
      isReader = false
      let journal = TransactionJournal(isFile: !file.path.isEmpty)
      source = journal
      observer = WriteObserver(journal: journal)
    }
    observer.engine = self
    writer.add(transactionObserver: observer, extent: .observerLifetime)
    observer.journal?.listen(to: writer)
  }

  deinit {
    watching.withLock { $0?.stop() }
    observer.journal?.stopListening(to: writer)
  }

  /// Notices commits of other connections and processes from now on.
  ///
  /// - Throws: `DatabaseAccessError`.
  func watchOthers() throws {
    try watching.withLock { watch in
      guard watch == nil else { return }
      let file = try DatabaseFile(of: writer)
      if file.path.isEmpty { return }
      watch = try ExternalWatch(file, isReader: isReader) { [weak self] event in
        self?.handle(event)
      }
    }
  }

  private func handle(_ event: WatchEvent) {
    switch event {
    case .committed: wake()
    case .replaced, .restored: beginAnew()
    case .locked: break
    case .removed:
      inConnection { engine, _ in
        engine.failAll(
          FetchedRecordsError(
            kind: .unavailable,
            message: "the database file is gone: put it back, and open the database anew"))
      }
    case .unreadable(let error):
      inConnection { engine, _ in
        engine.failAll(FetchedRecordsError(kind: .unavailable, message: "\(error)"))
      }
    }
  }

  /// Reads everything anew after the files were touched by other means than SQLite's.
  ///
  /// Unlike a server, an engine cannot open them anew: the application's own connection goes on with
  /// the files that it has, and within one process SQLite has one index of the log for all.
  private func beginAnew() {
    let isSameFile = DatabaseIdentity(path: path)?.database == file
    inConnection { engine, db in
      guard isSameFile else {
        return engine.failAll(
          FetchedRecordsError(
            kind: .unavailable,
            message: "another database file stands at the path: open the database anew"))
      }
      // What the connection remembers of the file's pages.
      db.releaseMemory()
      engine.source.forget()
      engine.catchUpOrRetry(in: db)
    }
  }

  // MARK: - Transactions

  /// Runs `body` in a read transaction in which all records are up to date.
  ///
  /// - Throws: ``FetchedRecordsError`` inside another transaction, and what `body` throws.
  func transaction<T>(_ body: (Database) throws -> T) throws -> T {
    try transaction(caching: nil) { db, _ in try body(db) }
  }

  /// `cacheName` names the cache that `body` is given, where the database has a state that can be
  /// named.
  private func transaction<T>(
    caching cacheName: String?, _ body: (Database, ResultsCache?) throws -> T
  ) throws -> T {
    try connection.unsafeReentrantWrite { db in
      guard !db.isInsideTransaction else {
        throw FetchedRecordsError(
          kind: .transaction,
          message: """
            records cannot be fetched inside a transaction, whose changes may still be rolled \
            back: fetch before or after it
            """)
      }
      do {
        // The state before and in the transaction: if they are the same, no commit fell between.
        let before = cacheName.flatMap { _ in DatabaseStamp(in: db, path: path) }
        return try read(db) {
          try catchUp(in: db)
          guard let cacheName, let before, before == DatabaseStamp(in: db, path: path) else {
            return try body(db, nil)
          }
          let file = CacheFile(name: cacheName, databasePath: path)
          return try body(db, ResultsCache(file: file, stamp: before))
        }
      } catch {
        throw FetchedRecordsError.publicError(error)
      }
    }
  }

  private func read<T>(_ db: Database, _ body: () throws -> T) throws -> T {
    isReading = true
    defer { isReading = false }
    return try db.readTransaction(body)
  }

  /// Brings all records up to date soon.
  func wake() {
    inConnection { engine, db in engine.catchUpOrRetry(in: db) }
  }

  private func inConnection(_ body: @escaping @Sendable (RecordsEngine, Database) -> Void) {
    connection.asyncWriteWithoutTransaction { [weak self] db in
      if let self { body(self, db) }
    }
  }

  private func inConnection(
    after interval: DispatchTimeInterval,
    _ body: @escaping @Sendable (RecordsEngine, Database) -> Void
  ) {
    DispatchQueue.global().asyncAfter(deadline: .now() + interval) { [weak self] in
      self?.inConnection(body)
    }
  }

  private func catchUpOrRetry(in db: Database) {
    // An observer of a write may have woken this inside of a transaction, whose end wakes it again.
    guard !all.isEmpty, !db.isInsideTransaction else { return }
    do {
      try read(db) { try catchUp(in: db) }
    } catch {
      failAll(error)
      scheduleRetry()
    }
  }

  private func failAll(_ error: any Error) {
    if isFailing { return }
    isFailing = true
    for live in all.values { live.fail(error) }
  }

  /// A commit that came during a failure is announced only once.
  private func scheduleRetry() {
    guard !isRetryScheduled else { return }
    isRetryScheduled = true
    inConnection(after: Self.retryInterval) { engine, db in
      engine.isRetryScheduled = false
      engine.catchUpOrRetry(in: db)
    }
  }

  /// Brings all records to the commit that this transaction sees.
  private func catchUp(in db: Database) throws {
    var changes = try source.changes(in: db)
    if observer.takeAnnouncement() { changes = .everything([]) }
    defer { isFailing = false }
    let stale = all.values.filter(\.isStale)
    if changes.isNothing, stale.isEmpty { return }
    let schema = try db.schemaNumber()
    if schema != schemaNumber {
      db.clearSchemaCache()
      for live in all.values { live.refreshAfterSchemaChange(in: db) }
    } else {
      for live in changes.isNothing ? stale : Array(all.values) {
        live.refresh(changes, in: db)
      }
    }
    try followTables(in: db)
    schemaNumber = schema
    source.keep()
    if all.values.contains(where: \.isCacheDirty) { scheduleSave() }
  }

  private func scheduleSave() {
    guard !isSaveScheduled else { return }
    isSaveScheduled = true
    inConnection(after: Self.saveInterval) { engine, _ in
      engine.isSaveScheduled = false
      for live in engine.all.values { engine.save(live) }
    }
  }

  private func save(_ live: LiveRecords) {
    guard live.isCacheDirty, let name = live.cacheName else { return }
    // What cannot be cached now is fetched next time.
    try? transaction(caching: name) { db, cache in
      if let cache { live.save(cache, in: db) }
    }
  }

  // MARK: - Controllers

  /// Fetches a request once.
  func fetch(_ request: RecordsRequest) throws -> FetchedState {
    try transaction(caching: request.cacheName) { db, cache in
      let live = try LiveRecords(
        request, alongside: nil, cache: cache, in: db, tell: { _ in })
      if live.wasCached { cacheHits += 1 }
      return live.state
    }
  }

  /// Fetches a request and keeps it up to date.
  ///
  /// - Parameters:
  ///   - id: which controller this is for.
  ///   - cacheName: names the cache that `live` is given.
  ///   - live: makes the records, inside the transaction.
  /// - Throws: as ``transaction(_:)``.
  func open(
    _ id: ControllerID, cacheName: String?,
    _ live: (Database, ResultsCache?) throws -> LiveRecords
  ) throws {
    try transaction(caching: cacheName) { db, cache in
      let live = try live(db, cache)
      if live.wasCached { cacheHits += 1 }
      all[id] = live
      try followTables(in: db)
    }
  }

  /// Keeps records up to date from what their controller shows, and tells soon what has changed
  /// since.
  func resume(_ id: ControllerID, _ live: @escaping @Sendable () -> LiveRecords) {
    inConnection { engine, db in
      engine.all[id] = live()
      engine.catchUpOrRetry(in: db)
    }
  }

  /// Changes the request of a controller that was opened.
  func change(_ id: ControllerID, to request: RecordsRequest) throws {
    try transaction { db in
      guard let live = all[id] else { return }
      try live.change(to: request, in: db)
      try followTables(in: db)
    }
  }

  /// Stops keeping a controller's records up to date.
  func close(_ id: ControllerID) {
    // Holds the engine: what its last controller showed is to be cached too.
    connection.asyncWriteWithoutTransaction { [self] db in
      if let live = all[id] { save(live) }
      all[id] = nil
      // Nobody would take what a journal went on to write down.
      if !isReader { try? followTables(in: db) }
    }
  }

  private func followTables(in db: Database) throws {
    try source.follow(Set(all.values.flatMap(\.followedTables)), in: db)
  }
}

extension LiveRecords {
  /// The statement may mean something else now, and its records may have other columns.
  fileprivate func refreshAfterSchemaChange(in db: Database) {
    do {
      try refetch(in: db)
    } catch {
      fail(error)
    }
  }
}
