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

  @Test func `holds so much memory, and leaves the others theirs`() throws {
    let shop = try Shop(
      queries: Shop.queries + BulkQueries.queries, words: "limits: {memoryPerCaller: 8000000}\n")
    try shop.writer.run(BulkQueries.rows)
    func bulk(_ number: Int) -> EventStream { shop.stream(BulkQueries.path(number), as: "ann") }
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
