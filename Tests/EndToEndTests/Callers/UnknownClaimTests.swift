import Foundation
import Testing

/// Callers whose claims are as they were, but were not all the time.
@Suite(.endToEnd) struct `A caller whose claims come back` {
  /// Slow for bob and whoever takes his place.
  private static let queries = """
    slow:
      sql: |
        SELECT item, (
          WITH RECURSIVE n(i) AS (
            SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < iif(:customer = 8, 150000, 1))
          SELECT count(*) FROM n) AS n
        FROM purchase WHERE customer = :customer ORDER BY item
      parameters:
        customer: {type: integer, claim: user}
      section: iif(item LIKE 'Secret%', 'Secret ' || substr(item, -1), 'plain')
    pace:
      sql: |
        SELECT count(*) AS n, (
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)
          SELECT count(*) FROM n) AS m
        FROM purchase
      allow: anyone
    orders:
      table: purchase
      where: customer = :customer
      cache: true
      parameters:
        customer: {type: integer, claim: user}
    """

  private let shop: Shop

  init() throws { shop = try Shop(queries: Self.queries) }

  private static let paths = [
    "/v1/queries/slow/records", "/v1/queries/slow/events", "/v1/queries/slow/events?limit=9",
    "/v1/events?query=slow",
  ]

  /// All that somebody is shown until bob's cup is among it.
  private func shown(_ path: String, as name: String) throws -> String {
    if path.hasSuffix("records") { return try shop.get(path, as: name).text }
    let stream = shop.stream(path, as: name)
    while !stream.text.contains("Cup") { try #require(try stream.next() != nil, "\(stream.text)") }
    return stream.text
  }

  @Test(arguments: paths)
  func `is shown nothing of when they were nobody's`(path: String) throws {
    try shop.writer.commit(Shop.change("ann", "user = 8"))
    let bob = try shop.follow("slow", as: "bob")
    #expect(try shop.get("/v1/queries/slow/sections", as: "ann").status == 200)
    // What takes longer and is asked for later tells when bob's list has been read.
    let pace = Follower(shop.fixture.stream("/v1/queries/pace/events"))
    try pace.expectSnapshot()
    // Nobody is anybody, and bob's list is read with what is secret.
    try shop.writer.commit(
      "ALTER TABLE session RENAME TO gone; INSERT INTO purchase VALUES (6, 8, 'Secret', 60)")
    try eventually("nobody is known") {
      try shop.get("/v1/queries/orders/records", as: "ann").status == 500
    }
    _ = try pace.changes()
    try shop.writer.commit(
      "ALTER TABLE gone RENAME TO session; DELETE FROM purchase WHERE id = 6")
    #expect(try !shown(path, as: "ann").contains("Secret"))
    #expect(!bob.stream.text.contains("Secret"))
  }

  @Test func `is resumed from nothing that an earlier life of the server has kept`() throws {
    let long = String(repeating: "x", count: 200)
    try shop.writer.commit("UPDATE purchase SET item = item || '\(long)'")
    let bob = try shop.follow("orders", as: "bob")
    try shop.writer.commit("INSERT INTO purchase VALUES (6, 8, 'Secret', 60)")
    _ = try bob.changes()
    shop.fixture.drain()
    try shop.writer.commit("DELETE FROM purchase WHERE id = 6;" + Shop.change("ann", "user = 8"))
    let next = try ServerFixture(after: shop.fixture)
    let stream = next.stream(
      "/v1/queries/orders/events",
      .init(lastEventID: bob.model.version, fields: Shop.bearer("ann")))
    #expect(try stream.next()?.type == "snapshot")
    #expect(!stream.text.contains("Secret"))
    // Whoever is still who he was is no exception: nobody knows what happened meanwhile.
    let again = next.stream(
      "/v1/queries/orders/events",
      .init(lastEventID: bob.model.version, fields: Shop.bearer("bob")))
    #expect(try again.next()?.type == "snapshot")
  }

  /// What fails names records, and another's claims may be a caller's only until the next commit.
  @Test func `is told nothing of records by what fails`() throws {
    try shop.writer.commit(Shop.change("ann", "user = 8"))
    let streams = ["/v1/queries/slow/events", "/v1/events?query=slow"].map {
      shop.stream($0, as: "ann")
    }
    try shop.writer.commit(
      """
      INSERT INTO purchase VALUES (6, 8, 'Secret 1a', 60), (7, 8, 'Secret 2b', 70),
        (8, 8, 'Secret 3a', 70);
      """ + Shop.change("ann", "user = 7"))
    let answers = [
      try shop.get("/v1/queries/slow/records", as: "ann"),
      try shop.fixture.client().send("POST", "/v1/queries/slow/fetch", Shop.bearer("ann")),
    ]
    for answer in answers { #expect(!answer.text.contains("Secret"), "\(answer.text)") }
    for stream in streams {
      while !stream.text.contains("Bell") { try #require(try stream.next() != nil) }
      #expect(!stream.text.contains("Secret"))
    }
  }

  @Test(arguments: [false, true])
  func `goes on with what is theirs, and not with what was on its way`(isGone: Bool) throws {
    let bob = try shop.follow("slow", as: "bob")
    let ann = shop.stream("/v1/queries/slow/events", as: "ann")
    try #require(try ann.next()?.type == "snapshot")
    // What ann would see as another is late, and she is herself again, or nobody.
    try shop.writer.commit(
      Shop.change("ann", "user = 8") + "; UPDATE purchase SET item = 'Cup!' WHERE id = 3")
    try shop.writer.commit(
      isGone
        ? "DELETE FROM session WHERE token = '\(Shop.digest(Shop.token("ann")))'"
        : Shop.change("ann", "user = 7"))
    _ = try bob.changes()
    try shop.writer.commit("UPDATE purchase SET item = 'Anvil!' WHERE id = 1")
    if isGone {
      while try ann.next() != nil {}
      #expect(ann.text.contains(#""status":401"#))
    } else {
      while !ann.text.contains("Anvil!") { try #require(try ann.next() != nil) }
    }
    #expect(!ann.text.contains("Cup"))
  }

  @Test func `is nobody from the second on in which the claims expire`() throws {
    let now = Date().timeIntervalSince1970
    let end = Int(now) + 2
    try shop.writer.commit(Shop.change("ann", "expires = \(end)"))
    let ann = shop.stream("/v1/queries/orders/events", as: "ann")
    while try ann.next() != nil {}
    let late = Date().timeIntervalSince1970 - Double(end)
    #expect(ann.text.contains(#""status":401"#))
    #expect(late >= 0)
  }
}
