import Testing

@Suite(.endToEnd) struct `A server that knows its callers` {
  private let shop: Shop

  init() throws { shop = try Shop() }

  /// All that can be read of a query; each is one there for whoever may read it.
  static let resources = [
    "", "/records", "/records/1", "/sections", "/sections/0", "/sections/0/records",
    "/sections/0/records/0", "/sectionIndexTitles", "/sectionIndexTitles/A",
  ]

  @Test func `asks a stranger for a token, and says no more`() throws {
    for resource in Self.resources + ["/events", "/records?limit=1", "/events?limit=1"] {
      for query in ["orders", "shelf", "ledger"] {
        let answer = try shop.get("/v1/queries/\(query)\(resource)")
        answer.expectUnauthorized(withToken: false, "\(query)\(resource)")
        #expect(!answer.text.contains("SELECT") && !answer.text.contains("purchase"))
      }
    }
    try shop.post("/v1/queries/orders/fetch").expectUnauthorized(withToken: false)
    try shop.get("/v1/events?query=orders").expectUnauthorized(withToken: false)
    try shop.get("/v1/events?query=notices&query=orders").expectUnauthorized(withToken: false)
    let head = try shop.fixture.client().send("HEAD", "/v1/queries/orders/records")
    #expect(head.status == 401)
    #expect(head.head["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
  }

  @Test func `answers no token that is not good, wherever it comes`() throws {
    for resource in Self.resources + ["/events"] {
      // Not even what anyone may read: a token that is not good is never anonymous.
      for query in ["orders", "notices"] {
        let path = "/v1/queries/\(query)\(resource)"
        try shop.get(path, as: "stranger").expectUnauthorized(withToken: true, "\(path)")
      }
    }
    try shop.post("/v1/queries/notices/fetch", as: "stranger").expectUnauthorized(withToken: true)
    try shop.get("/v1/events?query=notices", as: "stranger").expectUnauthorized(withToken: true)
    try shop.get("/v1/queries", as: "stranger").expectUnauthorized(withToken: true)
  }

  @Test func `refuses whom it knows and does not let in`() throws {
    for resource in Self.resources + ["/events"] {
      try shop.get("/v1/queries/orders\(resource)", as: "guest").expectProblem(403, "\(resource)")
      try shop.get("/v1/queries/ledger\(resource)", as: "ann").expectProblem(403, "\(resource)")
    }
    for query in ["orders", "ledger"] {
      let path = "/v1/queries/\(query)/fetch"
      try shop.post(path, as: "guest").expectProblem(403)
      #expect(try shop.post(path, as: "root").status == 200)
    }
    try shop.get("/v1/events?query=shelf&query=ledger", as: "ann").expectProblem(403)
    let refused = try shop.get("/v1/queries/ledger/records", as: "ann")
    #expect(refused.head["WWW-Authenticate"]?.contains("invalid_token") != true)
  }

  @Test func `shows each caller what is theirs, on every resource`() throws {
    #expect(try shop.get("/v1/queries/orders/records", as: "ann").keys == [[1], [2]])
    #expect(try shop.get("/v1/queries/orders/records", as: "bob").keys == [[3], [4]])
    #expect(try shop.get("/v1/queries/orders/records", as: "root").keys == [])
    #expect(try shop.get("/v1/queries/ledger/records", as: "root").keys.count == 5)
    for resource in Self.resources {
      #expect(try shop.get("/v1/queries/orders\(resource)", as: "ann").status == 200, "\(resource)")
    }
    #expect(try shop.post("/v1/queries/orders/fetch", as: "ann").status == 200)
    // Somebody else's record is not there.
    try shop.get("/v1/queries/orders/records/3", as: "ann").expectProblem(404)
    let page = try shop.get("/v1/queries/orders/sections/0/records", as: "bob")
    #expect(try page.keys == [[3], [4]])
    #expect(try shop.get("/v1/queries/shelf/records", as: "ann").json["numberOfRecords"] == 190)
    #expect(try shop.get("/v1/queries/shelf/records", as: "bob").json["numberOfRecords"] == 200)
    #expect(try shop.get("/v1/queries/shelf/records", as: "guest").json["numberOfRecords"] == 190)
  }

  @Test func `lets anyone read what anyone may`() throws {
    for name in [nil, "ann", "guest"] {
      #expect(try shop.get("/v1/queries/notices/records", as: name).keys == [[1]])
      let stream = shop.stream("/v1/queries/notices/events", as: name)
      #expect(try stream.next()?.type == "snapshot")
    }
  }

  @Test func `refuses who lacks the claim that a parameter takes`() throws {
    for (path, name) in [
      ("orders/records", "clerk"), ("orders/events", "clerk"), ("orders/sections", "clerk"),
      ("shelf/records", "clerk"), ("shelf/events?limit=1", "clerk"),
    ] {
      try shop.get("/v1/queries/\(path)", as: name).expectProblem(403, "\(path)")
    }
    try shop.post("/v1/queries/orders/fetch", as: "clerk").expectProblem(403)
    try shop.get("/v1/events?query=notices&query=shelf", as: "clerk").expectProblem(403)
  }

  /// Of a claim, whose value is the text that SQLite makes of it, and no integer.
  @Test func `refuses a claim that the parameter cannot take`() throws {
    for value in ["'x'", "7.5", "'7 OR 1=1'", "x'37'"] {
      try shop.writer.commit(Shop.change("ann", "user = \(value)"))
      try eventually("\(value) is the claim") {
        try shop.get("/v1/queries/orders/records", as: "ann").status != 200
      }
      let answer = try shop.get("/v1/queries/orders/records", as: "ann")
      answer.expectProblem(403, "\(value)")
      try shop.writer.commit(Shop.change("ann", "user = 7"))
      try eventually("7 is the claim") {
        try shop.get("/v1/queries/orders/records", as: "ann").status == 200
      }
    }
  }

