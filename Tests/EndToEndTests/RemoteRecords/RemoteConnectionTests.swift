import Foundation
import RecordsAPI
import TestSupport
import Testing

@testable import FetchedRecordsClient

/// The Swift client where connections break, stand still or are held back.
@Suite(.promptTasks, .endToEnd) struct `A remote controller's connection` {
  private let fixture: ServerFixture
  private let proxy: CuttingProxy
  private let writer: ForeignWriter

  init() throws {
    // Many, so that a difference is shorter than all of them.
    fixture = try ServerFixture(Teams.schema + Teams.others(300), queries: Teams.query) {
      $0.heartbeat = .milliseconds(200)
    }
    proxy = try CuttingProxy(fixture.base)
    writer = try fixture.writer()
  }

  private func spectator(_ settings: LinkSettings) throws -> Spectator<AnyRecord> {
    let spectator = Spectator(
      RemoteRecordsController<AnyRecord>(
        try fixture.query("players", by: proxy), settings: settings))
    try spectator.wait(until: "it is live") { $0.state == .live }
    return spectator
  }

  private static let impatient = LinkSettings(
    longestWait: .milliseconds(20), testsConnection: false)

  @Test func `resumes after each cut, in whatever event it is`() throws {
    let spectator = try spectator(Self.impatient)
    for bytes in [1, 40, 200, 333, 450, 600, 777, 900] {
      let cuts = proxy.numberOfCuts
      proxy.cut(after: bytes)
      for step in 0..<8 where proxy.numberOfCuts == cuts {
        try writer.commit(
          "UPDATE player SET score = score + 1, team = 'T' || (id + \(bytes + step)) % 4 WHERE id < 5"
        )
        try fixture.expectTruth(spectator, "players", "", "cut after \(bytes) bytes")
      }
      try #require(proxy.numberOfCuts > cuts)
    }
    // It never had to begin anew.
    #expect(spectator.read { $0.changes.filter(\.isReset).count } == 1)
    #expect(spectator.read { $0.states.contains(.stale) })
  }

  @Test func `says that the server cannot be reached, once, and comes back`() throws {
    let spectator = try spectator(Self.impatient)
    proxy.refuse(true)
    try spectator.wait(until: "it says so") { $0.troubles.last?.reason == .unreachable }
    #expect(spectator.read(\.state) == .stale)
    try writer.commit("DELETE FROM player WHERE id = 1")
    proxy.refuse(false)
    try spectator.wait(until: "it is live") { $0.state == .live && $0.records.count == 305 }
    #expect(spectator.read { $0.troubles.count } == 1)
    #expect(spectator.read { $0.changes.filter(\.isReset).count } == 1)
  }

  @Test func `waits for a server that is not there yet`() throws {
    proxy.refuse(true)
    let spectator = Spectator(
      RemoteRecordsController<AnyRecord>(
        try fixture.query("players", by: proxy), settings: Self.impatient))
    try spectator.wait(until: "it says so") { $0.troubles.last?.reason == .unreachable }
    #expect(spectator.read(\.state) == .connecting)
    proxy.refuse(false)
    try spectator.wait(until: "it is live") { $0.state == .live && $0.records.count == 306 }
  }

  @Test func `is stale after two heartbeats that have not come`() throws {
    let spectator = try spectator(Self.impatient)
    // Until it knows how far apart they are.
    Thread.sleep(forTimeInterval: 1)
    let began = ContinuousClock.now
    proxy.freeze(true)
    try spectator.wait(until: "it is stale") { $0.state == .stale }
    #expect(ContinuousClock.now - began < .seconds(10))
    #expect(spectator.read { $0.troubles.last?.reason } == .silent)
    try writer.commit("DELETE FROM player WHERE id = 1")
    proxy.freeze(false)
    try spectator.wait(until: "it is live") { $0.state == .live && $0.records.count == 305 }
    try fixture.expectTruth(spectator, "players")
  }

