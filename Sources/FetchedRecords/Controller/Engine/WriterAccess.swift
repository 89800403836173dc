import ChangeCapture
import Dispatch
import GRDB
import HeldMemory

/// An engine's way to a database that only its writer can read without harm.
///
/// One in memory has no second connection, and readers of a rollback-journal file would make the
/// writer's commits fail as busy. So a turn is an access of the writer, which waits meanwhile.
// Safe to share: every mutable field is touched in turns only.
final class WriterAccess: DatabaseAccess, @unchecked Sendable {
  let path: String
  /// Watches nothing: what runs on the writer is the application's.
  let statementGuard = StatementGuard()
  let isWriteAheadLog = false
  let hasUnseenCommit = false
  private let writer: any DatabaseWriter
  // Touched in turns only.
  private var poll: RollbackFilePoll?
  /// Whether the engine's own transaction is under way, or is just ending.
  private(set) var isReading = false

  /// - Parameters:
  ///   - writer: what the engine reads through.
  ///   - path: its database file; empty: it is in memory.
  init(_ writer: any DatabaseWriter, path: String) {
    self.writer = writer
    self.path = path
  }

  func async(_ body: @escaping @Sendable () -> Void) {
    writer.asyncWriteWithoutTransaction { _ in body() }
  }

  func async(after interval: DispatchTimeInterval, _ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global().asyncAfter(deadline: .now() + interval) { [self] in async(body) }
  }

  func sync<T>(_ body: () throws -> T) rethrows -> T {
    try writer.unsafeReentrantWrite { _ in try body() }
  }

  /// GRDB ends the program where its connection is used outside of an access.
  func preconditionInTurn() {}

  func read<T>(isLocked: Bool, _ body: (Database) throws -> T) throws -> T {
    try writer.unsafeReentrantWrite { db in
      let wasReading = isReading
      isReading = true
      defer { isReading = wasReading }
      return try body(db)
    }
  }

  /// The connection is the writer's.
  func disconnect() {}
  let files: DatabaseIdentity? = nil
  let isOutdated = false
  let misplacement: FetchFailure? = nil

  func makeReader(
    number: Int, turns: ProcessorTurns, limits: RefresherLimits, memory: MemoryBudget
  ) -> BackgroundReader? { nil }

  func startWatching(
    letGo: @escaping @Sendable () -> Void,
    handler: @escaping @Sendable (WatchEvent) -> DatabaseWatcher.Afterwards?
  ) throws {
    if path.isEmpty { return }
    poll = RollbackFilePoll(path: path) { [weak self] in self?.async { handler(.committed)?() } }
  }

  func stopWatching() { poll = nil }
}
