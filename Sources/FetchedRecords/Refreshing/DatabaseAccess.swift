import ChangeCapture
package import Dispatch
import GRDB
import HeldMemory

/// Where an engine's state is touched: one turn at a time, in the order in which they were asked for.
package protocol EngineQueue: AnyObject, Sendable {
  /// Does something in a turn of its own, soon.
  func async(_ body: @escaping @Sendable () -> Void)

  /// The same, not before some time.
  func async(after interval: DispatchTimeInterval, _ body: @escaping @Sendable () -> Void)

  /// Does something in a turn and waits for it; whoever is in a turn does it in that.
  func sync<T>(_ body: () throws -> T) rethrows -> T

  /// Ends the program where this is no turn.
  func preconditionInTurn()
}

/// How an engine comes at its database.
///
/// There are two ways. ``OwnConnection`` opens the file for itself, and again when another file
/// stands in its place; long work has further connections beside it. ``WriterAccess`` reads inside
/// the accesses of somebody else's writer, who waits meanwhile; there is nothing beside it.
protocol DatabaseAccess: EngineQueue {
  /// The database file; empty: the database lives in memory.
  var path: String { get }

  /// Ends what takes too long on the connection; it never does where the connection is not the
  /// engine's own.
  var statementGuard: StatementGuard { get }

  /// Reads, in a turn. The connection is opened where it is not.
  ///
  /// - Parameters:
  ///   - isLocked: whether a lock is known to last, so that it is not waited for as long.
  ///   - body: uses the connection.
  /// - Returns: what `body` returned.
  /// - Throws: `DatabaseError`, and what `body` throws.
  func read<T>(isLocked: Bool, _ body: (Database) throws -> T) throws -> T

  /// Forgets what is known of the files, which may be others now: the next read opens them anew.
  ///
  /// Beside an application's own connection they stay open: that goes on with the files that it
  /// has, and within one process SQLite has one index of the log for all connections.
  func disconnect()

  /// The files that the connection has open, as far as is known.
  var files: DatabaseIdentity? { get }

  /// Whether the connection has, or may have, other files open than those that are watched.
  var isOutdated: Bool { get }

  /// Why the connection is of no use any more, if it is not.
  var misplacement: FetchFailure? { get }

  /// Begins to notice the commits of others.
  ///
  /// - Parameters:
  ///   - letGo: is called in a turn before other files are opened.
  ///   - handler: is called in a turn; what it returns is done when that is over.
  /// - Throws: `DatabaseAccessError`.
  func startWatching(
    letGo: @escaping @Sendable () -> Void,
    handler: @escaping @Sendable (WatchEvent) -> DatabaseWatcher.Afterwards?
  ) throws

  func stopWatching()

  /// Whether what was committed is in a log, as far as is known.
  var isWriteAheadLog: Bool { get }

  /// Whether something was committed that the handler was not told of yet, as far as that is known
  /// without a lock. In a turn only.
  var hasUnseenCommit: Bool { get }

  /// A further connection; nil: there are none to be had.
  func makeReader(
    number: Int, turns: ProcessorTurns, limits: RefresherLimits, memory: MemoryBudget
  ) -> BackgroundReader?
}
