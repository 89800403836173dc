import Testing

/// What happens to the streams of callers when what is known of them changes.
@Suite(.endToEnd) struct `The stream of a caller` {
  private let shop: Shop

  init() throws { shop = try Shop() }

  /// Holds what a stream has shown against a page that the caller asks for now.
  private func expectFresh(
    _ follower: Follower, _ query: String, _ items: String = "?limit=1000", as name: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let page = try shop.get("/v1/queries/\(query)/records\(items)", as: name)
    #expect(page.status == 200, sourceLocation: sourceLocation)
    let records = try page.json["records"].elements.map(ClientModel.Record.init)
    #expect(follower.model.records == records, sourceLocation: sourceLocation)
    // A window's versions are its own.
    if follower.model.total == nil {
      #expect(
        state(try page.json["version"].string) == state(follower.model.version),
        sourceLocation: sourceLocation)
    }
  }

  // MARK: - Who is nobody any more

  @Test func `ends when the caller signs out, and nobody comes in again`() throws {
    let follower = try shop.follow("orders", as: "ann")
    let other = try shop.follow("orders", as: "bob")
    try shop.writer.commit(Shop.signOut("ann"))
    try follower.expectEnd(with: 401)
    for resource in `A server that knows its callers`.resources + ["/events"] {
      try shop.get("/v1/queries/orders\(resource)", as: "ann")
        .expectUnauthorized(withToken: true, "\(resource)")
    }
    let path = "/v1/queries/orders/events"
    let again = shop.stream(path, as: "ann", after: follower.model.version)
    #expect(try again.head().status == 401)
    // The others' go on.
    try shop.writer.commit("INSERT INTO purchase VALUES (6, 8, 'Fan', 60), (7, 7, 'Gong', 70)")
    #expect(try other.changes().count == 1)
    #expect(other.keys == [[3], [4], [6]])
  }

  @Test func `ends without what was committed with the sign-out`() throws {
    let follower = try shop.follow("orders", as: "ann")
    try shop.writer.commit(
      Shop.signOut("ann") + "; INSERT INTO purchase VALUES (6, 7, 'Fan', 60)")
    try follower.expectEnd(with: 401)
    #expect(!follower.stream.text.contains("Fan"))
  }

  @Test func `ends before what was committed after the sign-out`() throws {
    let follower = try shop.follow("orders", as: "ann")
    try shop.writer.run(
      Shop.signOut("ann") + "; UPDATE purchase SET customer = 7; DELETE FROM purchase WHERE id = 1")
    try follower.expectEnd(with: 401)
    #expect(!follower.stream.text.contains("Drum") && !follower.stream.text.contains("Egg"))
  }

  @Test func `ends wherever the token is used, and on no other device`() throws {
    try shop.writer.commit(Shop.signIn("phone", "7, 'customer', 1, NULL"))
    try eventually("the phone is signed in") {
      try shop.get("/v1/queries/orders/records", as: "phone").status == 200
    }
    let paths = [
      "/v1/queries/orders/events", "/v1/queries/shelf/events", "/v1/queries/orders/events?limit=1",
      "/v1/queries/orders/events?minInterval=50", "/v1/events?query=orders",
    ]
    let other = try shop.follow("orders", as: "phone")
    let streams = paths.map { shop.stream($0, as: "ann") }
    let cookie = shop.fixture.stream(paths[0], .init(fields: Shop.cookie("ann")))
    for stream in streams + [cookie] { #expect(try stream.next()?.type == "snapshot") }
    try shop.writer.commit(Shop.signOut("ann"))
    for stream in streams + [cookie] { try stream.expectEnd(with: 401) }
    try shop.writer.commit("DELETE FROM purchase WHERE id = 1")
    #expect(try other.changes().count == 1)
  }

  @Test func `begins no more once the row is gone, whatever was asked for before`() throws {
    let path = "/v1/queries/orders/records"
    let tag = try #require(try shop.get(path, as: "ann").head["ETag"])
    try shop.writer.commit(Shop.signOut("ann"))
    try eventually("who has signed out is nobody") {
      try shop.fixture.get(path, Shop.bearer("ann") + ["If-None-Match: \(tag)"]).status == 401
    }
    try shop.get(path, as: "ann").expectUnauthorized(withToken: true)
    // Somebody else's page of the same records is as it was.
    try shop.writer.commit(Shop.signIn("eve", "7, 'customer', 1, NULL"))
    try eventually("eve is signed in") { try shop.get(path, as: "eve").status == 200 }
    #expect(try shop.get(path, as: "eve").keys == [[1], [2]])
    try shop.get(path, as: "ann").expectUnauthorized(withToken: true)
  }

  @Test func `begins again after a new sign-in`() throws {
    let follower = try shop.follow("orders", as: "ann")
    try shop.writer.commit(Shop.signOut("ann"))
    try follower.expectEnd(with: 401)
    try shop.writer.commit(Shop.signIn("ann", "7, 'customer', 1, NULL"))
    try eventually("ann is signed in again") {
      try shop.get("/v1/queries/orders/records", as: "ann").status == 200
    }
    let again = Follower(
      shop.stream("/v1/queries/orders/events", as: "ann", after: follower.model.version),
      model: follower.model)
    try shop.writer.commit("DELETE FROM purchase WHERE id = 1")
    while again.keys != [[2]] { _ = try again.next() }
    try expectFresh(again, "orders", as: "ann")
  }

  // MARK: - Who may no more

  @Test func `ends when the caller's role is not allowed any more`() throws {
    let orders = try shop.follow("orders", as: "ann")
    let shelf = try shop.follow("shelf", as: "ann")
    try shop.writer.commit(Shop.change("ann", "role = 'guest'"))
    try orders.expectEnd(with: 403)
    try shop.get("/v1/queries/orders/records", as: "ann").expectProblem(403)
    try shop.get("/v1/queries/orders/events", as: "ann").expectProblem(403)
    // What needs no role goes on.
    try shop.writer.commit("UPDATE product SET name = 'Sold' WHERE id = 1")
    #expect(try shelf.changes().count == 1)
    try shop.writer.commit(Shop.change("ann", "role = 'customer'"))
    try eventually("ann may again") {
      try shop.get("/v1/queries/orders/records", as: "ann").status == 200
    }
  }

  @Test func `ends when a claim goes that a parameter takes`() throws {
    let orders = try shop.follow("orders", as: "ann")
    try shop.writer.commit(Shop.change("ann", "user = NULL"))
    try orders.expectEnd(with: 403)
  }

  @Test func `goes on unmoved when a claim changes that it does not take`() throws {
    let orders = try shop.follow("orders", as: "ann")
    try shop.writer.commit(Shop.change("ann", "level = 2, role = 'admin'"))
    try shop.writer.commit("DELETE FROM purchase WHERE id = 1")
    #expect(try orders.changes().count == 1)
    #expect(orders.keys == [[2]])
    try shop.writer.commit(Shop.change("ann", "user = 7, expires = 4000000000"))
    try shop.writer.commit("DELETE FROM purchase WHERE id = 2")
    #expect(try orders.changes().count == 1)
    #expect(orders.stream.allEvents.count { $0.type == "snapshot" } == 1)
  }

  // MARK: - Who may see something else

  @Test func `goes on with the difference when a claim changes`() throws {
    let shelf = try shop.follow("shelf", as: "ann")
    #expect(shelf.keys.count == 190)
    try shop.writer.commit(Shop.change("ann", "level = 2"))
    #expect(try shelf.changes().count == 10)
    #expect(shelf.keys.count == 200)
    try expectFresh(shelf, "shelf", as: "ann")
    try shop.writer.commit(Shop.change("ann", "level = 1"))
    #expect(try shelf.changes().count == 10)
    try expectFresh(shelf, "shelf", as: "ann")
    // And with what is committed then, of both.
    try shop.writer.commit("UPDATE product SET name = 'Hidden' WHERE id = 20")
    try shop.writer.commit("UPDATE product SET name = 'Shown' WHERE id = 21")
    let changes = try shelf.changes()
    #expect(changes.count == 1 && changes[0].contains("Shown"))
    #expect(!shelf.stream.text.contains("Hidden"))
    try expectFresh(shelf, "shelf", as: "ann")
  }

  @Test func `goes on with what another user sees`() throws {
    let orders = try shop.follow("orders", as: "ann")
    try shop.writer.commit(Shop.change("ann", "user = 8"))
    _ = try orders.next()
    #expect(orders.keys == [[3], [4]])
    try expectFresh(orders, "orders", as: "ann")
    try shop.writer.commit("DELETE FROM purchase WHERE id = 1")
    try shop.writer.commit("DELETE FROM purchase WHERE id = 3")
    _ = try orders.next()
    #expect(orders.keys == [[4]])
    try expectFresh(orders, "orders", as: "ann")
  }

  /// What another user sees has the same content, and a number of its own.
  @Test func `chains its versions where a claim changes what nobody sees`() throws {
    let bob = try shop.followEmptyOrders(as: "bob")
    let ann = try shop.follow("orders", as: "ann")
    let before = ann.stream.lastEventID
    try shop.writer.commit(Shop.change("ann", "user = 8"))
    try eventually("the claim is known") { ann.stream.lastEventID != before }
    #expect(ann.stream.lastEventID == bob.model.version)
    try shop.writer.commit("INSERT INTO purchase VALUES (3, 8, 'Cup', 30)")
    #expect(try ann.changes().count == 1)
    #expect(ann.keys == [[3]])
  }

  @Test func `shows a claim and what was committed with it at once`() throws {
    let shelf = try shop.follow("shelf", as: "ann")
    try shop.writer.commit(
      Shop.change("ann", "level = 2") + "; UPDATE product SET name = 'New' WHERE id IN (1, 20);"
        + "DELETE FROM product WHERE id = 40")
    let changes = try shelf.changes()
    #expect(changes.count == 10)
    #expect(changes.count { $0.contains("New") } == 2)
    try expectFresh(shelf, "shelf", as: "ann")
  }

  /// The result is live for somebody else already, as it was before that commit.
  @Test func `shows of what another is shown nothing from before the claim`() throws {
    let bob = try shop.follow("orders", as: "bob")
    let ann = try shop.follow("orders", as: "ann")
    try shop.writer.commit(
      Shop.change("ann", "user = 8") + "; DELETE FROM purchase WHERE id = 3")
    while ann.keys != [[4]] { _ = try ann.next() }
    #expect(!ann.stream.text.contains("Cup"))
    #expect(try bob.changes().count == 1)
  }

  /// Nothing of a product is shown that has level 2 only when the caller has level 1.
  @Test func `never shows what no commit would have shown`() throws {
    let shelf = try shop.follow("shelf", as: "ann")
    for round in 1...20 {
      try shop.writer.run(
        Shop.change("ann", "level = 2") + "; " + Shop.change("ann", "level = 1")
          + "; UPDATE product SET name = 'Secret \(round)' WHERE id = 60"
          + "; UPDATE product SET name = 'Plain \(round)' WHERE id = 61"
          + "; UPDATE product SET name = 'Product 060' WHERE id = 60")
    }
    while shelf.model.records.count != 190
      || !shelf.model.records.contains(where: { $0.values["name"] == "Plain 20" })
    { _ = try shelf.next() }
    #expect(!shelf.stream.text.contains("Secret"))
    try expectFresh(shelf, "shelf", as: "ann")
  }

  @Test func `is resumed after a claim has changed`() throws {
    let shelf = try shop.follow("shelf", as: "ann")
    shelf.stream.close()
    try shop.writer.commit(Shop.change("ann", "level = 2"))
    try eventually("the level is known") {
      try shop.get("/v1/queries/shelf/records?limit=1", as: "ann").json["numberOfRecords"] == 200
    }
    let path = "/v1/queries/shelf/events"
    let again = Follower(
      shop.stream(path, as: "ann", after: shelf.model.version), model: shelf.model)
    _ = try again.next()
    try expectFresh(again, "shelf", as: "ann")
  }

  // MARK: - Windows

  @Test func `of a window goes on with the window of what may be seen now`() throws {
    let window = try shop.follow("shelf", "?offset=10&limit=20", as: "ann")
    #expect(window.model.total == 190)
    try shop.writer.commit(Shop.change("ann", "level = 2"))
    _ = try window.next()
    #expect(window.model.total == 200)
    #expect(window.keys == (11...30).map { [.number("\($0)")] })
    try expectFresh(window, "shelf", "?offset=10&limit=20", as: "ann")
    try shop.writer.commit(Shop.change("ann", "level = NULL"))
    try window.expectEnd(with: 403)
  }

  @Test func `of a window says what is behind it when that is all that changes`() throws {
    let window = try shop.follow("shelf", "?limit=5", as: "ann")
    try shop.writer.commit(Shop.change("ann", "level = 0"))
    _ = try window.next()
    #expect(window.keys == [])
    #expect(window.model.total == 0)
    try shop.writer.commit(Shop.change("ann", "level = 1"))
    _ = try window.next()
    #expect(window.keys == (1...5).map { [.number("\($0)")] })
    #expect(window.model.total == 190)
  }
}
