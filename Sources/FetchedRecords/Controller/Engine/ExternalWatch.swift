import ChangeCapture
import Dispatch
import Foundation

/// Notices commits of other connections and processes to a database file.
///
/// In write-ahead mode a ``DatabaseWatcher`` does. It looks through a connection of its own, which
/// in rollback mode would take shared locks, and so make commits of the application fail as busy;
/// there the file's size and time of change are looked at, and the writer's own connection is asked
/// what they mean.
final class ExternalWatch: Sendable {
  private let watcher: DatabaseWatcher?
  // Scheduled once and cancelled; a dispatch source may be used from any thread.
  private nonisolated(unsafe) let timer: (any DispatchSourceTimer)?

  /// How often a rollback-journal file is looked at: half of it is how late a commit is noticed.
  private static let pollInterval = DispatchTimeInterval.milliseconds(40)
  /// As long after a change, another one may leave the same time of change behind.
  static let timestampDoubt: TimeInterval = 0.1

  /// - Throws: `DatabaseAccessError`.
  init(
    _ file: DatabaseFile, isReader: Bool, handler: @escaping @Sendable (WatchEvent) -> Void
  ) throws {
    let queue = DispatchQueue(label: "FetchedRecordsController.watch", qos: .userInitiated)
    guard isReader else {
      watcher = nil
      let timer = DispatchSource.makeTimerSource(queue: queue)
      let path = file.path
      // Touched on `queue` only.
      nonisolated(unsafe) var last = FileStamp(path)
      timer.setEventHandler {
        let stamp = FileStamp(path)
        if stamp != last || stamp.isDoubtful { handler(.committed) }
        last = stamp
      }
      timer.schedule(
        deadline: .now() + Self.pollInterval, repeating: Self.pollInterval,
        leeway: .milliseconds(5))
      timer.activate()
      self.timer = timer
      return
    }
    timer = nil
    let watcher = DatabaseWatcher(path: file.path, queue: queue, handler: handler)
    try watcher.start()
    self.watcher = watcher
  }

  func stop() {
    watcher?.stop()
    timer?.cancel()
  }
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

  var isDoubtful: Bool { abs(modified.timeIntervalSinceNow) < ExternalWatch.timestampDoubt }
}
