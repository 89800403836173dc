import Testing

/// A transaction that changes so much that its events are longer than the snapshot.
@Suite(.endToEnd) struct `A transaction that changes everything` {
  /// A query of 400 records with long texts, and one beside it.
  private static func serve(textLength: Int) throws -> ServerFixture {
    try ServerFixture(
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
      INSERT INTO item SELECT i, printf('%.*c', \(textLength), 'x') FROM n;
      CREATE TABLE other (id INTEGER PRIMARY KEY);
      INSERT INTO other VALUES (1);
      """)
  }

  private static let several = "/v1/events?query=other&query=item"

  @Test(arguments: ["", "?limit=400", "?minInterval=1"])
  func `comes as a snapshot, which is shorter`(items: String) throws {
    let fixture = try Self.serve(textLength: 150)
    let follower = try fixture.follow("item", items)
    let known = follower.model
    let before = follower.stream.bytes.count
    let writer = try fixture.writer()
    try writer.commit("UPDATE item SET text = 'x' || text")
    try follower.expectSnapshot()
    #expect(follower.stream.bytes.count - before < before * 11 / 10)
    // Who comes back from before it is sent the snapshot as well.
    let path = "/v1/queries/item/events\(items)"
    try Follower(fixture.stream(path, .init(lastEventID: known.version))).expectSnapshot()
    // It goes on with change sets, and who has seen it is told them.
    let seen = follower.model
    try writer.commit("UPDATE item SET text = 'last' WHERE id = 7")
    #expect(try follower.changes().count == 1)
    let resumed = Follower(fixture.stream(path, .init(lastEventID: seen.version)), model: seen)
    #expect(try resumed.changes().count == 1)
    let truth = try fixture.database.select("SELECT * FROM item ORDER BY id")
    #expect(follower.model.records.map(\.values) == truth)
    #expect(resumed.model.records == follower.model.records)
  }

  @Test func `comes as the snapshot of its query on a stream of several`() throws {
    let fixture = try Self.serve(textLength: 150)
    var client = SeveralFollower(stream: fixture.stream(Self.several))
    for _ in 1...2 { _ = try client.receive() }
    let (known, id) = (client.models, client.stream.lastEventID)
    try fixture.writer().commit("UPDATE item SET text = 'x' || text")
    #expect(try client.receive(upTo: "commit").map(\.type) == ["snapshot", "commit"])
    var resumed = SeveralFollower(stream: fixture.stream(Self.several, .init(lastEventID: id)))
    resumed.models = known
    #expect(try resumed.receive(upTo: "commit").map(\.type) == ["snapshot", "commit"])
    #expect(resumed.models.mapValues(\.sections) == client.models.mapValues(\.sections))
    try fixture.writer().commit("INSERT INTO other VALUES (2)")
    for event in ["willChange", "change", "didChange", "commit"] {
      #expect(try client.receive().type == event)
      #expect(try resumed.receive().type == event)
    }
  }

  /// More than is written for all streams together: each makes its own.
  @Test func `comes to each stream by itself where it is large`() throws {
    let fixture = try Self.serve(textLength: 4000)
    let streams = ["", "?limit=400"].map { fixture.stream("/v1/queries/item/events\($0)") }
    let several = fixture.stream(Self.several)
    for stream in streams + [several, several] { #expect(try stream.next()?.type == "snapshot") }
    let before = streams.map(\.bytes.count)
    let writer = try fixture.writer()
    try writer.commit("UPDATE item SET text = 'x' || text")
    for (stream, before) in zip(streams, before) {
      #expect(try stream.next()?.type == "snapshot")
      #expect(stream.bytes.count - before < before * 11 / 10)
    }
    // Whether with the snapshot of the other query or without: it ends with an id.
    var last = try several.next()
    if try last?.json["query"].string == "other" { last = try several.next() }
    #expect(last?.type == "snapshot")
    if last?.carriesID == false { #expect(try several.next()?.type == "commit") }
    try writer.commit("UPDATE item SET text = 'last' WHERE id = 7")
    for stream in streams + [several] { #expect(try stream.next()?.type == "willChange") }
  }

  /// A change set that a socket takes at once says what changed, however short the snapshot is.
  @Test func `comes as changes where these are few`() throws {
    let teams = try Teams()
    try teams.writer.commit("UPDATE player SET score = score + 1")
    #expect(try teams.follower.changes().count == 6)
    try teams.expectTruth()
  }
}
