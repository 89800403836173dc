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

  @Test func `finds keys by an index that is made once for each state`() throws {
    let fixture = try serve(3)
    let feed = fixture.feed
    let first = feed.head.snapshot
    #expect(!feed.knowsKeys(of: first))
    #expect(feed.keys(of: first).offset(ofKey: [.integer(2)]) == 1)
    #expect(feed.knowsKeys(of: first))
    try fixture.commit("DELETE FROM t WHERE id = 1")
    let second = feed.head.snapshot
    #expect(!feed.knowsKeys(of: first) && !feed.knowsKeys(of: second))
    #expect(feed.keys(of: second).offset(ofKey: [.integer(2)]) == 0)
    // Somebody still makes an answer from the state before.
    #expect(feed.keys(of: first).offset(ofKey: [.integer(2)]) == 1)
    #expect(feed.keys(of: second).offset(ofKey: [.integer(1)]) == nil)
  }

  @Test(arguments: [200, 3000]) func `tells few changes and many alike`(_ count: Int) throws {
    let fixture = try serve(count)
    let (feed, broadcast) = (fixture.feed, fixture.feed.log.broadcast)
    for text in ["a", "b"] {
      let (before, old) = (broadcast.end, feed.head.snapshot)
      try fixture.commit("UPDATE t SET text = '\(text)' || text WHERE id <= \(count / 3)")
      let new = feed.head.snapshot
      var expected = ChangeEvents(member: feed.present.members[0].name)
      let isWhole = expected.append(
        new.results.changesAcrossLayouts(from: old.results), from: old, to: new,
        unlessLongerThan: feed.present.members[0].size)
      #expect(isWhole)
      #expect(expected.count == count / 3 + 2)
      let told = try #require(broadcast.units(from: before, to: broadcast.end))
      let prepared = ToldChange(
        new.results.changesAcrossLayouts(from: old.results), from: old, to: new,
        as: feed.present.members[0].name)
      #expect(prepared.leads(from: old, to: new))
      #expect(!prepared.leads(from: new, to: old))
      #expect(!prepared.leads(from: old, to: new.notBefore(new.commit + 1)))
      guard case .changes(let bytes, _) = prepared.form else {
        Issue.record("a snapshot")
        return
      }
      // Not for an expectation to print.
      let isSame = told == expected.bytes && bytes == told
      #expect(isSame)
    }
  }

  @Test func `holds a small snapshot for all its streams, and no large one`() throws {
    for (count, isHeld) in [(3, true), (2000, false)] {
      let fixture = try serve(count)
      let broadcast = fixture.feed.log.broadcast
      let before = broadcast.end
      let version = fixture.feed.head.snapshot.version.description
      try fixture.commit("ALTER TABLE t ADD COLUMN more")
      let present = fixture.feed.present
      #expect(present.members[0].snapshot.results.layout.columns == ["id", "text", "more"])
      #expect(present.position == broadcast.end)
      #expect(broadcast.end > before)
      #expect((broadcast.start < broadcast.end) == isHeld)
      // Nobody can go on from before but with the new snapshot.
      let log = fixture.feed.log
      #expect(log.continuation(after: version).events == nil)
      #expect(log.state(at: before) == nil)
      #expect(
        log.continuation(after: present.version.description).events?.position == present.position)
    }
  }
}
