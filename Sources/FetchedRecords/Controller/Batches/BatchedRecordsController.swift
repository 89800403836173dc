public import Dispatch
import Foundation
public import GRDB
import OrderedResults

/// Fetches records that are too many to be held, and tells how they change.
///
/// Of each record it holds only an index entry: its key, its section, what it is ordered by, and a
/// digest. The records themselves are read by key, a batch at a time, when they are touched, and a
/// few batches are kept. So it opens ten million records in some 500 MB, follows them in 700, shows any of them in a
/// fraction of a millisecond, and follows changes as a ``FetchedRecordsController`` does.
///
/// ```swift
/// let controller = try BatchedRecordsController(
///   dbPool, request: Event.order(Column("date")), fetchBatchSize: 100)
/// try controller.performFetch()
/// let event = try controller.record(at: 9_000_000)
/// ```
///
/// What differs from ``FetchedRecordsController`` follows from that:
/// - The request is one of one table with rowids, in an order of that table's columns.
/// - A record is as the database has it when it is read. One that was deleted meanwhile is nil; the
///   change is told soon.
/// - A change names index paths, but neither the record nor the old values of its columns.
/// - A record that does not decode throws when it is read, and not when it is fetched.
public final class BatchedRecordsController<Record: FetchableRecord & SendableMetatype> {
  /// The database that the records are of.
  public let databaseWriter: any DatabaseWriter
  /// Where the controller is used, and where it calls back.
  public let queue: DispatchQueue
  /// How many records are read at once.
  public let fetchBatchSize: Int
  let core: ControllerCore
  let rows: RowStore
  // Touched on `queue` only.
  private var handlers = Handlers()

  private struct Handlers {
    var willChange: ((BatchedRecordsController) -> Void)?
    var onSectionChange: ((BatchedRecordsController, FetchedSectionChange) -> Void)?
    var onChange: ((BatchedRecordsController, FetchedRecordChange) -> Void)?
    var didChange: ((BatchedRecordsController) -> Void)?
    var onError: ((BatchedRecordsController, any Error) -> Void)?

    var areForChanges: Bool {
      willChange != nil || onSectionChange != nil || onChange != nil || didChange != nil
    }
  }

  /// How many batches are kept.
  private static var batchesKept: Int { 8 }

  /// Makes a controller of a request. Nothing is fetched before ``performFetch()``.
  ///
  /// - Parameters:
  ///   - databaseWriter: a `DatabasePool` or a `DatabaseQueue`.
  ///   - request: a ``DeclaredRequest``, a request of GRDB's query interface or an SQL request: a
  ///     plain SELECT over one table.
  ///   - fetchBatchSize: how many records are read at once; at least 1. A screenful or two is right.
  ///   - sectionName: a column or an SQL expression over the columns of the table.
  ///   - tracksExternalChanges: whether commits of other connections and processes are noticed too.
  ///   - queue: where the controller is used, and where it calls back.
  /// - Throws: `DatabaseError` where the database cannot be read.
  public init<Request: FetchRequest>(
    _ databaseWriter: any DatabaseWriter, request: Request, fetchBatchSize: Int = 100,
    sectionName: (any SQLSpecificExpressible)? = nil, tracksExternalChanges: Bool = true,
    queue: DispatchQueue = .main
  ) throws where Request.RowDecoder == Record {
    let engine = try EngineRegistry.engine(of: databaseWriter)
    if tracksExternalChanges { try engine.startWatching() }
    var erased = RecordsRequest(request, sectionName: sectionName)
    erased.isBatched = true
    self.databaseWriter = databaseWriter
    self.queue = queue
    self.fetchBatchSize = max(1, fetchBatchSize)
    rows = RowStore(capacity: Self.batchesKept * max(1, fetchBatchSize))
    core = ControllerCore(erased, engine: engine, queue: queue)
    // The controller is touched on its queue only, which is where this is called.
    nonisolated(unsafe) weak let controller = self
    core.connect { told in controller?.receive(told) }
  }

  // MARK: - Fetching

  /// Fetches the index of the records.
  ///
  /// O(n) in the n records, some microseconds each. As for ``FetchedRecordsController``, it drops
  /// what was not told yet, and tells nothing itself.
  ///
  /// - Throws: `DatabaseError`; ``FetchedRecordsError`` where the request is not one that can be read
  ///   in batches.
  public func performFetch() throws {
    try core.fetch(isTracking: handlers.areForChanges)
    rows.removeAll()
  }

  /// Fetches another request from now on; with tracking, the difference is told soon.
  ///
  /// - Throws: as ``performFetch()``; the old request then stays.
  public func setRequest<Request: FetchRequest>(_ request: Request) throws
  where Request.RowDecoder == Record {
    var erased = RecordsRequest(request)
    erased.section = core.request.section
    erased.isBatched = true
    try core.change(to: erased)
  }

  // MARK: - Tracking

  /// Tells of changes from now on; what changed since the last ``performFetch()`` is told soon.
  ///
  /// The order is that of ``FetchedRecordsController``, and so is what a closure that trails means.
  /// `changes` of moves and updates are empty.
  public func trackChanges(
    willChange: ((BatchedRecordsController<Record>) -> Void)? = nil,
    onSectionChange: ((BatchedRecordsController<Record>, FetchedSectionChange) -> Void)? = nil,
    onChange: ((BatchedRecordsController<Record>, FetchedRecordChange) -> Void)? = nil,
    didChange: ((BatchedRecordsController<Record>) -> Void)?
  ) {
    handlers.willChange = willChange
    handlers.onSectionChange = onSectionChange
    handlers.onChange = onChange
    handlers.didChange = didChange
    if handlers.areForChanges { core.track(alongside: nil) } else { core.stopTracking() }
  }

  /// Tells of changes from now on, without a handler that is called last.
  public func trackChanges(
    willChange: ((BatchedRecordsController<Record>) -> Void)? = nil,
    onSectionChange: ((BatchedRecordsController<Record>, FetchedSectionChange) -> Void)? = nil,
    onChange: ((BatchedRecordsController<Record>, FetchedRecordChange) -> Void)?
  ) {
    trackChanges(
      willChange: willChange, onSectionChange: onSectionChange, onChange: onChange, didChange: nil)
  }

  /// Tells of changes no more.
  public func trackChanges() {
    trackChanges(didChange: nil)
  }

  /// Calls back when changes could not be looked for; observation goes on.
  public func trackErrors(
    _ errorHandler: @escaping (BatchedRecordsController<Record>, any Error) -> Void
  ) {
    handlers.onError = errorHandler
  }

  private func receive(_ told: RecordsListener.Told) {
    switch told {
    case .failure(let error): handlers.onError?(self, error)
    case .success(let change): tell(change)
    }
  }

  private func tell(_ change: StateChange) {
    let (old, new) = (change.old.results, change.new.results)
    let places = PlaceChanges(change.changes, identity: .key).ordered {
      !new.layout.changedColumns(from: old[$0], to: new[$1]).isEmpty
    }
    let generation = core.generation
    handlers.willChange?(self)
    if core.generation == generation {
      core.show(change.new)
      for section in change.changes.sectionChanges {
        handlers.onSectionChange?(self, FetchedSectionChange(section))
      }
      if let onChange = handlers.onChange {
        for place in places { onChange(self, FetchedRecordChange(place) { _, _ in [:] }) }
      }
    }
    handlers.didChange?(self)
  }
}
