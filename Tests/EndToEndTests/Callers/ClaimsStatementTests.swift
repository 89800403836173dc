import Foundation
import Testing

/// The SELECT that says of a token whose it is.
@Suite(.endToEnd) struct `The claims statement` {
  private let path = "/v1/queries/orders/records"

  private func serve(_ claims: String, log: LogKeeper = LogKeeper()) throws -> ServerFixture {
    let callers = Shop.callers.replacing(/claims: .*/, with: "claims: \(claims)")
    return try ServerFixture(
      Shop.schema, queries: Shop.queries, words: callers, logger: log.logger)
  }

  @Test func `that gives no row makes its caller nobody`() throws {
    let shop = try Shop()
    try shop.get(path, as: "stranger").expectUnauthorized(withToken: true)
    #expect(try shop.stream("/v1/queries/orders/events", as: "stranger").head().status == 401)
    // The row comes, and the caller is somebody.
    try shop.writer.commit(Shop.signIn("stranger", "7, 'customer', 1, NULL"))
    try eventually("the stranger is somebody") {
      try shop.get(path, as: "stranger").status == 200
    }
    #expect(try shop.get(path, as: "stranger").keys == [[1], [2]])
  }

  @Test func `that gives two rows lets nobody in, and tells the operator`() throws {
    let log = LogKeeper()
    let fixture = try serve(
      "SELECT user, role, level FROM session WHERE role = 'customer' AND :token <> ''", log: log)
    let answer = try fixture.get(path, Shop.bearer("ann"))
    #expect(answer.status == 500 || answer.status == 401)
    for word in ["session", "SELECT", "row", "customer"] {
      #expect(!answer.text.contains(word), "\(answer.text)")
    }
    #expect(try fixture.stream("/v1/queries/orders/events").head().status == 401)
    let stream = fixture.stream("/v1/queries/orders/events", .init(fields: Shop.bearer("ann")))
    #expect(try stream.head().status == answer.status)
    try eventually("the log says it") { log.text.contains("rows") }
    #expect(!log.text.contains(Shop.token("ann")))
    // What anyone may read, a stranger still does.
    #expect(try fixture.get("/v1/queries/notices/records").status == 200)
  }

  @Test func `that gives a second row while a stream is open holds it`() throws {
    let fixture = try serve("SELECT user, role, level FROM session WHERE user = 7 AND :token <> ''")
    let writer = try fixture.writer()
    let stream = fixture.stream("/v1/queries/orders/events", .init(fields: Shop.bearer("ann")))
    let follower = Follower(stream)
    try follower.expectSnapshot()
    try writer.commit(Shop.signIn("other", "7, 'admin', 3, NULL"))
    let event = try #require(try stream.next())
    #expect(event.type == "fetchError")
    #expect(try event.json["status"].int == 500)
    #expect(try fixture.get(path, Shop.bearer("ann")).status == 500)
    try writer.commit("DELETE FROM purchase WHERE id = 1")
    try writer.commit("DELETE FROM session WHERE role = 'admin' AND user = 7")
    while follower.keys != [[2]] { _ = try follower.next() }
  }

  @Test func `that fails lets nobody in, says nothing of itself, and mends itself`() throws {
    let log = LogKeeper()
    let fixture = try serve(
      "SELECT user, role, level FROM session WHERE token = :token", log: log)
    let writer = try fixture.writer()
    let stream = fixture.stream("/v1/queries/orders/events", .init(fields: Shop.bearer("ann")))
    #expect(try stream.next()?.type == "snapshot")
    try writer.commit("ALTER TABLE session RENAME TO hidden_sessions")
    try eventually("nobody is let in") { try fixture.get(path, Shop.bearer("ann")).status != 200 }
    let answer = try fixture.get(path, Shop.bearer("ann"))
    #expect(answer.status >= 500, "\(answer.status)")
    for word in ["session", "SELECT", "no such table"] {
      #expect(!answer.text.contains(word), "\(answer.text)")
    }
    try writer.commit("ALTER TABLE hidden_sessions RENAME TO session")
    try eventually("who was let in is again") {
      try fixture.get(path, Shop.bearer("ann")).status == 200
    }
    #expect(!stream.text.contains("hidden_sessions") && !stream.text.contains("no such table"))
  }

