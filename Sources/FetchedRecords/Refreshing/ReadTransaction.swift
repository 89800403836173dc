import ChangeCapture
import GRDB

/// A read transaction, and which state of the database it sees.
struct ReadTransaction {
  let db: Database
  /// The state of the log just before the transaction began; nil: it is not known.
  let state: LogState?
  /// The database file.
  let path: String

  /// What names the content that the transaction sees; nil: nothing does.
  ///
  /// A stamp is of what the files say now. As long as the log is what it was before the transaction
  /// began, that is what the transaction sees.
  var stamp: DatabaseStamp? {
    guard !path.isEmpty, let state, let stamp = DatabaseStamp(in: db, path: path),
      LogState(in: db) == state
    else { return nil }
    return stamp
  }
}
