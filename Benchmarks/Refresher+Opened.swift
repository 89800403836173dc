import Dispatch
import FetchedRecords
import Foundation
import Locks

extension Refresher {
  /// Opens a query, and waits until it is open.
  func opened(_ name: String, arguments: QueryArguments = [:]) throws -> LiveResult {
    let result = Mutex<Result<LiveResult, FetchFailure>?>(nil)
    open(name, arguments: arguments) { _, _ in
    } completion: { opened in
      result.withLock { $0 = opened }
    }
    settle()
    return try result.withLock { try $0!.get() }
  }

  /// Waits until everything shows the present.
  func settle() {
    while !queue.sync({ isSettled }) { usleep(20) }
  }

  /// Brings all open queries to the last commit.
  func refreshAndWait() {
    refresh()
    settle()
  }
}
