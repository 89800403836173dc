import Foundation
import Testing

/// What happens to the long polls of callers when what is known of them changes.
@Suite(.endToEnd) struct `The long poll of a caller` {
  private let shop: Shop

  init() throws { shop = try Shop() }

  private func path(_ query: String, _ items: String = "") -> String {
    "/v1/queries/\(query)/changes\(items)"
  }

  /// Somebody's client that has what there is.
  private func poller(_ query: String, _ items: String = "", as name: String) throws -> Poller {
    let poller = Poller(query, items)
    try poller.poll(shop.fixture.client(), Shop.bearer(name))
    return poller
  }

  private func wait(
    _ poller: Poller, as name: String, _ wait: Int = 60, beside others: Int = 0
  ) throws -> EventStream {
    try shop.fixture.waitingPoll(
      poller.url(wait: wait), Shop.bearer(name), beside: others, seenBy: Shop.bearer("root"))
  }

  @Test(arguments: ["", "limit=10", "minInterval=20"])
  func `waits for what the caller may see`(items: String) throws {
    let ann = try poller("orders", items, as: "ann")
    let waiting = try wait(ann, as: "ann")
    // Of somebody else.
    try shop.writer.commit("INSERT INTO purchase VALUES (6, 8, 'Secret', 60)")
    try eventually("bob sees it") {
      try shop.get("/v1/queries/orders/records", as: "bob").text.contains("Secret")
    }
    #expect(try shop.fixture.waitingPolls(Shop.bearer("root")) == 1)
    try shop.writer.commit("DELETE FROM purchase WHERE id = 1")
    let answer = try waiting.answer()
    answer.head.expectPrivate()
    try ann.take(answer)
    #expect(ann.model.records.map(\.key) == [[2]])
    #expect(!answer.text.contains("Secret"))
  }

  @Test func `is answered 401 when the caller signs out`() throws {
    let polls = try [("orders", "ann"), ("shelf", "ann"), ("orders", "bob")].enumerated().map {
      try wait(try poller($1.0, as: $1.1), as: $1.1, beside: $0)
    }
    try shop.writer.commit(
      Shop.signOut("ann") + "; INSERT INTO purchase VALUES (6, 7, 'Secret', 60)")
    for poll in polls[..<2] {
      let answer = try poll.answer()
      answer.expectUnauthorized(withToken: true)
      #expect(!answer.text.contains("Secret"))
    }
    #expect(try shop.fixture.waitingPolls(Shop.bearer("root")) == 1)
    try shop.writer.commit("DELETE FROM purchase WHERE customer = 8")
    #expect(try polls[2].answer().status == 200)
    try shop.get(path("orders", "?wait=60"), as: "ann").expectUnauthorized(withToken: true)
  }

  @Test func `is answered 403 when the caller may no more`() throws {
    let waiting = try wait(try poller("orders", as: "ann"), as: "ann")
    try shop.writer.commit(Shop.change("ann", "role = 'guest'"))
    let answer = try waiting.answer()
    answer.expectProblem(403)
  }

  @Test func `is answered 401 when the session is over`() throws {
    let ann = try poller("orders", as: "ann")
    let waiting = try wait(ann, as: "ann")
    let end = Int(Date().timeIntervalSince1970) + 2
    // The request goes on until then.
    try shop.writer.commit(Shop.change("ann", "expires = \(end)"))
    try waiting.answer().expectUnauthorized(withToken: true)
    #expect(Date().timeIntervalSince1970 > Double(end) - 0.1)
  }

  @Test(arguments: ["", "limit=500"])
  func `is answered with what the caller may see now`(items: String) throws {
    let ann = try poller("shelf", items, as: "ann")
    #expect(ann.model.records.count == 190)
    let waiting = try wait(ann, as: "ann")
    try shop.writer.commit(
      Shop.change("ann", "level = 2") + "; UPDATE product SET name = 'New' WHERE id IN (1, 20)")
    try ann.take(try waiting.answer())
    #expect(ann.model.records.count == 200)
    #expect(ann.model.records.count { $0.values["name"] == "New" } == 2)
    // And less again.
    let again = try wait(ann, as: "ann")
    try shop.writer.commit(
      Shop.change("ann", "level = 1") + "; UPDATE product SET name = 'Secret' WHERE id = 40")
    let answer = try again.answer()
    try ann.take(answer)
    #expect(ann.model.records.count == 190)
    #expect(!answer.text.contains("Secret"))
  }

  @Test func `goes on waiting when a claim changes that changes nothing`() throws {
    let ann = try poller("orders", as: "ann")
    let waiting = try wait(ann, as: "ann")
    try shop.writer.commit(Shop.change("ann", "level = 2, role = 'admin'"))
    try eventually("the claim is known") {
      try shop.get("/v1/queries/ledger/records", as: "ann").status == 200
    }
    try shop.writer.commit("DELETE FROM purchase WHERE id = 1")
    try ann.take(try waiting.answer())
    #expect(ann.model.records.map(\.key) == [[2]])
  }

