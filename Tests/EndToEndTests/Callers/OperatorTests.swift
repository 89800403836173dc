import Testing

@Suite(.endToEnd) struct `What operators see` {
  private static let inner = [
    "sql", "plan", "tracking", "trackingReason", "commits", "refreshes", "controllers",
  ]

  @Test func `are the metrics, and nobody else does`() throws {
    let shop = try Shop()
    let follower = try shop.follow("orders", as: "ann")
    let answer = try shop.get("/metrics", as: "root")
    #expect(answer.status == 200)
    #expect(answer.text.contains("didchange_streams 1\n"))
    try shop.get("/metrics").expectUnauthorized(withToken: false)
    try shop.get("/metrics", as: "stranger").expectUnauthorized(withToken: true)
    for name in ["ann", "guest", "clerk"] {
      try shop.get("/metrics", as: name).expectProblem(403, "\(name)")
    }
    #expect(!answer.text.contains(Shop.digest(Shop.token("ann"))))
    #expect(!answer.text.contains(Shop.token("ann")))
    #expect(follower.keys == [[1], [2]])
  }

  @Test func `is the SQL, and who reads it, and nobody else does`() throws {
    let shop = try Shop()
    let follower = try shop.follow("orders", as: "ann")
    let path = "/v1/queries/orders"
    let described = try shop.get(path, as: "root").json
    for member in Self.inner { #expect(described.member(member) != nil, "\(member)") }
    #expect(described["sql"].string?.contains("purchase") == true)
    #expect(described["controllers"].elements.count == 1)
    let answer = try shop.get(path, as: "ann")
    let json = try answer.json
    #expect(json["name"] == "orders")
    #expect(json["columns"].elements.count == 4)
    for member in Self.inner { #expect(json.member(member) == nil, "\(member)") }
    #expect(!answer.text.contains("SELECT") && !answer.text.contains(follower.model.version))
    // Of a query that anyone may read as well.
    for name in [nil, "ann"] {
      let notices = try shop.get("/v1/queries/notices", as: name).json
      #expect(notices["name"] == "notices")
      for member in Self.inner { #expect(notices.member(member) == nil, "\(member)") }
    }
  }

  @Test func `is seen by who becomes one, at once`() throws {
    let shop = try Shop()
    try shop.get("/metrics", as: "ann").expectProblem(403)
    try shop.writer.commit(Shop.change("ann", "role = 'admin'"))
    try eventually("ann is an operator") {
      try shop.get("/metrics", as: "ann").status == 200
    }
    try shop.writer.commit(Shop.change("ann", "role = 'customer'"))
    try eventually("ann is none any more") {
      try shop.get("/metrics", as: "ann").status == 403
    }
  }

  @Test func `is nobody's where none are named`() throws {
    let callers = Shop.callers.replacing("  operators: {role: admin}\n", with: "")
    let shop = try Shop(callers)
    try shop.get("/metrics").expectUnauthorized(withToken: false)
    try shop.get("/metrics", as: "root").expectProblem(403)
    let json = try shop.get("/v1/queries/ledger", as: "root").json
    for member in Self.inner { #expect(json.member(member) == nil, "\(member)") }
  }

  @Test func `is everybody's who is signed in where it says so`() throws {
    let shop = try Shop(Shop.callers.replacing("{role: admin}", with: "signedIn"))
    #expect(try shop.get("/metrics", as: "guest").status == 200)
    try shop.get("/metrics").expectUnauthorized(withToken: false)
  }

  @Test func `counts who was refused, by the reason`() throws {
    let shop = try Shop()
    let before = try refusals(shop)
    for _ in 1...3 { _ = try shop.get("/v1/queries/orders/records") }
    for _ in 1...5 { _ = try shop.get("/v1/queries/orders/records", as: "guest") }
    let after = try refusals(shop)
    let added = after.map { $0.value - (before[$0.key] ?? 0) }.filter { $0 > 0 }.sorted()
    #expect(added == [3, 5])
  }

  /// The counters whose name speaks of refusals, with their labels.
  private func refusals(_ shop: Shop) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for line in try shop.get("/metrics", as: "root").text.split(separator: "\n") {
      guard let match = line.wholeMatch(of: /(\w*refus\w*\{.*reason="\w+".*\}) ([0-9]+)/) else {
        continue
      }
      counts[String(match.1)] = Int(match.2)
    }
    return counts
  }

  @Test func `lists every live query as it was asked for`() throws {
    let shop = try Shop()
    let followers = try ["ann", "bob", "root"].map { try shop.follow("orders", as: $0) }
    let controllers = try shop.get("/v1/queries/orders", as: "root").json["controllers"]
    #expect(controllers.elements.count == 3)
    let customers = controllers.elements.compactMap { $0["parameters"]["customer"].int }
    #expect(customers.sorted() == [1, 7, 8])
    #expect(followers.map(\.keys.count) == [2, 2, 0])
  }
}
