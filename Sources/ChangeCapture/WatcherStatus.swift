/// How a watcher fares: for logs and metrics.
package struct WatcherStatus: Sendable, Equatable {
  /// nil: not known, because the file cannot be read now or is about to enter another mode.
  package var journalMode: JournalMode?
  /// The files that the watcher has open; nil: none.
  package var identity: DatabaseIdentity?
  /// Why commits are only found by the poll; nil: the system notifies.
  package var notificationTrouble: String?
  package var statistics = Statistics()

  /// Counted since the start.
  package struct Statistics: Sendable, Equatable {
    /// Batches of notifications that were about the database.
    package var wakes = 0
    /// Times that it was looked for a commit: in the wal-index, or by `PRAGMA data_version`.
    package var looks = 0
    /// Looks that a lock kept from an answer.
    package var busyLooks = 0
    /// Looks that found commits.
    package var commits = 0
    /// Those of ``commits`` that only the poll found: more than a few means that the system
    /// does not notify.
    package var commitsFoundByPoll = 0
    /// Times that the connection was made anew, because a file was replaced, written by
    /// other means than SQLite's, or came back.
    package var reopenings = 0
    /// Times that the system's queue of notifications was full.
    package var overflows = 0
  }
}
