import Dispatch
import Foundation
import GRDB
import OrderedResults
import Testing

@testable import FetchedRecords

/// A record of the tests.
struct Player: Codable, FetchableRecord, PersistableRecord, Equatable, Sendable {
  static let databaseTableName = "player"
  var id: Int64
  var name: String
  var team: String?
  var score: Int = 0
}

/// The same columns without a table: nothing identifies it.
struct PlainPlayer: Codable, FetchableRecord, Equatable, Sendable {
  var id: Int64
  var name: String
}

/// Where a test's database lives, which decides how it is followed.
enum Storage: String, CaseIterable, Sendable {
  case pool, walQueue, rollbackQueue, memory

  static let files: [Storage] = [.pool, .walQueue, .rollbackQueue]
}

/// A database and a queue on which controllers of it are used.
final class ControllerWorld {
  let writer: any DatabaseWriter
  let queue = DispatchQueue(label: "test.controller")
  let folder: URL

  var path: String { folder.appending(path: "test.sqlite").path }

  static let schema = """
    CREATE TABLE player (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, team TEXT, score INTEGER NOT NULL DEFAULT 0);
    INSERT INTO player (id, name, team) VALUES (1, 'Ada', 'Blue'), (2, 'Barbara', 'Blue'),
      (3, 'Cleo', 'Red');
    """

  init(_ storage: Storage = .pool, schema: String = schema) throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "didchange-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var configuration = Configuration()
    // Whoever else writes may be kept from the processor while it has the lock.
    configuration.busyMode = .timeout(30)
    configuration.prepareDatabase { db in
      if !db.configuration.readonly { try db.execute(sql: "PRAGMA synchronous = OFF") }
    }
    let path = folder.appending(path: "test.sqlite").path
    switch storage {
    case .pool: writer = try DatabasePool(path: path, configuration: configuration)
    case .walQueue:
      configuration.journalMode = .wal
      writer = try DatabaseQueue(path: path, configuration: configuration)
    case .rollbackQueue: writer = try DatabaseQueue(path: path, configuration: configuration)
    case .memory: writer = try DatabaseQueue(configuration: configuration)
    }
    try write(schema)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func write(_ sql: String, arguments: StatementArguments = []) throws {
    try writer.write { try $0.execute(sql: sql, arguments: arguments) }
  }

  /// Waits until the engine has seen all own commits and the queue has told of them.
  func settle<R>(_ controller: FetchedRecordsController<R>) {
    controller.core.engine.connection.unsafeReentrantWrite { _ in }
    queue.sync {}
  }

  /// Does something on the controllers' queue.
  func onQueue<T>(_ body: () throws -> T) rethrows -> T { try queue.sync(execute: body) }

  func players(_ request: QueryInterfaceRequest<Player>) throws -> [Player] {
    try writer.read { try request.fetchAll($0) }
  }
}

/// Hears all that a controller tells, and keeps a copy of its records by nothing but that.
final class Listener<Record: FetchableRecord & SendableMetatype> {
  struct Section {
    var name: String?
    var records: [Record]
  }

  /// Words for what was called, in order.
  private(set) var calls: [String] = []
  private(set) var changes: [FetchedRecordChange] = []
  private(set) var sectionChanges: [FetchedSectionChange] = []
  private(set) var told: [Record] = []
  private(set) var errors: [any Error] = []
  private(set) var countsAtWillChange: [Int] = []
  private(set) var countsAtDidChange: [Int] = []
  /// nil: no copy is kept.
  fileprivate var sections: [Section]?
  private let semaphore = DispatchSemaphore(value: 0)
  private var changeSetStart = 0
  private var sectionStart = 0

  init() {}

  func track(_ controller: FetchedRecordsController<Record>) {
    controller.trackChanges(
      willChange: { [unowned self] in
        calls.append("willChange")
        countsAtWillChange.append($0.fetchedRecords.count)
        (changeSetStart, sectionStart) = (changes.count, sectionChanges.count)
      },
      onSectionChange: { [unowned self] _, change in
        calls.append("onSectionChange")
        sectionChanges.append(change)
      },
      onChange: { [unowned self] _, record, change in
        calls.append("onChange")
        changes.append(change)
        told.append(record)
      },
      didChange: { [unowned self] in
        calls.append("didChange")
        countsAtDidChange.append($0.fetchedRecords.count)
        replay()
        semaphore.signal()
      })
    controller.trackErrors { [unowned self] _, error in
      errors.append(error)
      semaphore.signal()
    }
  }

  /// Takes the records as they are now as what later changes start from.
  func begin(with controller: FetchedRecordsController<Record>) {
    sections = controller.sections.map { Section(name: $0.name, records: Array($0.records)) }
  }

  func forget() {
    (calls, changes, sectionChanges, told, errors) = ([], [], [], [], [])
    (countsAtWillChange, countsAtDidChange) = ([], [])
  }

  /// Waits for the next `didChange` or error that was not waited for; call it outside the queue.
  func wait(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(
      semaphore.wait(timeout: .now() + 20) == .success, "nothing was told",
      sourceLocation: sourceLocation)
  }

  /// What a list would do with the changes.
  private func replay() {
    guard var sections else { return }
    defer { self.sections = sections }
    var arrivals: [(Foundation.IndexPath, Record)] = []
    var updates: [(Foundation.IndexPath, Record)] = []
    for (change, record) in zip(changes[changeSetStart...], told[changeSetStart...]) {
      switch change {
      case .insertion(let path): arrivals.append((path, record))
      case .deletion(let path): sections[path[0]].records.remove(at: path[1])
      case .move(let path, let newPath, _):
        sections[path[0]].records.remove(at: path[1])
        arrivals.append((newPath, record))
      case .update(let path, _): updates.append((path, record))
      }
    }
    for change in sectionChanges[sectionStart...] {
      switch change {
      case .deletion(let index, let name):
        #expect(sections[index].records.isEmpty && sections[index].name == name)
        sections.remove(at: index)
      case .insertion(let index, let name):
        sections.insert(Section(name: name, records: []), at: index)
      }
    }
    for (path, record) in arrivals.sorted(by: { $0.0 < $1.0 }) {
      sections[path[0]].records.insert(record, at: path[1])
    }
    for (path, record) in updates { sections[path[0]].records[path[1]] = record }
  }
}

extension Listener where Record: Equatable {
  /// Whether the copy is what the controller shows.
  func isInStep(with controller: FetchedRecordsController<Record>) -> Bool {
    guard let sections, controller.sections.count == sections.count else { return false }
    return zip(controller.sections, sections).allSatisfy {
      $0.name == $1.name && Array($0.records) == $1.records
    }
  }
}

func path(_ section: Int, _ item: Int) -> Foundation.IndexPath {
  Foundation.IndexPath(indexes: [section, item])
}
