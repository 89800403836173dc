import HTTPServer
import RecordsAPI
import Testing

/// One address that uses much, and others, as a proxy tells them apart.
@Suite(.endToEnd) struct `An address` {
  private static let queries = """
    upTo: {table: player, where: "id <= :id", parameters: {id: {type: integer}}}
    """
  private static let other = ["X-Forwarded-For: 192.0.2.7"]

  private func serve(streams: Int = 100, queries: Int = 100, controllers: Int = 100) throws
    -> ServerFixture
  {
    let proxy = try #require(AddressRange("127.0.0.1"))
    return try ServerFixture(
      Teams.schema, queries: Self.queries,
      feeds: {
        $0.streamsPerAddress = streams
        $0.queriesPerAddress = queries
        $0.maximumOfControllers = controllers
      },
      service: { $0.server.trustedProxies = [proxy] })
  }

  private func own(_ host: Int = 1) -> [String] { ["X-Forwarded-For: 2001:db8::\(host)"] }

  @Test func `uses so many streams, and leaves the others theirs`() throws {
    let fixture = try serve(streams: 3)
    let path = "/v1/queries/upTo/events?id=1"
    // A /64 of IPv6 is one.
    let streams = (1...3).map { fixture.stream(path, .init(fields: own($0))) }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    let refused = try fixture.get(path, own(4))
    #expect(refused.status == 429)
    #expect(refused.head["Retry-After"] == "5")
    #expect(refused.head["Content-Type"] == "application/problem+json")
    #expect(try refused.json["detail"].string?.contains("`limits: streamsPerAddress`") == true)
    #expect(try fixture.get("/v1/queries/upTo/records?id=1", own()).status == 200)
    let other = fixture.stream(path, .init(fields: Self.other))
    #expect(try other.next()?.type == "snapshot")
    streams[0].close()
    try eventually("a stream that ended is no longer counted") {
      let stream = fixture.stream(path, .init(fields: own(5)))
      return try stream.head().status == 200
    }
  }

  @Test func `uses so many live queries, and leaves the others theirs`() throws {
    let fixture = try serve(queries: 6, controllers: 8)
    func path(_ ids: ClosedRange<Int>) -> String {
      "/v1/events?" + ids.map { "query=upTo%3Fid=\($0)" }.joined(separator: "&")
    }
    let streams = [1...3, 4...6, 1...6].map { fixture.stream(path($0), .init(fields: own())) }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    for path in [path(6...7), "/v1/queries/upTo/events?id=8", "/v1/queries/upTo/records?id=8"] {
      let refused = try fixture.get(path, own())
      #expect(refused.status == 429, "\(path)")
      #expect(try refused.json["detail"].string?.contains("`limits: queriesPerAddress`") == true)
    }
    #expect(try fixture.get("/v1/queries/upTo/records?id=6", own()).status == 200)
    let other = fixture.stream(path(7...8), .init(fields: Self.other))
    #expect(try other.next()?.type == "snapshot")
    #expect(try other.next()?.type == "snapshot")
    for stream in streams { stream.close() }
    try eventually("queries that are no longer used are no longer counted") {
      try fixture.get("/v1/queries/upTo/records?id=8", own()).status == 200
    }
  }

  /// 64 queries on each of many streams, from one address.
  @Test func `with many queries on many streams leaves room for others`() throws {
    let fixture = try serve(queries: 640, controllers: 1280)
    var statuses: [Int: Int] = [:]
    var streams: [EventStream] = []
    for start in 0..<40 {
      let items = (0..<64).map { "query=upTo%3Fid=\(start * 64 + $0)" }
      let stream = fixture.stream(
        "/v1/events?" + items.joined(separator: "&"), .init(fields: own()))
      statuses[try stream.head().status, default: 0] += 1
      streams.append(stream)
    }
    #expect(statuses == [200: 10, 429: 30])
    let other = fixture.stream("/v1/queries/upTo/events?id=99999", .init(fields: Self.other))
    #expect(try other.next()?.type == "snapshot")
    #expect(try fixture.get("/readyz").status == 200)
  }

  @Test func `that uses all that there is makes the server say so`() throws {
    let fixture = try serve(controllers: 2)
    let streams = (1...2).map {
      fixture.stream("/v1/queries/upTo/events?id=\($0)", .init(fields: own()))
    }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    let refused = try fixture.get("/v1/queries/upTo/records?id=3", Self.other)
    #expect(refused.status == 503)
    let answer = try fixture.get("/readyz")
    #expect(answer.status == 503)
    #expect(try answer.json["detail"].string?.contains("`limits: controllers`") == true)
    streams[0].close()
    try eventually("the server is ready again") { try fixture.get("/readyz").status == 200 }
  }
}