  @Test func `takes from no URL what a claim says`() throws {
    for (path, name) in [
      ("orders/records?customer=8", "ann"), ("orders/records?customer=7", "ann"),
      ("orders/events?customer=8", "ann"), ("orders/events?customer=8&limit=1", "ann"),
      ("orders/sections?customer=8", "root"), ("orders/records/3?customer=8", "ann"),
      ("orders/records?%63ustomer=8", "ann"), ("orders/records?least=1&customer=", "ann"),
      ("shelf/records?level=3", "ann"), ("orders/sections/0/records?customer=8", "ann"),
    ] {
      try shop.get("/v1/queries/\(path)", as: name).expectProblem(400, "\(path)")
    }
    try shop.get("/v1/events?query=orders%3Fcustomer=8", as: "ann").expectProblem(400)
    try shop.get("/v1/events?query=shelf&query=orders%3Fcustomer%3D7", as: "ann").expectProblem(400)
    try shop.post("/v1/queries/orders/fetch?customer=8", as: "ann").expectProblem(400)
    // Others are the caller's to choose.
    #expect(try shop.get("/v1/queries/orders/records?least=15", as: "ann").keys == [[2]])
    let answer = try shop.get("/v1/queries/orders/records?none=1", as: "ann")
    answer.expectProblem(400)
    #expect(try answer.json["detail"].string?.contains("customer") == false)
  }

  @Test func `lists for each caller what they may read`() throws {
    func names(as name: String?) throws -> [JSONValue] {
      let answer = try shop.get("/v1/queries", as: name)
      #expect(answer.status == 200)
      return try answer.json["queries"].elements.map { $0["name"] }
    }
    #expect(try names(as: nil) == ["notices"])
    #expect(try names(as: "ann") == ["orders", "shelf", "notices"])
    #expect(try names(as: "guest") == ["shelf", "notices"])
    #expect(try names(as: "root") == ["orders", "shelf", "ledger", "notices"])
    let listed = try shop.get("/v1/queries", as: "ann").json["queries"]
    let parameters = listed.elements.map { $0["parameters"].elements.map { $0["name"] } }
    #expect(parameters == [["least"], [], []])
    let described = try shop.get("/v1/queries/orders", as: "ann").json
    #expect(described["parameters"].elements.map { $0["name"] } == ["least"])
    #expect(!described.description.contains("customer\",\"type"))
  }

  @Test func `suggests no query that the caller may not read`() throws {
    for (name, path) in [(nil, "ledge"), (nil, "order"), ("ann", "ledge")] as [(String?, String)] {
      let answer = try shop.get("/v1/queries/\(path)/records", as: name)
      #expect([401, 404].contains(answer.status))
      #expect(!answer.text.contains("ledger") && !answer.text.contains("orders"), "\(path)")
    }
  }

  @Test func `keeps no answer of one caller for another`() throws {
    for resource in Self.resources {
      let answer = try shop.get("/v1/queries/orders\(resource)", as: "ann")
      #expect(answer.status == 200)
      #expect(answer.head["Cache-Control"] == "private, no-cache", "\(resource)")
      answer.head.expectPrivate("\(resource)")
    }
    try shop.get("/v1/queries", as: "ann").head.expectPrivate()
    try shop.get("/v1/queries").head.expectPrivate()
    try shop.post("/v1/queries/orders/fetch", as: "ann").head.expectPrivate()
    for path in ["/v1/queries/orders/events", "/v1/events?query=orders&query=shelf"] {
      let head = try shop.stream(path, as: "ann").head()
      head.expectPrivate("\(path)")
      #expect(head.members("Cache-Control").contains("no-transform"))
    }
    for (path, name) in [("orders", nil), ("ledger", "ann")] as [(String, String?)] {
      let refused = try shop.get("/v1/queries/\(path)/records", as: name)
      #expect(refused.head.members("Cache-Control").isDisjoint(with: ["public"]))
      #expect(
        !refused.head.members("Cache-Control").isDisjoint(with: ["private", "no-store"]))
    }
  }

  @Test func `says that nothing has changed to whom it would show the same alone`() throws {
    let client = shop.fixture.client()
    let path = "/v1/queries/orders/records"
    let tag = try #require(try shop.get(path, as: "ann").head["ETag"])
    let condition = ["If-None-Match: \(tag)"]
    let same = try client.get(path, Shop.bearer("ann") + condition)
    #expect(same.status == 304)
    same.head.expectPrivate()
    let other = try client.get(path, Shop.bearer("bob") + condition)
    #expect(other.status == 200)
    #expect(try other.keys == [[3], [4]])
    #expect(try client.get(path, condition).status == 401)
    #expect(try client.get(path, Shop.bearer("guest") + condition).status == 403)
  }

  @Test func `gives no page of one caller's to another who has where it goes on`() throws {
    let first = try shop.get("/v1/queries/orders/records?limit=1", as: "ann").json
    let next = try #require(first["next"].string)
    let answer = try shop.get("/v1/queries/orders/records?limit=1&after=\(next)", as: "bob")
    for item in ["Anvil", "Bell", "Egg"] { #expect(!answer.text.contains(item)) }
    try shop.get("/v1/queries/orders/records?after=\(next)").expectUnauthorized(withToken: false)
  }

  @Test func `tells anybody whether it is well, and what a page needs to ask`() throws {
    #expect(try shop.get("/healthz").status == 200)
    #expect(try shop.get("/readyz").status == 200)
    let options = try shop.fixture.client().send("OPTIONS", "/v1/queries/orders/records")
    #expect(options.status == 200 || options.status == 204)
    #expect(options.head["Allow"]?.contains("GET") == true)
  }
}
