import RecordsAPI
import Testing

@Suite(.endToEnd) struct `An event stream` {
  @Test func `is this to the letter`() throws {
    let fixture = try ServerFixture(
      Teams.schema,
      queries: Teams.query + "\n  alongside: {total: SELECT count(*) FROM player}")
    let stream = fixture.stream("/v1/queries/players/events")
    let head = try stream.head()
    #expect(head.statusLine == "HTTP/1.1 200 OK")
    #expect(head["Content-Type"] == "text/event-stream")
    #expect(head["Cache-Control"] == "no-cache, no-transform")
    #expect(head["X-Accel-Buffering"] == "no")
    #expect(head["Content-Length"] == nil)
    #expect(head["Transfer-Encoding"] == "chunked")
    let first = try #require(try stream.next())
    try fixture.writer().commit(
      "DELETE FROM player WHERE id > 2; UPDATE player SET team = 'Red' WHERE id = 2")
    while try stream.next()?.type != "didChange" {}
    let (v1, c1) = (try first.json["version"].string ?? "", try first.json["commit"].int ?? 0)
    let v2 = stream.lastEventID
    let retry = try #require(stream.reconnectionTime)
    #expect((1000...3000).contains(retry))
    #expect(
      stream.text == """
        retry: \(retry)

        event: snapshot
        id: \(v1)
        data: {"query":"players","version":"\(v1)","commit":\(c1),"numberOfRecords":6,"sections":[{"index":0,"name":"Blue","indexTitle":"B","numberOfRecords":3,"offset":0},{"index":1,"name":"Green","indexTitle":"G","numberOfRecords":1,"offset":3},{"index":2,"name":"Red","indexTitle":"R","numberOfRecords":2,"offset":4}],"alongside":{"total":6},"records":[{"key":[1],"record":{"id":1,"name":"Ada","team":"Blue","score":10}},{"key":[2],"record":{"id":2,"name":"Bob","team":"Blue","score":20}},{"key":[3],"record":{"id":3,"name":"Cy","team":"Blue","score":30}},{"key":[4],"record":{"id":4,"name":"Dan","team":"Green","score":40}},{"key":[5],"record":{"id":5,"name":"Eve","team":"Red","score":50}},{"key":[6],"record":{"id":6,"name":"Fay","team":"Red","score":60}}]}

        event: willChange
        data: {"query":"players","from":"\(v1)","version":"\(v2)","commit":\(c1 + 1),"numberOfChanges":6}

        event: sectionChange
        data: {"type":"deletion","section":1,"name":"Green","indexTitle":"G"}

        event: change
        data: {"type":"deletion","indexPath":[2,1],"key":[6],"record":{"id":6,"name":"Fay","team":"Red","score":60}}

        event: change
        data: {"type":"deletion","indexPath":[2,0],"key":[5],"record":{"id":5,"name":"Eve","team":"Red","score":50}}

        event: change
        data: {"type":"deletion","indexPath":[1,0],"key":[4],"record":{"id":4,"name":"Dan","team":"Green","score":40}}

        event: change
        data: {"type":"deletion","indexPath":[0,2],"key":[3],"record":{"id":3,"name":"Cy","team":"Blue","score":30}}

        event: change
        data: {"type":"move","indexPath":[0,1],"newIndexPath":[1,0],"key":[2],"changes":{"team":"Blue"},"record":{"id":2,"name":"Bob","team":"Red","score":20}}

        event: didChange
        id: \(v2)
        data: {"query":"players","from":"\(v1)","version":"\(v2)","commit":\(c1 + 1),"numberOfRecords":2,"numberOfSections":2,"alongside":{"total":2}}


        """)
  }

  @Test func `begins without a snapshot where none is wanted`() throws {
    let teams = try Teams()
    let stream = teams.fixture.stream("/v1/queries/players/events?snapshot=false")
    _ = try stream.head()
    try teams.writer.commit("DELETE FROM player WHERE id = 1")
    let event = try #require(try stream.next())
    #expect(event.type == "willChange")
    #expect(try event.json["from"].string == teams.follower.model.version)
    let other = try teams.fixture.stream("/v1/queries/players/events?snapshot=true").next()
    #expect(other?.type == "snapshot")
  }

  @Test func `of an empty result says so`() throws {
    let fixture = try ServerFixture(
      Teams.schema + "DELETE FROM player;",
      queries: Teams.query + "\nplain: {table: player}")
    let sectioned = try #require(try fixture.stream("/v1/queries/players/events").next()).json
    #expect(sectioned["numberOfRecords"] == 0)
    #expect(sectioned["sections"] == [])
    #expect(sectioned["records"] == [])
    let plain = try #require(try fixture.stream("/v1/queries/plain/events").next()).json
    #expect(
      plain["sections"].description
        == #"[{"index":0,"name":null,"indexTitle":"","numberOfRecords":0,"offset":0}]"#)
  }

  @Test func `of a large result begins with all of it`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO item SELECT i, printf('%0100d', i) FROM n;
      """)
    let follower = try fixture.follow("item")
    #expect(follower.model.records.count == 2000)
    try fixture.writer().commit("UPDATE item SET text = '' WHERE id % 100 = 0")
    #expect(try follower.changes().count == 20)
    try fixture.expectTruth(follower, "item", "SELECT * FROM item ORDER BY id")
  }

  @Test(arguments: [
    "snapshot=no", "minInterval=x", "minInterval=-1", "limit=0", "offset=-1", "x=1",
  ])
  func `is refused where it cannot be`(items: String) throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    let answer = try fixture.get("/v1/queries/players/events?\(items)")
    #expect(answer.status == 400)
    #expect(answer.head["Content-Type"] == "application/problem+json")
  }

  @Test func `is the same for all who read it`() throws {
    let teams = try Teams()
    let streams = (0..<3).map { _ in teams.fixture.stream("/v1/queries/players/events") }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    for score in 1...20 {
      try teams.writer.commit("UPDATE player SET score = \(score), team = 'T' || (id % \(score))")
    }
    try teams.expectTruth()
    let texts = try streams.map { stream in
      while stream.lastEventID != teams.follower.model.version { _ = try stream.next() }
      return stream.sharedText
    }
    #expect(Set(texts).count == 1)
  }

  @Test func `has the values of its parameters only`() throws {
    let fixture = try ServerFixture(
      Teams.schema,
      queries: """
        team:
          table: player
          where: team = :team
          parameters: {team: {type: text}}
        """)
    let blue = try fixture.follow("team", "?team=Blue")
    let red = try fixture.follow("team", "?team=Red")
    #expect(blue.model.records.map(\.key) == [[1], [2], [3]])
    #expect(red.model.records.map(\.key) == [[5], [6]])
    #expect(try fixture.get("/v1/queries/team").json["controllers"].elements.count == 2)
    let writer = try fixture.writer()
    // Only Red sees the first; only Blue's next event is about the second.
    try writer.commit("UPDATE player SET score = 1 WHERE id = 5")
    #expect(try red.changes().count == 1)
    try writer.commit("UPDATE player SET team = 'Blue' WHERE id = 6")
    #expect(try red.changes().count == 1)
    #expect(
      try blue.changes() == [
        #"change {"type":"insertion","newIndexPath":[0,3],"key":[6],"record":{"id":6,"name":"Fay","team":"Blue","score":60}}"#
      ])
    try fixture.expectTruth(
      blue, "team?team=Blue", "SELECT * FROM player WHERE team = 'Blue' ORDER BY id")
    try fixture.expectTruth(
      red, "team?team=Red", "SELECT * FROM player WHERE team = 'Red' ORDER BY id")
  }

  @Test func `beats when it has nothing to say`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query) {
      $0.heartbeat = .milliseconds(50)
    }
    let stream = fixture.stream("/v1/queries/players/events")
    for _ in 1...3 { #expect(try stream.comment().hasPrefix(":")) }
    #expect(try stream.next()?.type == "snapshot")
    try fixture.writer().commit("DELETE FROM player WHERE id = 1")
    #expect(try stream.next()?.type == "willChange")
    #expect(try stream.next()?.type == "change")
    #expect(try stream.next()?.type == "didChange")
    _ = try stream.comment()
  }
}
