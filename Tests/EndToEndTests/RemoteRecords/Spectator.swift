import Foundation
import Locks
import Testing

@testable import FetchedRecordsClient

/// A record of any query.
typealias AnyRecord = [String: RemoteValue]

/// Follows a query with the client, and keeps what it is told until a test waits for it.
final class Spectator<Record: Decodable & Sendable>: Sendable {
  /// What has been told.
  struct State {
    var changes: [RemoteRecordsChangeSet<Record>] = []
    var states: [RemoteRecordsState] = []
    var transports: [RemoteRecordsTransport] = []
    var troubles: [RemoteRecordsError] = []
    var shown: RemoteRequest?
    /// What the sequence of change sets ended with.
    var end: Result<Void, any Error>?
    /// What must not happen; nil: it has not.
    var problem: String?

    var records: RemoteRecords<Record> { changes.last?.new ?? RemoteRecords() }
    var state: RemoteRecordsState? { states.last }
  }

  private let shared = Shared()

  /// Touched with `condition` locked only.
  private final class Shared: @unchecked Sendable {
    let condition = NSCondition()
    var state = State()

    func change(_ body: (inout State) -> Void) {
      condition.lock()
      body(&state)
      condition.broadcast()
      condition.unlock()
    }
  }

  let subscription: RecordsSubscription<Record>
  private let tasks: [Task<Void, Never>]

  init(_ controller: RemoteRecordsController<Record>) {
    subscription = controller.subscription
    let (inbox, changeSets) = (subscription.join(), controller.changeSets)
    tasks = [
      Task { [shared] in
        while let news = await inbox.next() { shared.change { $0.note(news) } }
      },
      Task { [shared] in
        let end: Result<Void, any Error>
        do {
          for try await changes in changeSets { shared.change { $0.note(changes) } }
          end = .success(())
        } catch {
          end = .failure(error)
        }
        shared.change { $0.end = end }
      },
    ]
  }

  deinit { for task in tasks { task.cancel() } }

  /// Asks for something else.
  func ask(_ change: (inout RemoteRequest) -> Void) { subscription.ask(change) }

  func read<T>(_ body: (State) -> T) -> T {
    shared.condition.lock()
    defer { shared.condition.unlock() }
    return body(shared.state)
  }

  /// Waits until `body` finds what it looks for.
  ///
  /// - Returns: what it found.
  @discardableResult func wait<T>(
    for what: String, within timeout: TimeInterval = patience, _ body: (State) -> T?
  ) throws -> T {
    let deadline = Date(timeIntervalSinceNow: timeout)
    shared.condition.lock()
    defer { shared.condition.unlock() }
    while true {
      if let problem = shared.state.problem { throw ContractViolation(problem) }
      if let found = body(shared.state) { return found }
      guard shared.condition.wait(until: deadline) else {
        throw TimedOut(
          "\(what): \(shared.state.states), \(shared.state.troubles), version "
            + "\(shared.state.records.version ?? "-"), \(shared.state.changes.count) change sets")
      }
    }
  }

  /// Waits for something that is so or not.
  func wait(
    until what: String, within timeout: TimeInterval = patience, _ body: (State) -> Bool
  ) throws {
    try wait(for: what, within: timeout) { body($0) ? true : nil }
  }
}

extension Spectator.State {
  fileprivate mutating func note(_ news: News<Record>) {
    switch news {
    case .state(let state): states.append(state)
    case .transport(let transport): transports.append(transport)
    case .trouble(let error?): troubles.append(error)
    case .shows(let request): shown = request
    case .changes, .trouble(nil), .end: break
    }
  }

  fileprivate mutating func note(_ changes: RemoteRecordsChangeSet<Record>) {
    if changes.old.version != records.version {
      problem = "\(changes.old.version ?? "-") was not shown but \(records.version ?? "-")"
    }
    self.changes.append(changes)
  }
}

extension ServerFixture {
  /// Holds what a spectator shows against the server's own answers.
  func expectTruth(
    _ spectator: Spectator<AnyRecord>, _ query: String, _ items: String = "",
    _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let client = client()
    let path = "/v1/queries/\(query)"
    let fetched = try client.post("\(path)/fetch\(items)").json
    let state = try #require(fetched["version"].string).stateOfVersion
    let records = try spectator.wait(for: "the state \(state)") { told in
      told.records.version?.stateOfVersion == state ? told.records : nil
    }
    let wanted = try client.allRecords("\(path)/records", items).records
    #expect(
      Array(records) == wanted.map { AnyRecord(json: $0.values) }, comment,
      sourceLocation: sourceLocation)
    #expect(
      records.sections.flatMap { $0.rows.map { $0.key?.json ?? "null" } }
        == wanted.map(\.key.description), comment, sourceLocation: sourceLocation)
    let sections = try client.get("\(path)/sections\(items)").json["sections"].elements
    #expect(
      records.sections.map { [$0.value.description, "\($0.numberOfRecords)", $0.indexTitle] }
        == sections.map {
          [
            RemoteValue(RawJSON($0["name"].description)).description,
            $0["numberOfRecords"].description, $0["indexTitle"].string ?? "",
          ]
        }, comment, sourceLocation: sourceLocation)
  }

  func query(_ name: String, by proxy: CuttingProxy? = nil) throws -> URL {
    try #require(URL(string: "\(proxy?.base ?? base)/v1/queries/\(name)"))
  }
}

extension AnyRecord {
  init(json: JSONValue) {
    self = RawJSON(json.description).object.mapValues(RemoteValue.init)
  }
}
