import Dispatch
import Foundation
import GRDB
import Locks
import Testing

@testable import ChangeCapture

/// A reader as a watcher's owner is one: it reads the database anew in each callback, and keeps
/// what it was told and what it then saw.
final class Owner: Sendable {
  struct Entry {
    var event: WatchEvent
    /// The greatest id in `item` as the callback saw it; nil: it could not be read.
    var greatest: Int?
  }

  let watcher: DatabaseWatcher
  private let log: Log

  private final class Log: Sendable {
    let entries = Mutex<[Entry]>([])
  }

  init(
    _ path: String, queue: DispatchQueue = DispatchQueue(label: "owner"),
    settings: DatabaseWatcher.Settings = .init(), lockTimeout: TimeInterval = 20,
    delay: @escaping @Sendable () -> Void = {}
  ) throws {
    let log = Log()
    self.log = log
    watcher = DatabaseWatcher(
      path: path, queue: queue, settings: settings
    ) { event in
      delay()
      let greatest = try? Self.greatest(path, lockTimeout)
      log.entries.withLock { $0.append(Entry(event: event, greatest: greatest)) }
      return nil
    }
    try watcher.start()
  }

  deinit { watcher.stop() }

  var entries: [Entry] { log.entries.withLock { $0 } }
  var events: [WatchEvent] { entries.map(\.event) }

  /// Waits until the log satisfies a condition.
  func waits(
    _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation,
    until condition: ([Entry]) -> Bool
  ) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while !condition(entries) {
      guard ContinuousClock.now < deadline else {
        Issue.record(
          "\(what): never came; \(entries) \(watcher.status)", sourceLocation: sourceLocation)
        throw CancellationError()
      }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  /// Waits until a callback has seen the row with this id.
  func sees(_ id: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try await waits("row \(id)", sourceLocation: sourceLocation) { $0.last?.greatest == id }
  }

  private static func greatest(_ path: String, _ lockTimeout: TimeInterval) throws -> Int? {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(lockTimeout)
    // To open a pipe waits for who writes it.
    guard FileStatus(path: path)?.isRegular != false else { return nil }
    let connection = try DatabaseQueue(path: path, configuration: configuration)
    return try connection.read { try Int.fetchOne($0, sql: "SELECT max(id) FROM item") }
  }
}