  @Test(.slow) func `keeps the first half of a change set through a silence`() throws {
    let spectator = try spectator(LinkSettings(longestWait: .milliseconds(20)))
    // Until it knows how far apart heartbeats are.
    Thread.sleep(forTimeInterval: 1)
    let later = proxy.numberOfAdmissions
    proxy.freeze(after: 700)
    try writer.commit("UPDATE player SET score = score + 1 WHERE id < 7")
    try spectator.wait(until: "it is stale") { $0.state == .stale }
    #expect(spectator.read { $0.troubles.last?.reason } == .silent)
    #expect(spectator.read { $0.changes.count } == 1)
    // The test of the connection, which came later, must not be over before the rest is here, and
    // heartbeats behind it.
    let passes = proxy.numberOfPasses
    proxy.freeze(from: later)
    try eventually("heartbeats") {
      try fixture.get("/healthz").status == 200 && proxy.numberOfPasses >= passes + 4
    }
    proxy.freeze(false)
    try spectator.wait(until: "it is live") { $0.state == .live && $0.changes.count == 2 }
    #expect(spectator.read { $0.changes.last?.recordChanges.count } == 6)
    try fixture.expectTruth(spectator, "players")
  }

  @Test func `ends where an event is too large`() throws {
    let controller = RemoteRecordsController<AnyRecord>(
      try fixture.query("players"), settings: LinkSettings(maximumEventSize: 10_000))
    let spectator = Spectator(controller)
    let end = try spectator.wait(for: "its end") { $0.end }
    let error = #expect(throws: RemoteRecordsError.self) { try end.get() }
    #expect(error?.reason == .undecodable)
    #expect(error?.description.contains("10000 bytes: ask for a window") == true)
    try spectator.wait(until: "it is closed") { $0.state == .closed }
    // A window is smaller.
    spectator.ask { $0.window = 0..<5 }
    let other = Spectator(controller)
    try other.wait(until: "a window") { $0.records.count == 5 && $0.state == .live }
  }

  @Test func `polls where streams are held back`() throws {
    proxy.holdBack(true)
    let controller = RemoteRecordsController<AnyRecord>(
      try fixture.query("players", by: proxy),
      settings: LinkSettings(longestWait: .milliseconds(20)))
    let spectator = Spectator(controller)
    try spectator.wait(until: "it polls") { $0.transports.last == .longPoll }
    try spectator.wait(until: "it is live") { $0.state == .live }
    for step in 0..<5 {
      try writer.commit(
        "UPDATE player SET score = score + 1, team = 'T\(step)' WHERE id = \(1 + step)")
      try fixture.expectTruth(spectator, "players")
    }
    #expect(spectator.read { $0.changes.filter(\.isReset).count } == 1)
    proxy.refuse(true)
    try spectator.wait(until: "it says so") { $0.troubles.last?.reason == .unreachable }
    try writer.commit("DELETE FROM player WHERE id = 1")
    proxy.refuse(false)
    try spectator.wait(until: "it is live") { $0.state == .live && $0.records.count == 305 }
    #expect(spectator.read { $0.transports } == [.stream, .longPoll])
  }

  @Test func `can be asked for something else, and closed, while nothing answers`() throws {
    proxy.freeze(true)
    // On Linux the queue of a session is held from a tenth of a second on.
    for step in 0..<10 {
      let controllers = try (0..<4).map { _ in
        RemoteRecordsController<AnyRecord>(
          try fixture.query("players", by: proxy), settings: Self.impatient)
      }
      let spectators = controllers.map { Spectator($0) }
      Thread.sleep(forTimeInterval: 0.08 + Double(step) / 100)
      for spectator in spectators { spectator.ask { $0.window = 0..<(1 + step) } }
      Thread.sleep(forTimeInterval: Double(step) / 100)
      for controller in controllers { controller.close() }
    }
    proxy.freeze(false)
    _ = try spectator(Self.impatient)
  }

  @Test func `begins anew where the server does not know what it shows`() throws {
    let spectator = try spectator(Self.impatient)
    proxy.refuse(true)
    try spectator.wait(until: "it is stale") { $0.state == .stale }
    // More than the records are worth.
    try writer.commit("DELETE FROM player; INSERT INTO player VALUES (9, 'Zoe', 'Z', 1)")
    proxy.refuse(false)
    try spectator.wait(until: "it is live") { $0.state == .live && $0.records.count == 1 }
    try fixture.expectTruth(spectator, "players")
  }
}
