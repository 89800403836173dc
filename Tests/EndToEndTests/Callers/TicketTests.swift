import Foundation
import Testing

@Suite(.endToEnd) struct `A ticket` {
  private let shop: Shop
  private let path = "/v1/queries/orders/events"

  init() throws { shop = try Shop() }

  private func stream(_ ticket: String, _ items: String = "", fields: [String] = []) -> EventStream
  {
    shop.fixture.stream("\(path)?access_token=\(ticket)\(items)", .init(fields: fields))
  }

  @Test func `is given to whoever is signed in, for half a minute`() throws {
    let before = Date().timeIntervalSince1970
    let answer = try shop.post("/v1/tickets", as: "ann")
    #expect(answer.status == 200)
    #expect(answer.head["Content-Type"] == "application/json")
    // RFC 6750 §5.3
    #expect(answer.head["Cache-Control"]?.contains("no-store") == true)
    let json = try answer.json
    #expect(json.names == ["ticket", "expires"])
    let ticket = try #require(json["ticket"].string)
    #expect(ticket.utf8.allSatisfy { "-._~".utf8.contains($0) || isalnum(Int32($0)) != 0 })
    #expect(!ticket.contains(Shop.token("ann")))
    let expires = try #require(Double(json["expires"].description))
    let after = Date().timeIntervalSince1970
    #expect(expires >= before.rounded(.down) + 30 && expires <= after.rounded(.up) + 30)
    // By the cookie as well; and no two are the same.
    let other = try shop.fixture.client().send("POST", "/v1/tickets", Shop.cookie("ann"))
    #expect(other.status == 200)
    #expect(try other.json["ticket"].string != ticket)
  }

  @Test func `is given to nobody else`() throws {
    try shop.post("/v1/tickets").expectUnauthorized(withToken: false)
    try shop.post("/v1/tickets", as: "stranger").expectUnauthorized(withToken: true)
    #expect(try shop.get("/v1/tickets", as: "ann").status == 405)
    let foreign = try shop.fixture.client().send(
      "POST", "/v1/tickets", Shop.cookie("ann") + ["Origin: https://evil.example"])
    foreign.expectProblem(403)
    #expect(try !foreign.json.names.contains("ticket"))
  }

  @Test func `opens one stream of its caller, once`() throws {
    let ticket = try shop.ticket(as: "ann")
    let follower = Follower(stream(ticket))
    try follower.expectSnapshot()
    #expect(follower.keys == [[1], [2]])
    try shop.fixture.get("\(path)?access_token=\(ticket)").expectUnauthorized(withToken: true)
    try shop.fixture.get("\(path)?access_token=\(ticket)", Shop.bearer("ann"))
      .expectUnauthorized(withToken: true)
    // The stream lives on, as long as the caller is who they are.
    try shop.writer.commit("DELETE FROM purchase WHERE id = 1")
    #expect(try follower.changes().count == 1)
    try shop.writer.commit(Shop.signOut("ann"))
    try follower.expectEnd(with: 401)
  }

  @Test func `is not used up by a HEAD, which opens no stream`() throws {
    let ticket = try shop.ticket(as: "ann")
    let target = "\(path)?access_token=\(ticket)"
    let client = shop.fixture.client()
    #expect(try client.send("HEAD", target).status == 200)
    #expect(try client.send("HEAD", target).status == 200)
    try Follower(stream(ticket)).expectSnapshot()
    #expect(try client.send("HEAD", target).status == 401)
  }

  @Test func `is good for didchange watch`() throws {
    let ticket = try shop.ticket(as: "ann")
    let watch = try Command(["watch", "\(shop.fixture.base)\(path)?access_token=\(ticket)"])
    let line = try watch.process.output.next()
    #expect(line?.hasPrefix("orders  2 records") == true, "\(line ?? "nothing")")
    try watch.process.kill9()
  }

  @Test func `opens a stream that goes on where another was`() throws {
    let first = Follower(stream(try shop.ticket(as: "ann")))
    try first.expectSnapshot()
    first.stream.close()
    try shop.writer.commit("UPDATE purchase SET price = 11 WHERE id = 1")
    let again = Follower(
      stream(try shop.ticket(as: "ann"), "&lastEventId=\(first.model.version)"),
      model: first.model)
    _ = try again.next()
    #expect(again.model.records.first?.values["price"] == 11)
  }

