import HTTPServer
import RecordsAPI
import Testing

@Suite(.endToEnd) struct `A slow reader` {
  /// It is sent no gap and keeps nobody else waiting: while it does not read, more happens than its
  /// socket and the log can hold, and then it is skipped forward: with one change set where the
  /// state at which it stopped is remembered, and else with a snapshot.
  @Test(arguments: ["", "?limit=1000", "?minInterval=1"], [0, 8])
  func `is skipped forward`(items: String, remembered: Int) throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO item SELECT i, '' FROM n;
      """
    ) {
      $0.logCapacity = 100_000
      $0.rememberedStates = remembered
      $0.rememberedBytes = 10_000_000
    } service: {
      // Under a sanitizer it takes long to write so much.
      $0.timeouts.write = .seconds(600)
    }
    let path = "/v1/queries/item/events\(items)"
    let slow = Follower(fixture.stream(path, .init(hasSmallBuffer: true)))
    try slow.expectSnapshot()
    slow.stream.pause()
    let quick = try fixture.follow("item")
    let writer = try fixture.writer()
    // Each change set is some 200 kB; the system holds a few megabytes for a socket.
    for step in 1...30 {
      try writer.commit("UPDATE item SET text = printf('%02000d', id * \(step))")
      #expect(try quick.changes().count == 100)
    }
    slow.stream.goOn()
    var snapshots = 0
    while slow.model.records != quick.model.records {
      if case .snapshot = try slow.next() { snapshots += 1 }
    }
    #expect(snapshots == (remembered == 0 ? 1 : 0))
    // And it goes on like any other.
    try writer.commit("DELETE FROM item WHERE id = 1")
    #expect(try slow.changes() == quick.changes())
    try fixture.expectTruth(quick, "item", "SELECT * FROM item ORDER BY id")
  }
}
