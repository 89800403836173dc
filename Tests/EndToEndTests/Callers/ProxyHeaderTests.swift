import Testing

/// Callers that a proxy has checked, and names in header fields.
@Suite(.endToEnd) struct `Who a proxy says that asks` {
  private let path = "/v1/queries/orders/records"
  private static let callers = """
    callers:
      headers: {user: X-Forwarded-User, role: [X-Forwarded-Groups], level: X-Level}
      operators: {role: admin}

    """

  private func serve(proxies: String, _ callers: String = callers) throws -> ServerFixture {
    try ServerFixture(
      Shop.schema, queries: Shop.queries, words: callers + "proxies: [\(proxies)]\n")
  }

  private func fields(_ user: String, _ groups: String) -> [String] {
    ["X-Forwarded-User: \(user)", "X-Forwarded-Groups: \(groups)", "X-Forwarded-For: 192.0.2.1"]
  }

  @Test func `is believed of a proxy that is listed`() throws {
    let fixture = try serve(proxies: "127.0.0.1")
    #expect(try fixture.get(path, fields("7", "customer")).keys == [[1], [2]])
    #expect(try fixture.get(path, fields("8", "friends,customer, staff")).keys == [[3], [4]])
    try fixture.get(path, fields("8", "friends")).expectProblem(403)
    try fixture.get(path, ["X-Forwarded-User: 7"]).expectProblem(403)
    #expect(try fixture.get("/metrics", fields("1", "admin")).status == 200)
    let stream = fixture.stream(
      "/v1/queries/orders/events", .init(fields: fields("7", "customer")))
    #expect(try stream.next()?.json["numberOfRecords"] == 2)
  }

