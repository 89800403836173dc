public import Dispatch
public import GRDB
import OrderedResults

extension FetchedRecordsController {
  /// Makes a controller of a request.
  ///
  /// Nothing is fetched before ``performFetch()``.
  ///
  /// - Parameters:
  ///   - databaseWriter: a `DatabasePool` or a `DatabaseQueue`; all controllers of one writer share
  ///     what it takes to follow it.
  ///   - request: what to fetch. With a section name, the records of a request of GRDB's query
  ///     interface are ordered by section first; SQL must do so itself.
  ///   - sectionName: a column or an SQL expression over the columns of the request. NULL, the empty
  ///     text and names that differ in case are sections of their own.
  ///   - cacheName: where to keep the records between two lives of the process, in a file beside the
  ///     database; nil: nowhere. No two controllers that live at once should share it. The cache
  ///     spares a fetch if nothing was written since, and is never wrong.
  ///   - tracksExternalChanges: whether commits of other connections and processes are noticed too.
  ///     Databases in memory have none.
  ///   - queue: where the controller is used, and where it calls back.
  ///   - isSameRecord: says whether two records are the same one, so that a change is not taken for
  ///     a deletion and an insertion. Records that are `TableRecord` are known by their primary key
  ///     and need none. It is called on any thread, for every pair of an old and a new record of a
  ///     change.
  /// - Throws: `DatabaseError` where the database cannot be read.
  public convenience init<Request: FetchRequest>(
    _ databaseWriter: any DatabaseWriter, request: Request,
    sectionName: (any SQLSpecificExpressible)? = nil, cacheName: String? = nil,
    tracksExternalChanges: Bool = true,
    queue: DispatchQueue = .main, isSameRecord: (@Sendable (Record, Record) -> Bool)? = nil
  ) throws where Request.RowDecoder == Record {
    try self.init(
      databaseWriter, RecordsRequest(request, sectionName: sectionName, cacheName: cacheName),
      queue: queue, tracksExternalChanges: tracksExternalChanges, isSameRecord: isSameRecord)
  }

  /// Makes a controller of a request whose records name their sections.
  ///
  /// - Parameters:
  ///   - databaseWriter: as for the other initializers.
  ///   - request: what to fetch, in an order that keeps the records of one section together.
  ///   - sectionName: names a record's section. It is called on any thread when a record is new or
  ///     changed, and must give the same name for the same columns.
  ///   - cacheName: as for the other initializers.
  ///   - tracksExternalChanges: as for the other initializers.
  ///   - queue: as for the other initializers.
  ///   - isSameRecord: as for the other initializers.
  /// - Throws: `DatabaseError` where the database cannot be read.
  public convenience init<Request: FetchRequest>(
    _ databaseWriter: any DatabaseWriter, request: Request,
    sectionName: @escaping @Sendable (Record) -> String?, cacheName: String? = nil,
    tracksExternalChanges: Bool = true,
    queue: DispatchQueue = .main, isSameRecord: (@Sendable (Record, Record) -> Bool)? = nil
  ) throws where Request.RowDecoder == Record {
    try self.init(
      databaseWriter, RecordsRequest(request, sectionName: sectionName, cacheName: cacheName),
      queue: queue, tracksExternalChanges: tracksExternalChanges, isSameRecord: isSameRecord)
  }

  /// Makes a controller of an SQL query.
  ///
  /// - Parameters:
  ///   - databaseWriter: as for the other initializers.
  ///   - sql: one SELECT; with a section name, ordered by section first.
  ///   - arguments: values of its parameters.
  ///   - adapter: adapts its rows.
  ///   - sectionName: as for the other initializers.
  ///   - cacheName: as for the other initializers.
  ///   - tracksExternalChanges: as for the other initializers.
  ///   - queue: as for the other initializers.
  ///   - isSameRecord: as for the other initializers.
  /// - Throws: `DatabaseError` where the database cannot be read.
  public convenience init(
    _ databaseWriter: any DatabaseWriter, sql: String,
    arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil,
    sectionName: (any SQLSpecificExpressible)? = nil, cacheName: String? = nil,
    tracksExternalChanges: Bool = true,
    queue: DispatchQueue = .main, isSameRecord: (@Sendable (Record, Record) -> Bool)? = nil
  ) throws {
    try self.init(
      databaseWriter,
      request: SQLRequest<Record>(sql: sql, arguments: arguments, adapter: adapter),
      sectionName: sectionName, cacheName: cacheName,
      tracksExternalChanges: tracksExternalChanges, queue: queue, isSameRecord: isSameRecord)
  }

  /// Makes a controller of an SQL query whose records name their sections.
  ///
  /// - Parameters: as for the other initializers.
  /// - Throws: `DatabaseError` where the database cannot be read.
  public convenience init(
    _ databaseWriter: any DatabaseWriter, sql: String,
    arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil,
    sectionName: @escaping @Sendable (Record) -> String?, cacheName: String? = nil,
    tracksExternalChanges: Bool = true,
    queue: DispatchQueue = .main, isSameRecord: (@Sendable (Record, Record) -> Bool)? = nil
  ) throws {
    try self.init(
      databaseWriter,
      request: SQLRequest<Record>(sql: sql, arguments: arguments, adapter: adapter),
      sectionName: sectionName, cacheName: cacheName,
      tracksExternalChanges: tracksExternalChanges, queue: queue, isSameRecord: isSameRecord)
  }
}

extension RecordsRequest {
  /// What there is to know of a request without its type.
  init<Request: FetchRequest>(_ request: Request)
  where Request.RowDecoder: FetchableRecord & SendableMetatype {
    self.init(
      prepare: { try request.makePreparedRequest($0, forSingleResult: false) },
      declaration: (request as? any RequestOfParts)?.singleTable,
      isOrderedByQueryInterface: request is any OrderedRequest,
      identityTable: (Request.RowDecoder.self as? any TableRecord.Type)?.databaseTableName,
      check: { _ = try Request.RowDecoder(row: $0) })
  }

  /// A request in sections that an SQL expression names; nil: no sections.
  init<Request: FetchRequest>(
    _ request: Request, sectionName: (any SQLSpecificExpressible)?, cacheName: String? = nil
  ) where Request.RowDecoder: FetchableRecord & SendableMetatype {
    self.init(request)
    self.cacheName = cacheName
    guard let expression = sectionName?.sqlExpression else { return }
    section = { db in try SQL("\(expression)").build(db) }
  }

  /// A request in sections that its records name.
  init<Request: FetchRequest>(
    _ request: Request, sectionName: @escaping @Sendable (Request.RowDecoder) -> String?,
    cacheName: String?
  ) where Request.RowDecoder: FetchableRecord & SendableMetatype {
    self.init(request)
    self.cacheName = cacheName
    sectionOfRow = { row in
      try sectionName(Request.RowDecoder(row: row)).map(Value.text) ?? .null
    }
  }
}
