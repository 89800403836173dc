import Testing

/// Several queries on one stream, some of which take claims.
@Suite(.endToEnd) struct `A stream of several queries of a caller` {
  private let shop: Shop
  private let path = "/v1/events?query=orders&query=shelf&query=notices"

  init() throws { shop = try Shop() }

  private func open(_ name: String, count: Int = 3) throws -> Client {
    var client = Client(stream: shop.stream(path, as: name))
    for _ in 1...count { try client.receive() }
    return client
  }

  /// What the client knows, by the names of the queries.
  private struct Client {
    let stream: EventStream
    var models: [String: ClientModel] = [:]

    /// Takes what comes, up to and with an event of that kind.
    mutating func receive(upTo type: String? = nil) throws {
      while true {
        let event = try #require(try stream.next())
        if event.type != "commit" {
          let name = try event.json["query"].string ?? ""
          var model = models[name] ?? ClientModel()
          model.isOneOfSeveral = true
          _ = try model.receive(event)
          models[name] = model
        }
        if type == nil || event.type == type { return }
      }
    }

    func count(_ query: String) -> Int { models[query]?.records.count ?? -1 }
  }

  @Test func `shows of each what the caller may see`() throws {
    let (ann, bob) = (try open("ann"), try open("bob"))
    #expect(ann.models["orders"]?.records.map(\.key) == [[1], [2]])
    #expect(bob.models["orders"]?.records.map(\.key) == [[3], [4]])
    #expect((ann.count("shelf"), bob.count("shelf"), ann.count("notices")) == (190, 200, 1))
  }

  @Test func `goes on with the difference when a claim changes`() throws {
    var client = try open("ann")
    try shop.writer.commit(
      Shop.change("ann", "level = 2") + "; UPDATE notice SET text = 'Closed'")
    // What else was committed with it may come in a commit of its own, and no sooner.
    while client.count("shelf") != 200
      || client.models["notices"]?.records.first?.values["text"] != "Closed"
    { try client.receive(upTo: "commit") }
    #expect(client.count("orders") == 2)
    try shop.writer.commit(Shop.change("ann", "user = 8, level = 1"))
    while client.count("shelf") != 190 || client.models["orders"]?.records.map(\.key) != [[3], [4]]
    { try client.receive(upTo: "commit") }
    try shop.writer.commit("DELETE FROM purchase WHERE id IN (1, 3)")
    try client.receive(upTo: "commit")
    #expect(client.models["orders"]?.records.map(\.key) == [[4]])
  }

  @Test func `ends as a whole when the caller signs out`() throws {
    let client = try open("ann")
    try shop.writer.commit(Shop.signOut("ann") + "; UPDATE notice SET text = 'Closed'")
    try client.stream.expectEnd(with: 401)
    #expect(!client.stream.text.contains("Closed"))
    #expect(try shop.stream(path, as: "ann").head().status == 401)
  }

  @Test func `ends as a whole when one of them is not allowed any more`() throws {
    let path = "/v1/events?query=shelf&query=orders%3Fleast=5&query=notices"
    var client = Client(stream: shop.stream(path, as: "ann"))
    for _ in 1...3 { try client.receive() }
    try shop.writer.commit(Shop.change("ann", "role = 'guest'"))
    let json = try client.stream.expectEnd(with: 403)
    #expect(json["query"] == "orders" && json["parameters"]["least"] == 5)
    #expect(try shop.stream(path, as: "ann").head().status == 403)
  }

  /// What another user sees has the same content, and a number of its own.
  @Test func `chains its versions where a claim changes what nobody sees`() throws {
    let bob = try shop.followEmptyOrders(as: "bob")
    var client = try open("ann")
    let before = client.models["orders"]?.version
    try shop.writer.commit(Shop.change("ann", "user = 8"))
    try client.receive(upTo: "commit")
    #expect(client.models["orders"]?.version == bob.model.version && bob.model.version != before)
    #expect(client.count("orders") == 0)
    try shop.writer.commit("INSERT INTO purchase VALUES (3, 8, 'Cup', 30)")
    try client.receive(upTo: "commit")
    #expect(client.models["orders"]?.records.map(\.key) == [[3]])
  }

  @Test func `is resumed where it was`() throws {
    let client = try open("bob")
    let id = client.stream.lastEventID
    client.stream.close()
    try shop.writer.commit("DELETE FROM purchase WHERE id = 3")
    var again = Client(
      stream: shop.stream(path, as: "bob", after: id), models: client.models)
    try again.receive(upTo: "commit")
    #expect(again.models["orders"]?.records.map(\.key) == [[4]])
    // Whoever else comes with this id is shown nothing of it.
    let other = shop.stream(path, as: "ann", after: id)
    for _ in 1...3 { #expect(try other.next()?.type == "snapshot") }
    for item in ["Cup", "Drum"] { #expect(!other.text.contains(item)) }
  }

  /// Who comes while it fails waits for what never comes, if the stream waits for it.
  @Test func `begins also where one of them fails again and again`() throws {
    let queries =
      Shop.queries + """

        broken:
          sql: |
            SELECT id, CASE WHEN item = 'Error' THEN abs(-9223372036854775808) ELSE price END AS price
            FROM purchase
          key: [id]
        """
    let shop = try Shop(queries: queries)
    let path = "/v1/events?query=orders&query=broken"
    var client = Client(stream: shop.stream(path, as: "ann"))
    for _ in 1...2 { try client.receive() }
    try shop.writer.commit("INSERT INTO purchase VALUES (6, 7, 'Error', 60)")
    for id in 7...9 {
      try shop.writer.commit("INSERT INTO purchase VALUES (\(id), 7, 'Flute', 60)")
      while client.count("orders") != id - 3 { try client.receive() }
    }
    let late = shop.stream(path, as: "ann")
    #expect(
      try (1...3).map { _ in try late.next()?.type } == ["snapshot", "snapshot", "fetchError"])
    #expect(client.count("broken") == 5)
    try shop.writer.commit("DELETE FROM purchase WHERE id = 6")
    while client.count("broken") != 8 { try client.receive() }
    #expect(client.count("orders") == 5)
    #expect(client.stream.text.ranges(of: "event: fetchError").count == 1)
  }
}
