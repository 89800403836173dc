/// Why the capture cannot say which rows changed, and falls back to "everything".
///
/// Thrown where the doubt arises, counted where the look ends; never seen by the owner as an error.
/// The raw values are stable words, fit to label a metric.
enum CaptureDoubt: String, Error {
  /// The database lives in memory, or its VFS shows no files.
  case noFile
  /// The file does not begin as an SQLite database does: it is encrypted, or no database.
  case unknownFormat
  /// The wal-index is not of the version this code knows, or its header is not whole.
  case unknownLog
  /// SQLite's file layer could not read a page.
  case unreadablePage
  /// A page is not what its place in the file says, or points out of bounds.
  case malformedPage
  /// Commits fell so between that the transaction's snapshot cannot be told from its neighbours.
  case snapshotUnknown
  /// The connection has uncommitted changes of its own.
  case ownTransaction
  /// The database has left or entered write-ahead mode, or has another page size.
  case otherLayout
  /// The database has no log and is larger than the reader compares page by page.
  case tooLargeToScan
}

extension DatabaseChanges.Reasons {
  init(_ doubt: CaptureDoubt) {
    self =
      switch doubt {
      case .noFile: .noFile
      case .unknownFormat, .unknownLog: .unknownFormat
      case .unreadablePage, .malformedPage: .malformedPage
      case .snapshotUnknown, .ownTransaction: .snapshotUnknown
      case .otherLayout: .otherLayout
      case .tooLargeToScan: .commit
      }
  }
}