  @Test func `ends in time, however often claims change`() throws {
    let ann = try poller("orders", as: "ann")
    let start = ContinuousClock.now
    let waiting = try wait(ann, as: "ann", 2)
    var count = 0
    while ContinuousClock.now - start < .milliseconds(2500) {
      count += 1
      try shop.writer.commit(Shop.change("ann", "level = \(count)"))
    }
    let answer = try ann.take(try waiting.answer())
    #expect(answer["events"] == [])
    #expect(try shop.fixture.waitingPolls(Shop.bearer("root")) == 0)
  }

  /// The result is live for somebody else already, as it was before that commit.
  @Test func `shows of what another is shown nothing from before the claim`() throws {
    let bob = try shop.follow("orders", as: "bob")
    for round in 1...20 {
      let ann = try poller("orders", as: "ann")
      try shop.writer.commit("INSERT INTO purchase VALUES (\(100 + round), 8, 'Secret', 60)")
      _ = try bob.changes()
      let waiting = try wait(ann, as: "ann")
      try shop.writer.commit(
        "DELETE FROM purchase WHERE item = 'Secret'; " + Shop.change("ann", "user = 8"))
      let answer = try waiting.answer()
      try ann.take(answer)
      #expect(ann.model.records.map(\.key) == [[3], [4]])
      #expect(!answer.text.contains("Secret"))
      _ = try bob.changes()
      try shop.writer.commit(Shop.change("ann", "user = 7"))
      try eventually("ann is ann again") {
        try shop.get("/v1/queries/orders/records", as: "ann").keys == [[1], [2]]
      }
    }
  }

  @Test func `with another caller's version begins anew`() throws {
    try shop.writer.commit("UPDATE product SET name = 'Secret of level 2' WHERE level = 2")
    try eventually("the names are known") {
      try shop.get("/v1/queries/shelf/records/20", as: "bob").text.contains("Secret")
    }
    for items in ["", "limit=500"] {
      let bob = try poller("shelf", items, as: "bob")
      #expect(bob.model.records.count == 200)
      let answer = try shop.fixture.get(bob.url(wait: 60), Shop.bearer("ann"))
      let ann = Poller("shelf", items)
      try ann.take(answer)
      #expect(ann.model.records.count == 190)
      #expect(!answer.text.contains("Secret"))
    }
  }

  @Test func `is for all caches only where everybody is answered the same`() throws {
    let notices = try poller("notices", as: "ann")
    for name in [nil, "ann", "root"] as [String?] {
      for items in ["", "?wait=0&after=\(notices.model.version)", "?limit=1"] {
        let answer = try shop.get(path("notices", items), as: name)
        #expect(answer.status == 200)
        #expect(answer.head["Cache-Control"] == "public, max-age=60")
        #expect(answer.head.members("Vary") == ["origin", "last-event-id"])
      }
      try shop.get(path("orders"), as: "ann").head.expectPrivate()
      try shop.get(path("ledger"), as: "root").head.expectPrivate()
    }
    let same = try ["ann", "bob"].map { try shop.get(path("notices"), as: $0).json["events"] }
    #expect(same[0] == same[1])
    let bad = try shop.fixture.get(path("notices"), ["Authorization: Bearer nonsense"])
    bad.expectUnauthorized(withToken: true)
    for query in ["orders", "ledger"] {
      try shop.get(path(query)).expectUnauthorized(withToken: false)
    }
    try shop.get(path("ledger"), as: "ann").expectProblem(403)
    let ticket = try shop.ticket(as: "ann")
    try shop.get(path("orders", "?access_token=\(ticket)")).expectUnauthorized(withToken: true)
  }

  @Test func `counts as a stream of the caller`() throws {
    let shop = try Shop(words: "limits: {streamsPerCaller: 1, queriesPerCaller: 1}\n")
    let ann = Poller("orders")
    try ann.poll(shop.fixture.client(), Shop.bearer("ann"))
    let waiting = try shop.fixture.waitingPoll(
      ann.url(wait: 60), Shop.bearer("ann"), seenBy: Shop.bearer("root"))
    let refused = try shop.get("/v1/queries/orders/events", as: "ann")
    refused.expectProblem(429)
    // It needs no second place when it begins anew.
    try shop.writer.commit(Shop.change("ann", "user = 8"))
    try ann.take(try waiting.answer())
    #expect(ann.model.records.map(\.key) == [[3], [4]])
    for _ in 0..<50 { try ann.poll(shop.fixture.client(), Shop.bearer("ann")) }
  }

  @Test func `is told where nobody can be told from anybody`() throws {
    let waiting = try wait(try poller("orders", as: "ann"), as: "ann")
    try shop.writer.commit("ALTER TABLE session RENAME TO gone")
    let answer = try waiting.answer()
    answer.expectProblem(500)
    #expect(!answer.text.contains("session"))
  }
}
