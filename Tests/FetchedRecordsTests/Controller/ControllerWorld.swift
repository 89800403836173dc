import Dispatch
import Foundation
import GRDB
import OrderedResults
import TestSupport
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
  let folder: TemporaryFolder

  var path: String { folder.file("test.sqlite") }

  static let schema = """
    CREATE TABLE player (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, team TEXT, score INTEGER NOT NULL DEFAULT 0);
    INSERT INTO player (id, name, team) VALUES (1, 'Ada', 'Blue'), (2, 'Barbara', 'Blue'),
      (3, 'Cleo', 'Red');
    """

  /// - Parameters:
  ///   - storage: where the database lives.
  ///   - schema: what is in it.
  ///   - prepare: is called for each connection of the writer's configuration.
  /// - Throws: what GRDB throws.
  init(
    _ storage: Storage = .pool, schema: String = schema,
    prepare: @escaping @Sendable (Database) -> Void = { _ in }
  ) throws {
    folder = try TemporaryFolder()
    var configuration = Configuration()
    // Whoever else writes may be kept from the processor while it has the lock.
    configuration.busyMode = .timeout(30)
    configuration.prepareDatabase { db in
      prepare(db)
      if !db.configuration.readonly { try db.execute(sql: "PRAGMA synchronous = OFF") }
    }
    let path = folder.file("test.sqlite")
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

  func write(_ sql: String, arguments: StatementArguments = []) throws {
    try writer.write { try $0.execute(sql: sql, arguments: arguments) }
  }

  /// Writes, and waits until `controller` has told of it.
  func write<R>(_ sql: String, settling controller: FetchedRecordsController<R>) throws {
    try write(sql)
    settle(controller)
  }

  /// Waits until the engine has seen all own commits and the queue has told of them.
  func settle<R>(_ controller: FetchedRecordsController<R>) { settle(controller.core) }

  func settle<R>(_ controller: BatchedRecordsController<R>) { settle(controller.core) }

  private func settle(_ core: ControllerCore) {
    core.engine.settle()
    queue.sync {}
  }

  /// Does something on the controllers' queue.
  func onQueue<T>(_ body: () throws -> T) rethrows -> T { try queue.sync(execute: body) }

  func players(_ request: QueryInterfaceRequest<Player>) throws -> [Player] {
    try writer.read { try request.fetchAll($0) }
  }
}

// MARK: - Controllers of it

extension ControllerWorld {
  /// A controller that was not fetched yet.
  func controller<Request: FetchRequest>(
    _ request: Request, sectionName: (any SQLSpecificExpressible)? = nil
  ) throws -> FetchedRecordsController<Request.RowDecoder>
  where Request.RowDecoder: FetchableRecord & SendableMetatype {
    try FetchedRecordsController(writer, request: request, sectionName: sectionName, queue: queue)
  }

  /// A controller that was fetched, and a listener that hears all it tells from then on.
  func follow<Request: FetchRequest>(
    _ request: Request, sectionName: (any SQLSpecificExpressible)? = nil
  ) throws -> (FetchedRecordsController<Request.RowDecoder>, Listener<Request.RowDecoder>)
  where Request.RowDecoder: FetchableRecord & SendableMetatype {
    let controller = try controller(request, sectionName: sectionName)
    return (controller, try follow(controller))
  }

  /// Fetches, and hears all that the controller tells from then on.
  func follow<R>(_ controller: FetchedRecordsController<R>) throws -> Listener<R> {
    let listener = Listener<R>()
    try onQueue {
      listener.track(controller)
      try controller.performFetch()
      listener.begin(with: controller)
    }
    return listener
  }
}

func path(_ section: Int, _ item: Int) -> Foundation.IndexPath {
  Foundation.IndexPath(indexes: [section, item])
}
