import FetchedRecords
import HTTPServer
import OrderedResults
import Testing

@testable import RecordsAPI

@Suite struct `A feed` {
  private static let rows = """
    CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %)
    INSERT INTO t SELECT i, printf('%.*c', 1000, 'x') FROM n;
    """

  private func serve(_ count: Int) throws -> FeedFixture {
    try FeedFixture(Self.rows.replacing("i < %", with: "i < \(count)"))
  }

  @Test func `holds a small snapshot for all its streams, and no large one`() throws {
    for (count, isHeld) in [(3, true), (2000, false)] {
      let fixture = try serve(count)
      let broadcast = fixture.feed.log.broadcast
      let before = broadcast.end
      let version = fixture.feed.head.snapshot.version.description
      try fixture.commit("ALTER TABLE t ADD COLUMN more")
      let present = fixture.feed.present
      #expect(present.sources[0].snapshot.results.layout.columns == ["id", "text", "more"])
      #expect(present.position == broadcast.end)
      #expect(broadcast.end > before)
      #expect((broadcast.start < broadcast.end) == isHeld)
      // Nobody can go on from before but with the new snapshot.
      let log = fixture.feed.log
      #expect(log.continuation(after: version).events == nil)
      #expect(log.state(at: before) == nil)
      #expect(log.continuation(after: present.version).events?.position == present.position)
    }
  }
}
