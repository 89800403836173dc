import ChangeCapture
import Dispatch

/// Notices that other connections and processes write to a rollback-journal file.
///
/// A connection that looks would take shared locks, and so make commits of the application fail as
/// busy. So the file's size and time of change are looked at, and the writer's own connection is
/// asked what they mean.
final class RollbackFilePoll: Sendable {
  // Scheduled once and cancelled; a dispatch source may be used from any thread.
  private nonisolated(unsafe) let timer: any DispatchSourceTimer

  /// How often the file is looked at: half of it is how late a commit is noticed.
  private static let interval = DispatchTimeInterval.milliseconds(40)
  /// So many nanoseconds after a change, another one may leave the same time of change behind.
  private static let clockDoubt: Int64 = 100_000_000

  /// - Parameters:
  ///   - path: the database file.
  ///   - handler: is called on a queue of the poll's own where there may have been a commit.
  init(path: String, handler: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "FetchedRecordsController.watch", qos: .userInitiated)
    timer = DispatchSource.makeTimerSource(queue: queue)
    // Touched on `queue` only.
    nonisolated(unsafe) var last = FileStatus(path: path)
    timer.setEventHandler {
      let status = FileStatus(path: path)
      if status != last || status?.isOlder(than: Self.clockDoubt) == false { handler() }
      last = status
    }
    timer.schedule(
      deadline: .now() + Self.interval, repeating: Self.interval, leeway: .milliseconds(5))
    timer.activate()
  }

  deinit { timer.cancel() }
}
