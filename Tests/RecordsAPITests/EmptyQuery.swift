import Dispatch
import FetchedRecords
import GRDB
import Locks
import TestSupport
import Testing

extension LiveResult {
  /// A query of an empty table, whose database is gone.
  static func ofEmptyTable() throws -> LiveResult {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    try DatabaseQueue(path: folder.file()).write { try $0.execute(sql: "CREATE TABLE t (a)") }
    let refresher = try Refresher(path: folder.file(), queries: .everyTable())
    let opened = Mutex<Result<LiveResult, FetchFailure>?>(nil)
    refresher.open("t", arguments: [:], onEvent: { _, _ in }) { result in
      opened.withLock { $0 = result }
    }
    refresher.settle()
    return try #require(try opened.withLock { try $0?.get() })
  }
}
