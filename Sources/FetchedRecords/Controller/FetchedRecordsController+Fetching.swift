import Dispatch
public import GRDB

extension FetchedRecordsController {
  /// Fetches the records.
  ///
  /// What changed before and was not told yet is not told any more; the fetch itself is no change
  /// and tells nothing. With tracking, whatever is committed after it will be told.
  ///
  /// Waits for the database. O(n) for n records, each of which is decoded once.
  ///
  /// - Throws: `DatabaseError`; ``FetchedRecordsError`` where the request does not fit the schema,
  ///   where the records of a section do not stand together, or inside a transaction; what
  ///   `init(row:)` throws. The controller then shows what it showed before, and goes on telling
  ///   changes of it.
  public func performFetch() throws {
    let old = fetchedRecords
    try core.fetch(isTracking: isTracking)
    // A stream has no moment at which its consumer knows of a fetch; so it hears of one.
    if old.state != nil, streams.isInUse {
      streams.send(FetchedRecordsChangeSet(resetFrom: old, to: fetchedRecords))
    }
  }

  /// Fetches the records anew, and tells that everything is to be read again.
  ///
  /// The handler of ``trackResets(_:)`` is called, and ``didChange(with:)`` and the change sets get
  /// one that ``FetchedRecordsChangeSet/isReset``. `trackChanges` is told nothing.
  ///
  /// - Throws: as ``performFetch()``.
  public func reset() throws {
    let old = fetchedRecords
    try core.fetch(isTracking: isTracking)
    let change = FetchedRecordsChangeSet(resetFrom: old, to: fetchedRecords)
    handlers.didReset?(self)
    handlers.didChangeWith?(self, change)
    streams.send(change)
  }

  /// Fetches another request from now on.
  ///
  /// Before the first ``performFetch()``, and without tracking, it has no effect until the next one.
  /// With tracking the request is fetched at once, and the difference between the old and the new
  /// records is told soon, like any other change.
  ///
  /// - Throws: as ``performFetch()``; the old request then stays.
  public func setRequest<Request: FetchRequest>(_ request: Request) throws
  where Request.RowDecoder == Record {
    var erased = RecordsRequest(request)
    erased.section = core.request.section
    erased.sectionOfRow = core.request.sectionOfRow
    erased.cacheName = core.request.cacheName
    try core.change(to: erased)
  }

  /// Fetches another request in other sections from now on, in one step.
  ///
  /// - Parameters:
  ///   - request: what to fetch.
  ///   - sectionName: a column or an SQL expression; nil: no sections.
  /// - Throws: as ``setRequest(_:)``.
  public func setRequest<Request: FetchRequest>(
    _ request: Request, sectionName: (any SQLSpecificExpressible)?
  ) throws where Request.RowDecoder == Record {
    try core.change(
      to: RecordsRequest(
        request, sectionName: sectionName, cacheName: core.request.cacheName))
  }

  /// Fetches another request in sections that its records name from now on, in one step.
  ///
  /// - Throws: as ``setRequest(_:)``.
  public func setRequest<Request: FetchRequest>(
    _ request: Request, sectionName: @escaping @Sendable (Record) -> String?
  ) throws where Request.RowDecoder == Record {
    try core.change(
      to: RecordsRequest(
        request, sectionName: sectionName, cacheName: core.request.cacheName))
  }

  /// Fetches another SQL query from now on.
  ///
  /// - Throws: as ``setRequest(_:)``.
  public func setRequest(
    sql: String, arguments: StatementArguments = StatementArguments(),
    adapter: (any RowAdapter)? = nil
  ) throws {
    try setRequest(SQLRequest<Record>(sql: sql, arguments: arguments, adapter: adapter))
  }

  /// Whether changes are told to anyone.
  private var isTracking: Bool { handlers.areForChanges || streams.isInUse }

  // MARK: - Cache

  /// Deletes the cache of that name beside a database, or all of them; nil: all.
  ///
  /// Caches that are in use are written again when their records change.
  public static func deleteCache(
    withName name: String?, of databaseWriter: any DatabaseWriter
  ) throws {
    let file = try DatabaseFile(of: databaseWriter)
    if !file.path.isEmpty {
      ResultsCache.queue.sync { CacheFile.delete(name: name, databasePath: file.path) }
    }
  }

  /// Deletes the cache of that name beside the controller's database, or all of them; nil: all.
  ///
  /// - Throws: `DatabaseError` where the database cannot be asked for its file.
  public func deleteCache(withName name: String?) throws {
    try Self.deleteCache(withName: name, of: databaseWriter)
  }
}