  @Test func `opens a stream of several queries`() throws {
    let ticket = try shop.ticket(as: "ann")
    let stream = shop.fixture.stream(
      "/v1/events?query=orders&query=shelf&access_token=\(ticket)")
    #expect(try stream.next()?.json["numberOfRecords"] == 2)
    #expect(try stream.next()?.json["numberOfRecords"] == 190)
  }

  @Test func `is its caller's, whoever else the request says it is`() throws {
    let ticket = try shop.ticket(as: "ann")
    let follower = Follower(stream(ticket, fields: Shop.bearer("bob")))
    try follower.expectSnapshot()
    #expect(follower.keys == [[1], [2]])
  }

  @Test func `of who has signed out since opens nothing`() throws {
    let ticket = try shop.ticket(as: "ann")
    try shop.writer.commit(Shop.signOut("ann"))
    try eventually("ann has signed out") {
      try shop.get("/v1/queries/orders/records", as: "ann").status == 401
    }
    try shop.fixture.get("\(path)?access_token=\(ticket)").expectUnauthorized(withToken: true)
  }

  @Test func `of who has another role now opens what that may read`() throws {
    let ticket = try shop.ticket(as: "ann")
    try shop.writer.commit(Shop.change("ann", "role = 'guest'"))
    try eventually("ann is a guest") {
      try shop.get("/v1/queries/orders/records", as: "ann").status == 403
    }
    #expect(try shop.fixture.get("\(path)?access_token=\(ticket)").status == 403)
  }

  @Test func `that is not good opens nothing`() throws {
    let ticket = try shop.ticket(as: "ann")
    let middle = ticket.index(ticket.startIndex, offsetBy: ticket.count / 2)
    let forged = ticket.replacingCharacters(
      in: middle...middle, with: ticket[middle] == "A" ? "B" : "A")
    for text in [
      forged, String(ticket.dropLast()), ticket + "A", "", "t1.", "x", Shop.token("ann"),
      String(repeating: "a", count: 7000), "%00", "a&access_token=b",
      "\(ticket)&access_token=\(ticket)",
    ] {
      for fields in [[], Shop.bearer("ann")] {
        let answer = try shop.fixture.get("\(path)?access_token=\(text)", fields)
        answer.expectUnauthorized(withToken: true, "\(text)")
        if text.count > 3 { #expect(!answer.text.contains(text)) }
      }
    }
    // None of these has used it up.
    #expect(try stream(ticket).next()?.type == "snapshot")
  }

  @Test func `is for streams, and no way to pages`() throws {
    let ticket = try shop.ticket(as: "ann")
    let paths = [
      "/v1/queries/orders/records", "/v1/queries/orders/sections", "/v1/queries/orders",
      // Nor where the name of a query or a key is that of a stream.
      "/v1/queries/events", "/v1/queries/orders/records/events",
    ]
    for path in paths {
      let answer = try shop.fixture.get("\(path)?access_token=\(ticket)")
      #expect(answer.status == 401 || answer.status == 400, "\(path): \(answer.status)")
      #expect(!answer.text.contains("Anvil"))
    }
    let more = try shop.fixture.client().post("/v1/tickets?access_token=\(ticket)")
    #expect(more.status == 401 || more.status == 400, "\(more.status)")
  }

  @Test func `is good at a server with the same key, and at no other`() throws {
    let key = String(repeating: "k", count: 32)
    let words = Shop.callers + "  ticketKey: ticket.key\n"
    func serve(_ key: String) throws -> ServerFixture {
      try ServerFixture(
        Shop.schema, queries: Shop.queries, words: words, files: ["ticket.key": key])
    }
    let (one, two, three) = (try serve(key), try serve(key), try serve(key + "x"))
    let answer = try one.client().send("POST", "/v1/tickets", Shop.bearer("ann"))
    let ticket = try #require(try answer.json["ticket"].string)
    let other = three.stream("\(path)?access_token=\(ticket)")
    #expect(try other.head().status == 401)
    #expect(try two.stream("\(path)?access_token=\(ticket)").next()?.type == "snapshot")
    #expect(try two.stream("\(path)?access_token=\(ticket)").head().status == 401)
  }

  @Test func `is nothing at a server without callers`() throws {
    let fixture = try ServerFixture(Teams.schema, queries: Teams.query)
    #expect(try [404, 405].contains(fixture.client().post("/v1/tickets").status))
  }
}
