import CCurl
import Foundation
import RecordsAPI
import Testing

/// The same stream with a JSON object on each line: `protocol.md` §8.
@Suite(.endToEnd) struct `A stream of lines` {
  private static let accept = ["Accept: application/x-ndjson"]

  /// Waits until a stream's text has something in it.
  private func wait(_ stream: EventStream, for text: String) throws {
    try eventually("\(text) in \(stream.text.suffix(500))") { stream.text.contains(text) }
  }

  /// What a line says, as an event; the id as it stands there.
  private func events(_ text: String) throws -> [(event: String, id: String?, data: String)] {
    try text.split(separator: "\n").map { line in
      let json = try JSONValue(parsing: String(line))
      let id = json.member("id")?.string
      guard json.names == (id == nil ? ["event", "data"] : ["event", "id", "data"]) else {
        throw ContractViolation("no event: \(line)")
      }
      // The data is what the other format has, byte by byte.
      let data = try #require(line.firstRange(of: #""data":"#))
      return (json["event"].string ?? "", id, String(line[data.upperBound...].dropLast()))
    }
  }

  private func expectSame(
    _ lines: EventStream, _ stream: EventStream, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let lines = try events(lines.text)
    let events = stream.allEvents
    #expect(lines.map(\.event) == events.map(\.type), sourceLocation: sourceLocation)
    #expect(lines.map(\.data) == events.map(\.data), sourceLocation: sourceLocation)
    #expect(
      lines.map(\.id) == events.map { $0.carriesID ? $0.lastEventID : nil },
      sourceLocation: sourceLocation)
  }

  @Test(arguments: [
    "/v1/queries/players/events", "/v1/queries/players/events?offset=1&limit=3",
    "/v1/queries/players/events?minInterval=5",
    "/v1/events?query=players&query=players%3Flimit%3D2",
  ])
  func `is that of events, one by one`(path: String) throws {
    let fixture = try ServerFixture(Teams.schema + Teams.others(1000), queries: Teams.query)
    let stream = fixture.stream(path)
    let lines = fixture.stream(path, .init(fields: Self.accept))
    #expect(try lines.head()["Content-Type"] == "application/x-ndjson")
    #expect(try lines.head()["Cache-Control"] == "no-cache, no-transform")
    #expect(try stream.next()?.type == "snapshot")
    try wait(lines, for: #""event":"snapshot""#)
    let writer = try fixture.writer()
    for step in 1...20 {
      // Text that JSON escapes, and that a format of lines could take for its own.
      try writer.commit(
        """
        UPDATE player SET name = char(10) || 'data: "\(step)" ' || char(13, 10, 10, 0x2028)
        || ': \\' WHERE id = \(1 + step % 6);
        DELETE FROM player WHERE id = \(1000 + step)
        """)
    }
    try writer.commit("UPDATE player SET name = 'the end' WHERE id < 7")
    let end = path.contains("query=") ? "commit" : "didChange"
    while !stream.text.contains("the end") || stream.allEvents.last?.type != end {
      _ = try stream.next()
    }
    try eventually("the end") {
      lines.text.hasSuffix("}\n") && lines.text.contains("the end")
        && (try? events(lines.text).last?.event) == end
    }
    // A pace joins by the clock, but for all streams of it.
    try expectSame(lines, stream)
    #expect(!lines.text.contains("retry:"))
  }

  @Test func `is sent a long snapshot in pieces`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT, data BLOB);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO item SELECT i, printf('%0300d', i), randomblob(i % 50) FROM n;
      """, queries: "items: {table: item}")
    let path = "/v1/queries/items/events"
    let stream = fixture.stream(path)
    #expect(try stream.next()?.type == "snapshot")
    for isHTTP10 in [false, true] {
      let lines = fixture.stream(path, .init(fields: Self.accept, isHTTP10: isHTTP10))
      try eventually("the snapshot") { lines.text.hasSuffix("}\n") }
      try expectSame(lines, stream)
    }
  }

  @Test func `is resumed as any other`() throws {
    let fixture = try ServerFixture(Teams.schema + Teams.others(100), queries: Teams.query)
    let stream = fixture.stream("/v1/queries/players/events")
    let version = try #require(try stream.next()?.lastEventID)
    let writer = try fixture.writer()
    try writer.commit("DELETE FROM player WHERE id = 1")
    while try stream.next()?.type != "didChange" {}
    let told = stream.text.split(separator: "\n\n").filter { $0.hasPrefix("event:") }.dropFirst()
    for options in [
      ("", EventStream.Options(lastEventID: version, fields: Self.accept)),
      ("?lastEventId=\(version)", .init(fields: Self.accept)),
    ] {
      let lines = fixture.stream("/v1/queries/players/events\(options.0)", options.1)
      try wait(lines, for: "didChange")
      let events = try events(lines.text)
      #expect(events.count == told.count)
      #expect(events.map(\.event) == ["willChange", "change", "didChange"])
    }
  }

  @Test func `has an empty line for a heartbeat, and no line for retry`() throws {
    let fixture = try ServerFixture(
      Teams.schema, queries: Teams.query, feeds: { $0.heartbeat = .milliseconds(200) })
    let lines = fixture.stream("/v1/queries/players/events", .init(fields: Self.accept))
    try eventually("two heartbeats") { lines.text.hasSuffix("}\n\n\n") }
    #expect(lines.text.split(separator: "\n").count == 1)
    fixture.drain()
    #expect(try lines.end() == CURLE_OK)
    #expect(lines.text.hasSuffix("\n") && !lines.text.contains("retry"))
  }

  @Test func `is chosen by what the client would rather have`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    let (events, lines) = ("text/event-stream", "application/x-ndjson")
    let wishes = [
      ("", events), ("*/*", events), ("text/*", events), ("application/*", lines), (lines, lines),
      ("APPLICATION/X-NDJSON", lines), ("\(lines), \(events)", events),
      ("\(events);q=0.5, \(lines)", lines), ("\(lines);q=0.5, */*", events),
      ("\(lines), */*;q=0.1", lines), ("\(lines);q=0, */*", events),
    ]
    for path in ["/v1/queries/players/events", "/v1/events?query=players"] {
      for (wish, type) in wishes {
        let fields = wish.isEmpty ? [] : ["Accept: \(wish)"]
        let answer = try fixture.client().send("HEAD", path, fields)
        #expect(answer.status == 200 && answer.head["Content-Type"] == type, "\(wish)")
      }
      let refused = try fixture.get(path, ["Accept: application/json"])
      refused.expectProblem(406)
      let detail = try refused.json["detail"].string ?? ""
      #expect(detail.contains(events) && detail.contains(lines))
    }
  }

  @Test func `of a caller goes on and ends as any other`() throws {
    let shop = try Shop()
    let stream = shop.stream("/v1/queries/shelf/events", as: "ann")
    let lines = shop.fixture.stream(
      "/v1/queries/shelf/events", .init(fields: Self.accept + Shop.bearer("ann")))
    #expect(try stream.next()?.type == "snapshot")
    try wait(lines, for: #""event":"snapshot""#)
    try lines.head().expectPrivate()
    try shop.writer.commit(Shop.change("ann", "level = 2"))
    while try stream.next()?.type != "didChange" {}
    try wait(lines, for: #""event":"didChange""#)
    try shop.writer.commit(Shop.signOut("ann"))
    try stream.expectEnd(with: 401)
    #expect(try lines.end() == CURLE_OK)
    try expectSame(lines, stream)
  }

  /// One that reads slowly is skipped forward, in its own format.
  @Test func `that is read slowly loses nothing`() throws {
    let fixture = try ServerFixture(
      Teams.schema, queries: Teams.query,
      feeds: { ($0.logCapacity, $0.rememberedBytes) = (20_000, 20_000) })
    let lines = fixture.stream(
      "/v1/queries/players/events", .init(fields: Self.accept, hasSmallBuffer: true))
    try wait(lines, for: "snapshot")
    lines.pause()
    let follower = try fixture.follow("players")
    let writer = try fixture.writer()
    for step in 1...400 {
      try writer.commit("UPDATE player SET name = printf('%05000d', \(step)) WHERE id = 1")
      guard step % 20 == 0 else { continue }
      while !follower.model.records.contains(where: {
        $0.values["name"].string?.hasSuffix("\(step)") == true
      }) { _ = try follower.next() }
    }
    try writer.commit("UPDATE player SET name = 'the end' WHERE id = 2")
    lines.goOn()
    var model = ClientModel()
    try eventually("the end") {
      let text = lines.text
      guard text.hasSuffix("}\n") else { return false }
      model = ClientModel()
      for line in text.split(separator: "\n") {
        _ = try model.receive(ReceivedEvent(element: try JSONValue(parsing: String(line))))
      }
      return model.records.contains { $0.values["name"] == "the end" }
    }
    #expect(model.records.contains { $0.values["name"].string?.hasSuffix("0400") == true })
    #expect(try fixture.get("/metrics").text.contains("slow_readers_skipped_total 1\n"))
  }
}
