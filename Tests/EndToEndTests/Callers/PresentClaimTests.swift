import Testing

/// Whoever has committed, and then asks, is answered as of that commit.
@Suite(.endToEnd) struct `What was committed before a request` {
  private let shop: Shop
  private let client: HTTPClient

  init() throws {
    shop = try Shop()
    client = shop.fixture.client()
  }

  /// The answer to the request that follows a commit at once, on a connection that is open.
  private func get(_ path: String, after statement: String) throws -> HTTPClient.Answer {
    try shop.writer.commit(statement)
    return try client.get(path, Shop.bearer("ann"))
  }

  @Test func `says who asks and what they may read`() throws {
    let orders = "/v1/queries/orders/records"
    // A stream, so that the row is followed all the time.
    let follower = try shop.follow("notices", as: "ann")
    for round in 0..<50 {
      let out = try get(orders, after: Shop.signOut("ann"))
      #expect(out.status == 401, "\(round)")
      let back = try get(orders, after: Shop.signIn("ann", "7, 'customer', 1, NULL"))
      #expect(try back.keys == [[1], [2]], "\(round)")
      let guest = try get(orders, after: Shop.change("ann", "role = 'guest'"))
      #expect(guest.status == 403, "\(round)")
      let other = try get(orders, after: Shop.change("ann", "role = 'customer', user = 8"))
      #expect(try other.keys == [[3], [4]], "\(round)")
      let same = try get(orders, after: Shop.change("ann", "user = 7"))
      #expect(try same.keys == [[1], [2]], "\(round)")
    }
    follower.stream.close()
  }

  /// The claims are of the commit before, until the statement has run again.
  @Test func `says what they may read though the claims take long`() throws {
    let long = """
      AND (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) \
      SELECT count(*) FROM n) > 0
      """
    let shop = try Shop(Shop.callers.replacing("= :token", with: "= :token \(long)"))
    let client = shop.fixture.client()
    let orders = "/v1/queries/orders/records"
    let follower = try shop.follow("notices", as: "ann")
    for round in 0..<10 {
      try shop.writer.commit(Shop.change("ann", "role = 'guest'"))
      #expect(try client.get(orders, Shop.bearer("ann")).status == 403, "\(round)")
      try shop.writer.commit(Shop.change("ann", "role = 'customer'"))
      #expect(try client.get(orders, Shop.bearer("ann")).status == 200, "\(round)")
    }
    follower.stream.close()
  }

  @Test func `holds wherever a token is shown`() throws {
    _ = try shop.follow("notices", as: "ann")
    let paths =
      `A server that knows its callers`.resources.map { "/v1/queries/orders\($0)" } + [
        "/v1/queries/orders/events", "/v1/events?query=orders&query=shelf",
        "/v1/queries/orders/events?limit=1", "/v1/queries/orders/changes", "/v1/queries",
      ]
    for path in paths {
      for _ in 0..<5 {
        let out = try get(path, after: Shop.signOut("ann"))
        #expect(out.status == 401, "\(path)")
        try shop.writer.commit(Shop.signIn("ann", "7, 'customer', 1, NULL"))
        let back = shop.stream(path, as: "ann")
        #expect(try back.head().status == 200, "\(path)")
        back.close()
      }
    }
  }

  @Test func `is in what they read`() throws {
    _ = try shop.follow("orders", as: "ann")
    for id in 100..<150 {
      let page = try get(
        "/v1/queries/orders/records?least=99",
        after: "INSERT INTO purchase VALUES (\(id), 7, 'Item \(id)', 99)")
      #expect(try page.json["numberOfRecords"].int == id - 99)
    }
  }

  /// Too long for the queue that follows commits: each result comes behind its commit.
  @Test func `is in what they read though that takes long`() throws {
    let long = """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) \
      SELECT count(*) FROM n
      """
    let shop = try Shop(
      queries: Shop.queries.replacing(
        "AND price >= :least", with: "AND price >= :least AND (\(long)) > 0"))
    let client = shop.fixture.client()
    _ = try shop.follow("orders", as: "ann")
    for id in 100..<115 {
      try shop.writer.commit("INSERT INTO purchase VALUES (\(id), 7, 'Item \(id)', 99)")
      let page = try client.get("/v1/queries/orders/records?least=99", Shop.bearer("ann"))
      #expect(try page.json["numberOfRecords"].int == id - 99)
    }
  }
}
