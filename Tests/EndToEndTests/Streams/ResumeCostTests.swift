import RecordsAPI
import TestSupport
import Testing

/// `protocol.md` §4: what a client is sent that has missed something is never more than a snapshot
/// and a tenth, however far behind it is and whatever has happened.
@Suite(.endToEnd) struct `What a client has missed` {
  /// What a stream sends beside what it has to say: `retry`, and `commit` where it is of several
  /// queries.
  private static let head = 100

  private static func schema(_ rows: Int) -> String {
    """
    CREATE TABLE item (id INTEGER PRIMARY KEY, part INTEGER, text TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
    INSERT INTO item SELECT i, i % 3, 'item ' || i FROM n;
    """
  }

  private static let queries = """
    items: {table: item, section: part}
    few: {table: item, where: "part = 1", order: [text]}
    """

  /// Every commit of `changes` is a change set; then clients come back that know one of the states
  /// on the way.
  private func expectBound(
    rows: Int, path: String, changes: [String], from states: [Int],
    feeds: (inout FeedSettings) -> Void = { _ in }
  ) throws {
    let fixture = try ServerFixture(Self.schema(rows), queries: Self.queries, feeds: feeds)
    let follower = Follower(fixture.stream(path))
    try follower.expectSnapshot()
    let writer = try fixture.writer()
    var known = [follower.model]
    for sql in changes {
      try writer.commit(sql)
      _ = try follower.next()
      known.append(follower.model)
    }
    let snapshot = Follower(fixture.stream(path))
    try snapshot.expectSnapshot()
    let most = snapshot.stream.bytes.count * 11 / 10 + Self.head
    for state in states {
      let model = known[state]
      let resumed = Follower(
        fixture.stream(path, .init(lastEventID: model.version)), model: model)
      try resumed.catchUp(to: follower.model.version)
      let bytes = resumed.stream.bytes.count
      #expect(
        bytes <= most,
        "\(changes.count - state) behind: \(bytes) bytes; \(most) with the snapshot and a tenth")
      #expect(resumed.model.sections == follower.model.sections)
    }
    // One of them goes on.
    let model = known[states.last ?? 0]
    let last = Follower(fixture.stream(path, .init(lastEventID: model.version)), model: model)
    try last.catchUp(to: follower.model.version)
    // Something of this is in every query and window.
    try writer.commit("UPDATE item SET text = 'the end' WHERE part = 1 OR id = 6")
    _ = try (last.next(), follower.next())
    #expect(last.model.sections == follower.model.sections)
  }

  @Test(arguments: ["", "?limit=3", "?minInterval=1"])
  func `is no more than a snapshot and a tenth, however much it was`(items: String) throws {
    let changes = (1...400).map { step in
      "UPDATE item SET text = 'item \(step)' WHERE id = \([1, 3, 4][step % 3])"
    }
    try expectBound(
      rows: 5, path: "/v1/queries/items/events\(items)", changes: changes,
      from: [0, 1, 100, 331, 346, 390, 398, 399])
  }

  @Test(
    arguments: ["items/events", "items/events?offset=1&limit=20", "few/events?minInterval=1"],
    [1, 2])
  func `is no more than that whatever happened`(path: String, number: UInt64) throws {
    print("random resumptions of \(path): DIDCHANGE_SEED=\(RandomSource.seed)")
    var random = RandomSource(seed: RandomSource.seed &+ number)
    let rows = random.number(30...100)
    var next = rows
    let changes = (0..<100).map { step in
      next += 1
      // Whatever else it is, these records show it in every query: each commit is a change set.
      let shown = "UPDATE item SET text = 'item \(step)' WHERE id IN (4, 6)"
      let some = "id % \(random.number(1...20)) = 0 AND id > 7"
      let other = random.pick([
        "UPDATE item SET text = text || '\(random.number(0...9))' WHERE \(some)",
        "UPDATE item SET text = 'back' WHERE \(some)", "DELETE FROM item WHERE \(some)",
        "INSERT INTO item VALUES (\(next), \(random.number(0...3)), 'new \(next)')",
        "UPDATE item SET part = \(random.number(0...3)) WHERE \(some)", "SELECT 1",
      ])
      return "\(other); \(shown)"
    }
    let states = (0..<12).map { _ in random.number(0...(changes.count - 1)) }
    try expectBound(
      rows: rows, path: "/v1/queries/\(path)", changes: changes, from: states
    ) {
      $0.logCapacity = random.pick([2000, 20_000, 1 << 20])
      $0.rememberedStates = random.pick([0, 10, 64])
    }
  }

  @Test func `is no more than that on a stream of several queries`() throws {
    let fixture = try ServerFixture(Self.schema(60), queries: Self.queries)
    let path = "/v1/events?query=items&query=few"
    var client = SeveralFollower(stream: fixture.stream(path))
    for _ in 1...2 { _ = try client.receive() }
    let writer = try fixture.writer()
    var known: [(models: [String: ClientModel], id: String)] = []
    for step in 1...150 {
      known.append((client.models, client.stream.lastEventID))
      // Much of the one query changes again and again, and little of the other.
      try writer.commit(
        "UPDATE item SET text = 'item \(step)' WHERE part = 1 OR id = \(step % 60 + 1)")
      _ = try client.receive(upTo: "commit")
    }
    let beginning = fixture.stream(path)
    for _ in 1...2 { #expect(try beginning.next()?.type == "snapshot") }
    let most = beginning.bytes.count * 11 / 10 + Self.head
    for state in [0, 50, 80, 90, 120, 140, 148, 149] {
      var resumed = SeveralFollower(
        stream: fixture.stream(path, .init(lastEventID: known[state].id)))
      resumed.models = known[state].models
      while try resumed.receive().lastEventID != client.stream.lastEventID {}
      let bytes = resumed.stream.bytes.count
      #expect(bytes <= most, "\(150 - state) behind: \(bytes) of \(most) bytes")
      #expect(resumed.models.mapValues(\.sections) == client.models.mapValues(\.sections))
    }
  }

  /// Each connection breaks after so many bytes: with less than a snapshot and a tenth it must
  /// arrive all the same.
  @Test func `arrives where connections are short`() throws {
    let fixture = try ServerFixture(Self.schema(5), queries: Self.queries)
    let follower = try fixture.follow("items")
    let writer = try fixture.writer()
    var model = follower.model
    for step in 1...300 {
      try writer.commit("UPDATE item SET text = 'item \(step)' WHERE id = \(step % 5 + 1)")
      _ = try follower.next()
      // It comes back now and then, and reads one event or change set.
      guard step % 100 == 0 else { continue }
      let resumed = Follower(
        fixture.stream("/v1/queries/items/events", .init(lastEventID: model.version)), model: model)
      _ = try resumed.next()
      model = resumed.model
      #expect(model.version == follower.model.version, "\(step)")
    }
  }
}
