import Testing

/// How a token comes: in `Authorization`, or in the cookie.
@Suite(.endToEnd) struct `A token that says nothing` {
  private let shop: Shop
  private let path = "/v1/queries/orders/records"

  init() throws { shop = try Shop() }

  private func get(_ fields: [String]) throws -> HTTPClient.Answer {
    try shop.fixture.get(path, fields)
  }

  @Test func `is known by its digest`() throws {
    for scheme in ["Bearer", "bearer", "BEARER"] {
      let answer = try get(["Authorization: \(scheme) \(Shop.token("ann"))"])
      #expect(try answer.keys == [[1], [2]], "\(scheme)")
    }
    // Who has read the database has no token.
    try get(["Authorization: Bearer \(Shop.digest(Shop.token("ann")))"])
      .expectUnauthorized(withToken: true)
  }

  @Test(arguments: [
    ["Authorization: Bearer"], ["Authorization: Bearer "], ["Authorization: Basic YTpi"],
    ["Authorization: Bearer a b"], ["Authorization: Bearer a,b"], ["Authorization: Digest a=b"],
    ["Authorization: \(Shop.token("ann"))"], ["Authorization: Bearer \"\(Shop.token("ann"))\""],
    ["Authorization: Bearer \(Shop.token("ann"))", "Authorization: Bearer \(Shop.token("ann"))"],
    ["Authorization: Bearer \(Shop.token("ann"))", "Authorization: Bearer \(Shop.token("bob"))"],
    ["Authorization: Bearer \(Shop.token("ann")), Bearer \(Shop.token("ann"))"],
    ["Authorization: Bearer \(Shop.token("ann").dropLast())"],
    ["Authorization: Bearer \(Shop.token("ann"))="], ["Authorization: Bearer caf\u{E9}"],
    ["Authorization: Bearer \(String(repeating: "a", count: 8193))"],
    ["Authorization: Bearer \(String(repeating: "a", count: 15_000))"],
    ["Authorization: Bearer ';DROP TABLE session;--"],
  ])
  func `is refused where it is not good`(fields: [String]) throws {
    let answer = try get(fields)
    #expect(answer.status == 401, "\(answer.text)")
    #expect(answer.head["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
    #expect(answer.head["Content-Type"] == "application/problem+json")
    #expect(try get(Shop.bearer("ann")).status == 200)
  }

  @Test func `is refused where it is longer than a head may be`() throws {
    let answer = try get(["Authorization: Bearer \(String(repeating: "a", count: 200_000))"])
    #expect(answer.status == 431)
    #expect(try get(Shop.bearer("ann")).status == 200)
  }

  @Test func `may be a cookie`() throws {
    let token = Shop.token("ann")
    for field in [
      "Cookie: session=\(token)", "Cookie: a=b; session=\(token); c=d",
      "Cookie: session=\"\(token)\"", "Cookie: session2=x; session=\(token)",
    ] {
      #expect(try get([field]).keys == [[1], [2]], "\(field)")
    }
    let stream = shop.fixture.stream(
      "/v1/queries/orders/events", .init(fields: Shop.cookie("ann")))
    #expect(try stream.next()?.json["numberOfRecords"] == 2)
    try get(["Cookie: Session=\(token)"]).expectUnauthorized(withToken: false)
    try get(["Cookie: sessions=\(token)"]).expectUnauthorized(withToken: false)
    try get(["Cookie: a=session=\(token)"]).expectUnauthorized(withToken: false)
  }

  @Test func `is refused where two cookies have its name`() throws {
    let (ann, bob) = (Shop.token("ann"), Shop.token("bob"))
    for fields in [
      ["Cookie: session=\(ann); session=\(bob)"], ["Cookie: session=\(ann); session=\(ann)"],
      ["Cookie: session=\(ann)", "Cookie: session=\(bob)"],
      ["Cookie: session=\(ann); a=b; session="],
    ] {
      try get(fields).expectUnauthorized(withToken: true, "\(fields)")
    }
    try get(["Cookie: session="]).expectUnauthorized(withToken: true)
    try get(["Cookie: session=\(ann)x"]).expectUnauthorized(withToken: true)
  }

  @Test func `is the field's where there is a cookie beside it`() throws {
    #expect(try get(Shop.bearer("ann") + Shop.cookie("bob")).keys == [[1], [2]])
    #expect(try get(Shop.bearer("bob") + Shop.cookie("ann")).keys == [[3], [4]])
    // It does not help that the cookie is good.
    try get(Shop.bearer("stranger") + Shop.cookie("ann")).expectUnauthorized(withToken: true)
    try get(["Authorization: Basic YTpi"] + Shop.cookie("ann"))
      .expectUnauthorized(withToken: true)
  }

  @Test func `is nothing in a cookie of a server that names none`() throws {
    let shop = try Shop(Shop.callers.replacing("  cookie: session\n", with: ""))
    try shop.fixture.get(path, Shop.cookie("ann")).expectUnauthorized(withToken: false)
    #expect(try shop.get(path, as: "ann").status == 200)
  }

  // MARK: - Other sites

  /// A browser sends the cookie with what a page of another site asks for.
  @Test func `in a cookie lets no page of another site read`() throws {
    let cookie = Shop.cookie("ann")
    for fields in [
      ["Origin: https://evil.example"], ["Origin: null"], ["Sec-Fetch-Site: cross-site"],
      ["Sec-Fetch-Site: same-site"],
      ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site"],
    ] {
      for resource in ["records", "events"] {
        let answer = try shop.fixture.get("/v1/queries/orders/\(resource)", cookie + fields)
        answer.expectProblem(403, "\(fields)")
        #expect(answer.head["Access-Control-Allow-Credentials"] == nil)
      }
      // Whoever has the token itself is no page that a browser has lent it to.
      #expect(try get(Shop.bearer("ann") + fields).status == 200, "\(fields)")
    }
    for fields in [
      ["Origin: \(shop.fixture.base)"], ["Sec-Fetch-Site: same-origin"], ["Sec-Fetch-Site: none"],
    ] {
      #expect(try get(cookie + fields).status == 200, "\(fields)")
    }
  }

  @Test func `in a cookie lets a page read whose origin is named`() throws {
    let shop = try Shop(words: "cors: [https://a.example]\n")
    let own = ["Origin: https://a.example", "Sec-Fetch-Site: cross-site"]
    let answer = try shop.fixture.get(path, Shop.cookie("ann") + own)
    #expect(answer.status == 200)
    #expect(answer.head["Access-Control-Allow-Origin"] == "https://a.example")
    #expect(answer.head["Access-Control-Allow-Credentials"] == "true")
    #expect(answer.head.members("Vary").isSuperset(of: ["origin", "authorization", "cookie"]))
    let other = ["Origin: https://b.example", "Sec-Fetch-Site: cross-site"]
    try shop.fixture.get(path, Shop.cookie("ann") + other).expectProblem(403)
  }

  @Test func `in a cookie lets no page read where all origins are named at once`() throws {
    let shop = try Shop(words: "cors: \"*\"\n")
    let fields = ["Origin: https://a.example", "Sec-Fetch-Site: cross-site"]
    let answer = try shop.fixture.get(path, Shop.cookie("ann") + fields)
    answer.expectProblem(403)
    #expect(answer.head["Access-Control-Allow-Credentials"] == nil)
  }
}
