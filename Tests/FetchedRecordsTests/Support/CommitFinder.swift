import ChangeCapture
import GRDB

@testable import FetchedRecords

/// Knows only that something was committed.
final class CommitFinder: ChangeFinder {
  private var kept = CommitDetector()
  private var latest = CommitDetector()

  func changes(in db: Database) throws -> DatabaseChanges {
    latest = kept
    return try latest.changes(db)
  }

  func keep() { kept = latest }

  func follow(_ tables: Set<String>, in db: Database) {}

  var statistics: CaptureStatistics { CaptureStatistics() }
}
