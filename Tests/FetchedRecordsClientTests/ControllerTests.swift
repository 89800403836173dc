import Foundation
import Locks
import Observation
import Testing

@testable import FetchedRecordsClient

/// What a controller does without a server.
@Suite @MainActor struct `A controller of what is no query` {
  private func controller() throws -> RemoteRecordsController<[String: RemoteValue]> {
    RemoteRecordsController(try #require(URL(string: "http://127.0.0.1:9/v1/queries")))
  }

  @Test func `is closed, and tells who observes it`() async throws {
    let controller = try controller()
    let isTold = Mutex(false)
    let states = AsyncStream<Void> { told in
      withObservationTracking {
        #expect(controller.state == .connecting)
      } onChange: {
        isTold.withLock { $0 = true }
        told.finish()
      }
    }
    for await _ in states {}
    #expect(isTold.withLock { $0 })
    // It is told before it changes.
    while controller.state == .connecting { await Task.yield() }
    while controller.error == nil { await Task.yield() }
    #expect(controller.state == .closed && controller.error?.reason == .address)
    #expect(controller.sections.isEmpty && controller.numberOfRecords == 0)
    #expect(controller.parameters.isEmpty && controller.address("records") == nil)
    controller.parameters = ["a": 1]
    #expect(controller.parameters.isEmpty && !controller.isPending)
  }

  @Test func `has sequences that throw, each time`() async throws {
    let controller = try controller()
    for _ in 0..<2 {
      let error = await #expect(throws: RemoteRecordsError.self) {
        for try await _ in controller.changeSets {}
      }
      #expect(error?.reason == .address)
    }
    await #expect(throws: RemoteRecordsError.self) { for try await _ in controller.values {} }
  }

  @Test func `has sequences that end where it was closed`() async throws {
    let controller = try controller()
    controller.close()
    for try await _ in controller.changeSets {}
    while controller.state != .closed { await Task.yield() }
    #expect(controller.state == .closed)
  }

  @Test func `says what it asks for`() throws {
    let url = try #require(URL(string: "http://127.0.0.1:9/v1/queries/players?country=FR"))
    let controller = RemoteRecordsController<[String: RemoteValue]>(
      url, parameters: ["least": 3, "most": Optional<Int>.none], order: "best", window: 0..<10)
    #expect(controller.parameters.mapValues(\.queryText) == ["country": "FR", "least": "3"])
    #expect(controller.order == "best" && controller.window == 0..<10)
    controller.window = nil
    controller.parameters["country"] = nil
    #expect(
      controller.address("records")?.absoluteString
        == "http://127.0.0.1:9/v1/queries/players/records?least=3&order=best")
  }
}
