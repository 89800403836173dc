import Testing

/// One caller who uses much, from wherever, and others.
@Suite(.endToEnd) struct `A caller` {
  @Test func `uses so many streams, and leaves the others theirs`() throws {
    let shop = try Shop(words: "limits: {streamsPerCaller: 3}\n")
    let path = "/v1/queries/orders/events"
    let streams = (1...3).map { _ in shop.stream(path, as: "ann") }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    for fields in [Shop.bearer("ann"), Shop.cookie("ann")] {
      let refused = try shop.fixture.get(path, fields)
      refused.expectProblem(429)
      #expect(refused.head["Retry-After"] != nil)
      #expect(try refused.json["detail"].string?.contains("streamsPerCaller") == true)
    }
    #expect(try shop.stream(path, as: "bob").next()?.type == "snapshot")
    #expect(try shop.get("/v1/queries/orders/records", as: "ann").status == 200)
    streams[0].close()
    try eventually("a stream that ended is no longer counted") {
      try shop.stream(path, as: "ann").head().status == 200
    }
  }

  @Test func `uses so many live queries, and leaves the others theirs`() throws {
    let shop = try Shop(words: "limits: {queriesPerCaller: 2}\n")
    func stream(_ least: Int, as name: String) -> EventStream {
      shop.stream("/v1/queries/orders/events?least=\(least)", as: name)
    }
    let streams = [0, 1, 1].map { stream($0, as: "ann") }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    let refused = try shop.get("/v1/queries/orders/events?least=2", as: "ann")
    refused.expectProblem(429)
    #expect(refused.head["Retry-After"] != nil)
    #expect(try stream(2, as: "bob").next()?.type == "snapshot")
    streams[0].close()
    try eventually("a query that is no longer used is no longer counted") {
      try stream(2, as: "ann").head().status == 200
    }
  }

  /// 10 000 products of some 500 bytes.
  private func shopWithBulk(_ limits: String) throws -> (shop: Shop, bulk: (Int) -> EventStream) {
    let bulk = """

      bulk:
        sql: SELECT id, item, :k AS k FROM bulk
        key: [id]
        parameters: {k: {type: integer}}
        allow: signedIn
      some:
        sql: SELECT id, item, :k AS k FROM bulk WHERE id <= 100
        key: [id]
        parameters: {k: {type: integer}}
        allow: signedIn
      """
    let shop = try Shop(queries: Shop.queries + bulk, words: "limits: {\(limits)}\n")
    try shop.writer.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      INSERT INTO bulk SELECT i, hex(randomblob(250)) FROM n
      """)
    // A stream of one record keeps the whole result up to date, and leaves nothing unread: who does
    // not read is let go on a slow machine, and what it showed with it.
    return (shop, { shop.stream("/v1/queries/bulk/events?k=\($0)&limit=1", as: "ann") })
  }

  @Test func `holds so much memory, and leaves the others theirs`() throws {
    let (shop, bulk) = try shopWithBulk("memoryPerCaller: 8000000")
    let stream = bulk(1)
    #expect(try stream.head().status == 200)
    // Alone it would fit, and both together do not.
    let refused = try shop.get("/v1/queries/bulk/events?k=2", as: "ann")
    refused.expectProblem(429)
    #expect(try refused.json["detail"].string?.contains("memoryPerCaller") == true)
    #expect(try shop.get("/v1/queries/bulk/records?k=3&limit=1", as: "ann").status == 200)
    #expect(try shop.stream("/v1/queries/orders/events", as: "bob").next()?.type == "snapshot")
    stream.close()
    try eventually("what a stream that ended showed is no longer counted") {
      try bulk(2).head().status == 200
    }
  }

  @Test func `who has taken all memory leaves room for whoever signs in`() throws {
    let (shop, bulk) = try shopWithBulk(
      "memory: 67108864, resultBytes: 60000000, memoryPerCaller: 1000000000")
    var streams: [EventStream] = []
    func open(atMost count: Int, _ stream: (Int) -> EventStream) throws {
      for _ in 0..<count {
        let stream = stream(streams.count)
        guard try stream.head().status == 200 else { break }
        streams.append(stream)
      }
    }
    try open(atMost: 60, bulk)
    #expect(streams.count > 2 && streams.count < 60)
    try shop.get("/v1/queries/bulk/events?k=99", as: "bob").expectProblem(503)
    let orders = shop.stream("/v1/queries/orders/events", as: "bob")
    #expect(try orders.next()?.type == "snapshot")
    #expect(try shop.get("/v1/queries/shelf/records?limit=1", as: "guest").status == 200)
    try shop.writer.run("INSERT INTO purchase VALUES (20, 8, 'Axe', 10)")
    while let event = try orders.next(), event.type != "change" {}
    // Large ones, and then small ones, take what is left: what was only needed to fetch the first ones
    // was let go a moment later, and is theirs, too. Then nobody new is shown anything, but who asks is
    // known still. On a slow machine some of the first may have been let go meanwhile.
    try eventually("nobody new is shown anything") {
      try open(atMost: 60, bulk)
      try open(atMost: 300) {
        shop.stream("/v1/queries/some/events?k=\($0)&limit=1", as: "ann")
      }
      let refused = try shop.get("/v1/queries/some/records?k=-1", as: "guest")
      guard refused.status != 200 else { return false }
      refused.expectProblem(503)
      return true
    }
    #expect(try shop.get("/metrics", as: "root").status == 200)
    #expect(try shop.get("/metrics", as: "clerk").status == 403)
    for stream in streams { stream.close() }
  }

  @Test func `who renews a token has no other shares by it`() throws {
    let fixture = try ServerFixture(
      Shop.schema, queries: Shop.queries,
      words: "callers:\n  jwt: {algorithms: [HS256], secret: {file: secret.txt}}\n"
        + "limits: {streamsPerCaller: 2}\n",
      files: ["secret.txt": TokenSigner.secret])
    func stream(_ subject: String, _ more: String) throws -> EventStream {
      let claims = "\"sub\":\"\(subject)\",\"user\":7,\"role\":\"customer\",\(more)"
      return fixture.stream(
        "/v1/queries/orders/events", .init(fields: try TokenSigner.hs256().bearer(claims)))
    }
    let streams = [try stream("ann", #""iat":1"#), try stream("ann", #""iat":2"#)]
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    #expect(try stream("ann", #""iat":3"#).head().status == 429)
    #expect(try stream("bob", #""iat":3"#).next()?.type == "snapshot")
    #expect(try stream("ann", #""iss":"elsewhere""#).next()?.type == "snapshot")
    // They are in use until here.
    for stream in streams { stream.close() }
  }
}