  /// All bytes that are no UTF-8 would be one name.
  @Test func `is refused where it is no UTF-8`() throws {
    let fixture = try serve(proxies: "127.0.0.1")
    let answer = try ChildProcess.run(
      "python3",
      [
        "-c",
        """
        import socket, sys
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        s.sendall(b"GET /v1/queries HTTP/1.0\\r\\nX-Forwarded-User: J\\xf6rg\\r\\n\\r\\n")
        print(s.recv(65536).decode().split("\\r\\n")[0])
        """, String(try #require(fixture.base.split(separator: ":").last)),
      ])
    #expect(answer.output.contains(" 401 "), "\(answer)")
  }

  /// Who names a group must not name others by it.
  @Test(
    arguments: [
      ("Anvil", [[1]]), (" Anvil , ,Cup,", [[1], [3]]), (#"["Cup"]"#, []),
      (#"["Cup","Anvil"]"#, []),
      ("\u{A0}Cup", []),
    ] as [(String, [JSONValue])])
  func `is a list where it stands in brackets, of whatever number`(
    items: String, keys: [JSONValue]
  ) throws {
    let queries = """
      listed:
        table: purchase
        where: item IN (SELECT value FROM json_each(:items))
        parameters: {items: {type: text, claim: items}}
      """
    let fixture = try ServerFixture(
      Shop.schema, queries: queries,
      words: "callers: {headers: {sub: X-User, items: [X-Items]}}\nproxies: [127.0.0.1]\n")
    let path = "/v1/queries/listed/records"
    #expect(try fixture.get(path, ["X-User: 7", "X-Items: \(items)"]).keys == keys)
    // An empty list is none.
    try fixture.get(path, ["X-User: 7", "X-Items: ,"]).expectProblem(403)
    try fixture.get(path, ["X-Items: , "]).expectUnauthorized(withToken: false)
  }

  @Test func `is a text where it does not, commas and all`() throws {
    let queries = """
      named:
        table: purchase
        where: item = :item
        parameters: {item: {type: text, claim: name}}
      """
    let fixture = try ServerFixture(
      Shop.schema + "INSERT INTO purchase VALUES (6, 7, 'Gong, small', 60);", queries: queries,
      words: "callers: {headers: {name: X-Name}}\nproxies: [127.0.0.1]\n")
    let path = "/v1/queries/named/records"
    #expect(try fixture.get(path, ["X-Name: Gong, small"]).keys == [[6]])
    #expect(try fixture.get(path, ["X-Name: Anvil"]).keys == [[1]])
  }

  @Test func `is nobody where the proxy names nobody`() throws {
    let fixture = try serve(proxies: "127.0.0.1")
    for fields in [
      [], ["X-Forwarded-For: 192.0.2.1"], ["X-User: 7", "X-Groups: customer"],
      ["X-Forwarded-User;", "X-Forwarded-Groups;"],
    ] {
      try fixture.get(path, fields).expectUnauthorized(withToken: false, "\(fields)")
      #expect(try fixture.get("/v1/queries/notices/records", fields).status == 200)
    }
  }

  /// Any client can write these fields.
  @Test(arguments: ["192.0.2.0/24", "unix", "127.0.0.2", "'::1'"])
  func `is nobody where a client says it itself`(proxies: String) throws {
    let fixture = try serve(proxies: proxies)
    for fields in [
      fields("7", "customer"), fields("1", "admin"),
      fields("7", "customer") + ["Forwarded: for=192.0.2.1;by=127.0.0.1"],
    ] {
      try fixture.get(path, fields).expectUnauthorized(withToken: false)
      try fixture.get("/metrics", fields).expectUnauthorized(withToken: false)
      let stream = fixture.stream("/v1/queries/orders/events", .init(fields: fields))
      #expect(try stream.head().status == 401)
      let ticket = try fixture.client().send("POST", "/v1/tickets", fields)
      ticket.expectUnauthorized(withToken: false)
    }
    #expect(try fixture.get("/v1/queries/notices/records", fields("7", "x")).status == 200)
  }

  @Test func `is refused where it is said twice`() throws {
    let fixture = try serve(proxies: "127.0.0.1")
    for field in ["X-Forwarded-User: 8", "X-Forwarded-Groups: admin", "x-forwarded-user: 7"] {
      let answer = try fixture.get(path, fields("7", "customer") + [field])
      #expect(answer.status == 401, "\(field)")
      #expect(!answer.text.contains("Anvil") && !answer.text.contains("Cup"))
    }
  }

  @Test func `is not what a token says`() throws {
    let fixture = try serve(proxies: "127.0.0.1")
    for fields in [Shop.bearer("ann"), Shop.cookie("ann")] {
      #expect(try fixture.get(path, fields).status == 401)
    }
  }

  @Test func `is a user whose row is in the database`() throws {
    let callers = """
      callers:
        headers: {sub: X-Forwarded-User}
        claims: SELECT user, role, level FROM session WHERE user = :sub

      """
    let fixture = try serve(proxies: "127.0.0.1", callers)
    let writer = try fixture.writer()
    let ann = ["X-Forwarded-User: 7"]
    #expect(try fixture.get(path, ann).keys == [[1], [2]])
    try fixture.get(path, ["X-Forwarded-User: 70"]).expectUnauthorized(withToken: true)
    try fixture.get(path, ["X-Forwarded-User: 7 OR 1=1"]).expectUnauthorized(withToken: true)
    let stream = fixture.stream("/v1/queries/orders/events", .init(fields: ann))
    #expect(try stream.next()?.type == "snapshot")
    try writer.commit(Shop.signOut("ann"))
    try stream.expectEnd(with: 401)
    try fixture.get(path, ann).expectUnauthorized(withToken: true)
  }

  @Test func `may have a ticket`() throws {
    let fixture = try serve(proxies: "127.0.0.1")
    let answer = try fixture.client().send("POST", "/v1/tickets", fields("7", "customer"))
    let ticket = try #require(try answer.json["ticket"].string)
    let stream = fixture.stream("/v1/queries/orders/events?access_token=\(ticket)")
    #expect(try stream.next()?.json["numberOfRecords"] == 2)
  }
}
