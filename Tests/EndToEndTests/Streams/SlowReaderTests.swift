import HTTPServer
import RecordsAPI
import TestSupport
import Testing

@Suite(.endToEnd) struct `A slow reader` {
  /// What each commit changes of five hundred records, while a reader stands still.
  enum Changes: CaseIterable {
    /// The same hundred: one change set tells it all.
    case ofTheSame
    /// A hundred, and then others: a snapshot is shorter.
    case ofOthers

    func sql(_ step: Int) -> String {
      let text = "UPDATE item SET text = printf('%02000d', id * 100 + \(step))"
      return switch self {
      case .ofTheSame: "\(text) WHERE id <= 100"
      case .ofOthers: "\(text) WHERE id % 5 = \(step % 5)"
      }
    }
  }

  /// It is sent no gap and keeps nobody else waiting: while it does not read, more happens than its
  /// socket and the log can hold, and then it is skipped forward: with one change set where the
  /// state at which it stopped is remembered and a snapshot is not shorter, and else with that.
  @Test(
    .slow,
    arguments: ["", "?limit=1000", "?minInterval=1"],
    [(0, Changes.ofTheSame), (8, .ofTheSame), (8, .ofOthers)])
  func `is skipped forward`(items: String, memory: (states: Int, changes: Changes)) throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
      INSERT INTO item SELECT i, printf('%02000d', i) FROM n;
      """
    ) {
      $0.logCapacity = 100_000
      $0.rememberedStates = memory.states
      $0.rememberedBytes = 10_000_000
    } service: {
      // Under a sanitizer it takes long to write so much.
      $0.server.timeouts.write = .seconds(600)
    }
    let path = "/v1/queries/item/events\(items)"
    let slow = Follower(fixture.stream(path, .init(hasSmallBuffer: true)))
    try slow.expectSnapshot()
    slow.stream.pause()
    // Sees of each commit a little.
    let quick = try fixture.follow("item", "?limit=5")
    let writer = try fixture.writer()
    // Each change set is some 400 kB; the system holds a few megabytes for a socket.
    for step in 1...20 {
      try writer.commit(memory.changes.sql(step))
      _ = try quick.changes()
    }
    let truth = try fixture.database.select("SELECT * FROM item ORDER BY id")
    slow.stream.goOn()
    var snapshots = 0
    while slow.model.records.map(\.values) != truth {
      if case .snapshot = try slow.next() { snapshots += 1 }
    }
    let isJoined = memory.states > 0 && memory.changes == .ofTheSame
    // Joined to a pace, a difference may be longer than a snapshot by itself.
    #expect(isJoined ? snapshots == 0 : snapshots >= 1)
    // And it goes on like any other.
    try writer.commit("DELETE FROM item WHERE id = 1")
    #expect(try slow.changes().count == 1)
    #expect(slow.model.records.map(\.values) == Array(truth.dropFirst()))
  }
}
