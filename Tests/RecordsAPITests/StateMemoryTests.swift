import FetchedRecords
import HTTPServer
import OrderedResults
import Testing

@testable import RecordsAPI

/// The results of a query that are remembered, without the query.
@Suite struct `A memory of states` {
  private let snapshot: ResultsSnapshot
  private let broadcast = Broadcast(capacity: 1_000_000)

  init() throws { snapshot = try LiveResult.ofEmptyTable().snapshot }

  private func state(_ number: Int) -> RememberedState {
    RememberedState(
      version: ResultsVersion(state: "v-\(number)", number: number),
      position: broadcast.append(Array("event \(number)".utf8)),
      snapshots: [snapshot], of: [])
  }

  @Test func `holds the latest, up to a number`() {
    var memory = StateMemory(maximumCount: 3, maximumBytes: .max, state(0))
    for number in 1...100 {
      memory.append(state(number), changes: 1)
      #expect(memory.size.count <= 4)
      // A block for each change that led away from a state; the present one costs nothing.
      #expect(memory.size.bytes == 8192 * (memory.size.count - 1))
    }
    #expect(memory.state(named: "v-96") == nil)
    for number in 97...100 { #expect(memory.state(named: "v-\(number)") != nil) }
  }

  @Test func `holds no more bytes than it may`() {
    var memory = StateMemory(maximumCount: 1000, maximumBytes: 20_000, state(0))
    for number in 1...100 {
      memory.append(state(number), changes: number)
      #expect(memory.size.bytes <= 20_000)
    }
    #expect(memory.state(named: "v-100") != nil)
    #expect(memory.state(named: "v-97") == nil)
  }

  @Test func `holds where readers stopped for longer than the others`() {
    var memory = StateMemory(maximumCount: 3, maximumBytes: .max, state(0))
    let stopped = state(1)
    memory.append(stopped, changes: 1)
    memory.noteStall(at: stopped.position)
    memory.noteStall(at: stopped.position)
    for number in 2...50 { memory.append(state(number), changes: 1) }
    #expect(memory.state(at: stopped.position)?.version.state == "v-1")
    #expect(memory.size.count == 5)
    // A thousand readers that stop at as many places make no more of it.
    for number in 51...1000 {
      let state = state(number)
      memory.append(state, changes: 1)
      memory.noteStall(at: state.position)
      #expect(memory.size.count <= 7)
    }
    #expect(memory.state(at: stopped.position) == nil)
  }

  @Test func `knows nothing from before a restart`() {
    var memory = StateMemory(maximumCount: 3, maximumBytes: .max, state(0))
    memory.append(state(1), changes: 1)
    memory.restart(with: state(2))
    #expect(memory.size == (1, 0))
    #expect(memory.state(named: "v-1") == nil)
    #expect(memory.state(named: "v-2") != nil)
  }

  @Test func `and a log are bounded whatever comes`() {
    var settings = FeedSettings()
    settings.logCapacity = 10_000
    settings.logCount = 20
    settings.rememberedStates = 5
    let log = EventLog(
      settings, counters: FeedCounters(), version: ResultsVersion(state: "v-0", number: 0),
      shows: [snapshot], of: [], in: nil)
    for number in 1...500 {
      log.append(
        Array(repeating: 65, count: number % 7 * 100 + 1), count: 1,
        version: ResultsVersion(state: "v-\(number)", number: number),
        shows: [snapshot], changes: 1)
      log.noteStall(at: log.broadcast.end)
      #expect(log.size.marks <= 21)
      #expect(log.size.states <= 11)
    }
    #expect(log.continuation(after: "v-480").events?.changeSets == 20)
    // Of 481 to 500.
    let bytes = (481...500).reduce(0) { $0 + $1 % 7 * 100 + 1 }
    #expect(log.continuation(after: "v-480").events?.bytes == bytes)
    #expect(log.continuation(after: "v-479").events == nil)
    #expect(log.continuation(after: "v-100").state == nil)
    #expect(log.continuation(after: "v-496").state != nil)
  }
}
