import Foundation
import Locks
import Testing

/// What a caller is shown of a result that is behind their claims: one of an earlier commit is what
/// others could read, who had these claims then.
@Suite(.endToEnd) struct `A caller who takes another's place` {
  private static let queries =
    Shop.queries + """

      slow:
        sql: |
          SELECT group_concat(item) AS items, (
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
            SELECT count(*) FROM n) AS n
          FROM purchase WHERE customer = :customer
        parameters:
          customer: {type: integer, claim: user}
      long:
        sql: |
          SELECT item, (
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500000)
            SELECT count(*) FROM n) AS n
          FROM purchase WHERE customer = :customer LIMIT 1
        parameters:
          customer: {type: integer, claim: user}
      """
  private static let exchange =
    "DELETE FROM purchase WHERE item = 'Secret'; " + Shop.change("ann", "user = 8")

  private let shop: Shop

  init() throws { shop = try Shop(queries: Self.queries) }

  /// Gives bob something that nobody else may ever see.
  private func hide(from follower: Follower) throws {
    try shop.writer.commit("INSERT INTO purchase VALUES (6, 8, 'Secret', 60)")
    while !follower.stream.text.contains("Secret") { _ = try follower.next() }
  }

  @Test(arguments: ["", "?limit=10", "?minInterval=20"])
  func `goes on with what theirs is now, however long it takes`(_ items: String) throws {
    let bob = try shop.follow("slow", items, as: "bob")
    let ann = try shop.follow("slow", items, as: "ann")
    try hide(from: bob)
    try shop.writer.commit(Self.exchange)
    while !ann.stream.text.contains("Cup") { _ = try ann.next() }
    #expect(!ann.stream.text.contains("Secret"))
  }

  @Test func `is answered with what is theirs now, however long it takes`() throws {
    let bob = try shop.follow("slow", as: "bob")
    try hide(from: bob)
    try shop.writer.commit(Self.exchange)
    let streams = ["/v1/queries/slow/events", "/v1/events?query=slow&query=orders"].map {
      shop.stream($0, as: "ann")
    }
    let page = try shop.get("/v1/queries/slow/records", as: "ann")
    #expect(page.status == 200 && page.text.contains("Cup"))
    #expect(!page.text.contains("Secret"))
    for stream in streams {
      while !stream.text.contains("Cup") { try #require(try stream.next() != nil) }
      #expect(!stream.text.contains("Secret"))
    }
  }

  @Test func `is nobody when the answer is there after the end of the session`() throws {
    try shop.writer.commit(
      Shop.change("ann", "expires = (julianday('now') - 2440587.5) * 86400 + 0.3"))
    var page = try shop.get("/v1/queries/long/records", as: "ann")
    // A busy machine may give up a query that takes long.
    while page.status == 503 { page = try shop.get("/v1/queries/long/records", as: "ann") }
    page.expectUnauthorized(withToken: true)
    #expect(!page.text.contains("Cup"))
  }

  @Test func `is shown nothing of a query that fails since`() throws {
    let bob = try shop.follow("orders", as: "bob")
    let ann = try shop.follow("orders", as: "ann")
    try hide(from: bob)
    try shop.writer.commit(Self.exchange + "; ALTER TABLE purchase RENAME TO gone")
    while try ann.stream.next() != nil {}
    #expect(ann.stream.text.contains("fetchError"))
    let again = try shop.get("/v1/queries/orders/events", as: "ann")
    #expect(again.status >= 500)
    let page = try shop.get("/v1/queries/orders/records", as: "ann")
    #expect(page.status >= 500)
    for text in [ann.stream.text, again.text, page.text] { #expect(!text.contains("Secret")) }
    try shop.writer.commit("ALTER TABLE gone RENAME TO purchase")
    try eventually("the query is there again") {
      try shop.get("/v1/queries/orders/records", as: "ann").status == 200
    }
    #expect(try shop.follow("orders", as: "ann").keys == [[3], [4]])
  }

  @Test func `and gives it back is shown nothing of what came between`() throws {
    let ann = try shop.follow("orders", as: "ann")
    let rounds = 200
    // Answers keep the engine busy, so that claims change twice before it comes to the stream.
    let isOver = Flag()
    defer { isOver.raise() }
    for name in ["bob", "nobody", "ann", "stranger"] {
      Thread.detachNewThread { [base = shop.fixture.base] in
        let client = HTTPClient(base)
        while !isOver.isRaised {
          _ = try? client.send("HEAD", "/v1/queries/orders/records", Shop.bearer(name))
        }
      }
    }
    for round in 1...rounds {
      try shop.writer.commit(
        Shop.change("ann", "user = 9")
          + "; INSERT INTO purchase VALUES (6, 7, 'Secret \(round)', 60)")
      try shop.writer.commit(
        "DELETE FROM purchase WHERE id = 6; " + Shop.change("ann", "user = 7")
          + "; UPDATE purchase SET price = \(round) WHERE id = 1")
    }
    while ann.model.records.first?.values["price"] != .number("\(rounds)") { _ = try ann.next() }
    #expect(!ann.stream.text.contains("Secret"))
    #expect(ann.keys == [[1], [2]])
  }

  @Test func `needs no second place among the streams`() throws {
    let shop = try Shop(words: "limits: {streamsPerCaller: 1, queriesPerCaller: 1}\n")
    let ann = try shop.follow("orders", as: "ann")
    for (user, keys) in [(8, [[3], [4]]), (7, [[1], [2]])] as [(Int, [JSONValue])] {
      try shop.writer.commit(Shop.change("ann", "user = \(user)"))
      while ann.keys != keys { _ = try ann.next() }
    }
  }

  @Test func `waits where nobody can be told from anybody`() throws {
    let ann = try shop.follow("orders", as: "ann")
    try shop.writer.commit("ALTER TABLE session RENAME TO gone")
    try eventually("nobody is known, and the stream says so") {
      try shop.get("/v1/queries/orders/records", as: "ann").status == 500
        && ann.stream.text.contains("event: fetchError")
    }
    try shop.writer.commit("DELETE FROM purchase WHERE id = 1")
    try shop.writer.commit("ALTER TABLE gone RENAME TO session")
    while ann.keys != [[2]] { _ = try ann.next() }
    #expect(ann.stream.text.ranges(of: "event: fetchError").count == 1)
  }
}

/// Raised once, for other threads to see.
private final class Flag: Sendable {
  private let state = Atomic(false)

  var isRaised: Bool { state.load(ordering: .relaxed) }
  func raise() { state.store(true, ordering: .relaxed) }
}
