public import Dispatch
public import GRDB
import OrderedResults

/// Fetches records and tells how they change, for lists and tables that follow a database.
///
/// ```swift
/// let controller = try FetchedRecordsController(
///   dbPool, request: Player.order(Column("name")), sectionName: Column("team"))
/// controller.trackChanges(
///   willChange: { controller in tableView.beginUpdates() },
///   onChange: { controller, record, change in … },
///   didChange: { controller in tableView.endUpdates() })
/// try controller.performFetch()
/// ```
///
/// A controller is used from its ``queue``, and calls back on it. What it fetched is an immutable
/// value, ``FetchedResults``, that may be handed to any thread.
///
/// Guarantees, each of which <doc:Guarantees> explains:
/// - What it shows is what the request gave at one commit, never a part of a transaction.
/// - Between `willChange` and the first `onChange` it goes from the old records to the new ones.
/// - Nothing is told where nothing changed, and of no record more than once.
/// - No change falls between a fetch and the start of tracking.
///
/// What a change costs depends on the request: see <doc:Costs>.
public final class FetchedRecordsController<Record: FetchableRecord & SendableMetatype> {
  /// The database that the records are of.
  public let databaseWriter: any DatabaseWriter
  /// Where the controller is used, and where it calls back.
  public let queue: DispatchQueue
  let core: ControllerCore
  let identity: RecordIdentity<Record>
  let streams = ChangeSetStreams<Record>()
  // All touched on `queue` only.
  var handlers = Handlers()
  var indexTitle: (@Sendable (String) -> String?)?

  /// What is called when something happens.
  struct Handlers {
    var willChange: ((FetchedRecordsController, (any Sendable)?) -> Void)?
    var onSectionChange: ((FetchedRecordsController, FetchedSectionChange) -> Void)?
    var onChange: ((FetchedRecordsController, Record, FetchedRecordChange) -> Void)?
    var didChange: ((FetchedRecordsController, (any Sendable)?) -> Void)?
    var didChangeWith: ((FetchedRecordsController, FetchedRecordsChangeSet<Record>) -> Void)?
    var didReset: ((FetchedRecordsController) -> Void)?
    var onError: ((FetchedRecordsController, any Error) -> Void)?

    var areForChanges: Bool {
      willChange != nil || onSectionChange != nil || onChange != nil || didChange != nil
        || didChangeWith != nil
    }
  }

  init(
    _ databaseWriter: any DatabaseWriter, _ request: RecordsRequest, queue: DispatchQueue,
    tracksExternalChanges: Bool, isSameRecord: (@Sendable (Record, Record) -> Bool)?
  ) throws {
    let engine = try EngineRegistry.engine(of: databaseWriter)
    if tracksExternalChanges { try engine.startWatching() }
    self.databaseWriter = databaseWriter
    self.queue = queue
    identity =
      if let isSameRecord { .closure(isSameRecord) } else if Record.self is any TableRecord.Type {
        .key
      } else { .none }
    core = ControllerCore(request, engine: engine, queue: queue)
    // The controller is touched on its queue only, which is where this is called.
    nonisolated(unsafe) weak let controller = self
    core.connect { told in controller?.receive(told) }
  }

  deinit { streams.finish() }
}
