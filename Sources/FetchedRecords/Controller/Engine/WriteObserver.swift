import ChangeCapture
import GRDB
import Synchronization

/// Hears of the writer's own commits, and wakes the engine.
// Unchecked: `engine` is set once before the observer is added, and weak; what else changes has its
// own lock or is the journal's.
final class WriteObserver: TransactionObserver, @unchecked Sendable {
  weak var engine: RecordsEngine?
  let journal: TransactionJournal?
  /// Whether the user said that something changed which no statement tells.
  private let isAnnounced = Mutex((pending: false, committed: false))

  init(journal: TransactionJournal? = nil) { self.journal = journal }

  /// Whether `notifyChanges(in:)` was called in a transaction that was committed since.
  func takeAnnouncement() -> Bool {
    isAnnounced.withLock { state in
      defer { state.committed = false }
      return state.committed
    }
  }

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
    journal?.willWrite(to: eventKind.tableName)
    // Only who observes is told of announcements.
    return true
  }

  func databaseDidChange(with event: DatabaseEvent) {}

  // Called by `notifyChanges(in:)`, which does not say what it was given.
  func databaseDidChange() { isAnnounced.withLock { $0.pending = true } }

  func databaseDidCommit(_ db: Database) {
    // The end of the engine's own reading changes nothing.
    if let engine, !engine.isReader, engine.isReading { return }
    isAnnounced.withLock { state in
      state.committed = state.committed || state.pending
      state.pending = false
    }
    journal?.didCommit()
    engine?.wake()
  }

  func databaseDidRollback(_ db: Database) {
    isAnnounced.withLock { $0.pending = false }
    journal?.didRollback()
  }
}

extension DatabaseEventKind {
  fileprivate var tableName: String {
    switch self {
    case .insert(let tableName), .delete(let tableName), .update(let tableName, _): tableName
    }
  }
}
