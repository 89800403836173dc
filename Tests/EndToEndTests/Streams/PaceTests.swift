import Foundation
import Testing

@Suite(.endToEnd) struct `A slower pace` {
  @Test func `joins change sets`() throws {
    let teams = try Teams()
    let slow = try teams.fixture.follow("players", "?minInterval=300")
    var arrivals: [Date] = []
    var updates = 0
    for step in 1...40 {
      try teams.writer.commit("UPDATE player SET score = -\(step) WHERE id = 1")
      _ = try teams.follower.changes()
      updates += 1
    }
    try teams.expectTruth()
    while slow.model.version != teams.follower.model.version {
      _ = try slow.changes()
      arrivals.append(Date())
    }
    #expect(slow.model.records == teams.follower.model.records)
    #expect(arrivals.count < updates)
  }

  /// The time between two is measured by what was written in between: commits go on until the
  /// second change set has come.
  @Test func `keeps change sets apart`() throws {
    let teams = try Teams()
    let slow = try teams.fixture.follow("players", "?minInterval=200")
    var times: [ContinuousClock.Instant] = []
    var step = 0
    while times.count < 3 {
      step += 1
      try teams.writer.commit("UPDATE player SET score = -\(step) WHERE id = 1")
      _ = try teams.follower.changes()
      while slow.stream.waiting.contains(where: { $0.type == "didChange" }) {
        _ = try slow.changes()
        times.append(.now)
      }
    }
    // Between the first and the third lie two intervals; the client may see the first late.
    #expect(times[2] - times[0] > .milliseconds(200))
  }

  @Test func `comes to where the others are`() throws {
    let teams = try Teams()
    let slow = try teams.fixture.follow("players", "?minInterval=200")
    // Within one interval there and back again.
    for sql in [
      "UPDATE player SET score = 1 WHERE id = 1", "UPDATE player SET score = 2 WHERE id = 2",
      "UPDATE player SET score = 20 WHERE id = 2", "DELETE FROM player WHERE id = 3",
    ] {
      try teams.writer.commit(sql)
      _ = try teams.follower.changes()
    }
    while slow.model.records != teams.follower.model.records { _ = try slow.changes() }
    try teams.expectTruth()
  }

  @Test func `can be resumed`() throws {
    let teams = try Teams()
    let slow = try teams.fixture.follow("players", "?minInterval=10")
    let known = slow.model
    try teams.writer.commit("UPDATE player SET score = 1 WHERE id = 1")
    let changes = try slow.changes()
    let resumed = Follower(
      teams.fixture.stream(
        "/v1/queries/players/events?minInterval=10", .init(lastEventID: known.version)),
      model: known)
    #expect(try resumed.changes() == changes)
  }
}
