import ChangeCapture
import GRDB

/// Tells a refresher what may have changed since its last refresh.
///
/// Used on the refresher's queue, inside its read transactions; there is one for each connection.
protocol ChangeFinder: AnyObject {
  /// What may have changed up to the snapshot of the transaction that `db` is in, since the last
  /// refresh that was kept.
  func changes(in db: Database) throws -> DatabaseChanges

  /// The refresh succeeded: the next changes begin where these ended.
  func keep()

  /// Which tables' rows are wanted from now on; of others it matters only whether they changed.
  func follow(_ tables: Set<String>, in db: Database) throws

  var statistics: CaptureStatistics { get }
}

extension ChangeReader: ChangeFinder {
  func keep() { commit() }
}
