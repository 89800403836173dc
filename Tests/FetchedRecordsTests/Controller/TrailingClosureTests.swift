import Dispatch
import FetchedRecords
import Foundation
import GRDB
import Testing

/// As GRDB's users wrote it, in the language mode of this target.
@Suite struct `A closure that trails trackChanges` {
  private struct Player: FetchableRecord, TableRecord, Decodable, Sendable {
    static let databaseTableName = "player"
    var id: Int64
  }

  private typealias Controller = FetchedRecordsController<Player>

  private let queue = DispatchQueue(label: "trailing")
  private let database: DatabaseQueue

  init() throws {
    database = try DatabaseQueue()
    try database.write { try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)") }
  }

  /// How many records the controller showed each time that the closure was called, for one insertion.
  private func countsSeen(
    _ track: (Controller, @escaping (Controller) -> Void) -> Void
  ) throws -> [Int] {
    let controller = try Controller(
      database, request: Player.all(), tracksExternalChanges: false, queue: queue)
    var counts: [Int] = []
    let told = DispatchSemaphore(value: 0)
    try queue.sync {
      track(controller) { counts.append($0.fetchedRecords.count) }
      controller.didChange { _, _ in told.signal() }
      try controller.performFetch()
    }
    try database.write { try $0.execute(sql: "INSERT INTO player DEFAULT VALUES") }
    #expect(told.wait(timeout: .now() + 60) == .success)
    return queue.sync { counts }
  }

  @Test func `is didChange`() throws {
    let counts = try countsSeen { controller, see in
      controller.trackChanges { _ in see(controller) }
    }
    #expect(counts == [1])
  }

  @Test func `is didChange beside other handlers`() throws {
    let counts = try countsSeen { controller, see in
      controller.trackChanges(willChange: { see($0) }, onChange: { _, _, _ in }) { see($0) }
    }
    #expect(counts == [0, 1])
  }

  @Test func `is didChange behind a value that is fetched alongside`() throws {
    let counts = try countsSeen { controller, see in
      controller.trackChanges(fetchAlongside: { try Player.fetchCount($0) }) { controller, count in
        #expect(count == 1)
        see(controller)
      }
    }
    #expect(counts == [1])
  }
}
