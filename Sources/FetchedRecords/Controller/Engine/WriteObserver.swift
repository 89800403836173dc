import GRDB
import Locks

/// Hears of a writer's own commits, and wakes the engine of its controllers.
// Safe to share: `engine` is set once before the observer is added, and weak; what else changes has
// its own lock or is the journal's.
final class WriteObserver: TransactionObserver, @unchecked Sendable {
  private weak var engine: Refresher?
  private let writer: any DatabaseWriter
  /// Where the engine reads through the writer.
  private let journal: (changes: TransactionJournal, access: WriterAccess)?
  /// Whether `notifyChanges(in:)` was called in the present transaction.
  private let isAnnounced = Atomic(false)

  /// Listens until it is let go.
  init(
    _ writer: any DatabaseWriter, engine: Refresher,
    journal: (changes: TransactionJournal, access: WriterAccess)? = nil
  ) {
    self.writer = writer
    self.engine = engine
    self.journal = journal
    writer.add(transactionObserver: self, extent: .observerLifetime)
    journal?.changes.listen(to: writer)
  }

  deinit { journal?.changes.stopListening(to: writer) }

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
    journal?.changes.willWrite(to: eventKind.tableName)
    // Only who observes is told of announcements.
    return true
  }

  func databaseDidChange(with event: DatabaseEvent) {}

  // Called by `notifyChanges(in:)`, which does not say what it was given.
  func databaseDidChange() { isAnnounced.store(true, ordering: .relaxed) }

  func databaseDidCommit(_ db: Database) {
    // The end of the engine's own reading changes nothing.
    if journal?.access.isReading == true { return }
    journal?.changes.didCommit()
    engine?.refresh(everything: takeAnnouncement())
  }

  func databaseDidRollback(_ db: Database) {
    _ = takeAnnouncement()
    journal?.changes.didRollback()
  }

  /// Whether the user said that something changed which no statement tells.
  private func takeAnnouncement() -> Bool { isAnnounced.exchange(false, ordering: .relaxed) }
}

extension DatabaseEventKind {
  fileprivate var tableName: String {
    switch self {
    case .insert(let tableName), .delete(let tableName), .update(let tableName, _): tableName
    }
  }
}
