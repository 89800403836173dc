import Dispatch
import Foundation

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
  /// As long after a change, another one may leave the same time of change behind.
  fileprivate static let timestampDoubt: TimeInterval = 0.1

  /// - Parameters:
  ///   - path: the database file.
  ///   - handler: is called on a queue of the poll's own where there may have been a commit.
  init(path: String, handler: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "FetchedRecordsController.watch", qos: .userInitiated)
    timer = DispatchSource.makeTimerSource(queue: queue)
    // Touched on `queue` only.
    nonisolated(unsafe) var last = FileStamp(path)
    timer.setEventHandler {
      let stamp = FileStamp(path)
      if stamp != last || stamp.isDoubtful { handler() }
      last = stamp
    }
    timer.schedule(
      deadline: .now() + Self.interval, repeating: Self.interval, leeway: .milliseconds(5))
    timer.activate()
  }

  deinit { timer.cancel() }
}

/// What the file system says of a file.
private struct FileStamp: Equatable {
  private let number: UInt64
  private let size: UInt64
  private let modified: Date

  init(_ path: String) {
    let attributes = (try? FileManager.default.attributesOfItem(atPath: path)) ?? [:]
    number = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
    size = (attributes[.size] as? NSNumber)?.uint64Value ?? 0
    modified = attributes[.modificationDate] as? Date ?? .distantPast
  }

  var isDoubtful: Bool { abs(modified.timeIntervalSinceNow) < RollbackFilePoll.timestampDoubt }
}