  @Test func `that fails is in the log once, however many ask`() throws {
    let log = LogKeeper()
    let fixture = try serve("SELECT user, role, level FROM session WHERE token = :token", log: log)
    try fixture.writer().commit("ALTER TABLE session RENAME TO hidden_sessions")
    try eventually("nobody is let in") { try fixture.get(path, Shop.bearer("ann")).status >= 500 }
    for _ in 1...20 { #expect(try fixture.get(path, Shop.bearer("ann")).status >= 500) }
    #expect(log.text.split(separator: "the `claims` statement fails").count == 2, "\(log.text)")
  }

  @Test func `that cannot be keeps the server from starting, with its place`() throws {
    for claims in [
      "SELECT user FROM nowhere WHERE token = :token", "SELECT user FROM session WHERE",
      "DELETE FROM session WHERE token = :token", "SELECT user; SELECT 1",
      // It would let in for ever: no commit tells that the time is over.
      "SELECT user FROM session WHERE token = :token AND expires > unixepoch()",
    ] {
      let problem = try #require(throws: (any Error).self) { try serve(claims) }
      #expect("\(problem)".contains("didchange.yaml:4:"), "\(claims): \(problem)")
    }
  }

  // MARK: - Its columns

  @Test func `lets in until its column says`() throws {
    let shop = try Shop()
    let now = Int(Date().timeIntervalSince1970)
    try shop.writer.commit(Shop.change("ann", "expires = \(now - 1)"))
    try shop.writer.commit(Shop.change("bob", "expires = \(now + 3600)"))
    try eventually("ann's session is over") { try shop.get(path, as: "ann").status == 401 }
    try shop.get(path, as: "ann").expectUnauthorized(withToken: true)
    try shop.post("/v1/tickets", as: "ann").expectUnauthorized(withToken: true)
    #expect(try shop.stream("/v1/queries/orders/events", as: "ann").head().status == 401)
    #expect(try shop.get(path, as: "bob").keys == [[3], [4]])
    // A longer one lets in again.
    try shop.writer.commit(Shop.change("ann", "expires = \(now + 3600)"))
    try eventually("ann's session goes on") { try shop.get(path, as: "ann").status == 200 }
  }

  @Test func `ends streams when their time has come`() throws {
    let shop = try Shop()
    let stream = try shop.follow("orders", as: "ann")
    let longer = try shop.follow("orders", as: "bob")
    let end = Int(Date().timeIntervalSince1970) + 3
    try shop.writer.commit(
      Shop.change("ann", "expires = \(end)") + ";" + Shop.change("bob", "expires = \(end + 600)"))
    try stream.expectEnd(with: 401)
    let now = Date().timeIntervalSince1970
    #expect(now >= Double(end) && now < Double(end) + 3, "\(now - Double(end)) s after the end")
    try shop.get(path, as: "ann").expectUnauthorized(withToken: true)
    try shop.writer.commit("DELETE FROM purchase WHERE id = 3")
    #expect(try longer.changes().count == 1)
  }

  @Test func `ends streams at once whose time is made to be over`() throws {
    let shop = try Shop()
    let stream = try shop.follow("orders", as: "ann")
    try shop.writer.commit(Shop.change("ann", "expires = 1"))
    try stream.expectEnd(with: 401)
  }

  @Test(arguments: ["tomorrow", "nan", "inf", "0x7fffffffff", ""])
  func `refuses an end that is no time`(_ text: String) throws {
    let shop = try Shop()
    try shop.writer.commit(Shop.change("ann", "expires = '\(text)'"))
    try eventually("ann is nobody") { try shop.get(path, as: "ann").status == 401 }
  }

  @Test func `refuses an end that has U+0000 in it`() throws {
    let shop = try Shop()
    try shop.writer.commit(Shop.change("ann", "expires = CAST('4000000000' || char(0) AS TEXT)"))
    try eventually("ann is nobody") { try shop.get(path, as: "ann").status == 401 }
  }

  @Test func `may be of several tables, and each of them is live`() throws {
    let fixture = try serve(
      "SELECT s.user, s.role, s.level FROM session s JOIN product p ON p.id = s.user "
        + "WHERE s.token = :token AND p.level >= 1")
    let writer = try fixture.writer()
    let stream = fixture.stream("/v1/queries/orders/events", .init(fields: Shop.bearer("ann")))
    #expect(try stream.next()?.json["numberOfRecords"] == 2)
    try writer.commit("UPDATE product SET level = 0 WHERE id = 7")
    try stream.expectEnd(with: 401)
  }

  /// Texts of a statement are texts of a claim: no SQL is ever made of one.
  @Test func `gives texts that mean nothing else`() throws {
    let queries = """
      mine:
        table: purchase
        where: item = :item
        parameters: {item: {type: text, claim: role}}
      """
    let shop = try Shop(queries: queries)
    for text in ["' OR 1=1 --", "x' OR '1'='1", "%", "Anvil\u{0}x"] {
      let quoted = text.utf8.map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined()
      try shop.writer.commit(Shop.change("ann", "role = CAST(x'\(quoted)' AS TEXT)"))
      let stream = try shop.follow("mine", as: "bob")
      #expect(stream.keys == [])
      try eventually("the role is \(text)") {
        try shop.get("/v1/queries/mine/records", as: "ann").keys == []
      }
    }
    try shop.writer.commit(Shop.change("ann", "role = 'Anvil'"))
    try eventually("the role is an item") {
      try shop.get("/v1/queries/mine/records", as: "ann").keys == [[1]]
    }
  }
}
