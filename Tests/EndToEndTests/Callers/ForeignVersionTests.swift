import Testing

/// A version is no secret: it stands in URLs and logs. Who comes with somebody else's is shown
/// nothing of what that one saw.
@Suite(.endToEnd) struct `A version of another caller` {
  private let shop: Shop

  init() throws {
    shop = try Shop()
    // With so many records that the difference to another's is smaller than a snapshot.
    try shop.writer.commit(
      """
      UPDATE product SET name = 'Secret of level 2' WHERE level = 2;
      INSERT INTO purchase VALUES (6, 7, 'Fan', 60), (7, 8, 'Gong', 70)
      """)
    try eventually("the names are known") {
      try shop.get("/v1/queries/shelf/records/20", as: "bob").text.contains("Secret")
    }
  }

  /// How a client gives it.
  enum Way: CaseIterable { case field, item, withoutSnapshot, window }

  private func resume(
    _ query: String, _ version: String, _ way: Way, as name: String
  ) -> EventStream {
    let path = "/v1/queries/\(query)/events"
    return switch way {
    case .field: shop.stream(path, as: name, after: version)
    case .item: shop.stream("\(path)?lastEventId=\(version)", as: name)
    case .withoutSnapshot:
      shop.stream("\(path)?snapshot=false&lastEventId=\(version)", as: name)
    case .window: shop.stream("\(path)?limit=500&lastEventId=\(version)", as: name)
    }
  }

  @Test(arguments: Way.allCases)
  func `begins anew, and shows nothing of theirs`(way: Way) throws {
    let bob = try shop.follow("shelf", as: "bob")
    let stream = resume("shelf", bob.model.version, way, as: "ann")
    let ann = Follower(stream)
    try ann.expectSnapshot()
    #expect(ann.keys.count == 190)
    #expect(!stream.text.contains("Secret"))
    // It goes on as any other.
    try shop.writer.commit("DELETE FROM product WHERE id IN (1, 20)")
    #expect(try ann.changes().count == 1)
    #expect(!stream.text.contains("Secret"))
  }

  @Test(arguments: Way.allCases)
  func `of few records begins anew as well`(way: Way) throws {
    let bob = try shop.follow("orders", as: "bob")
    let ann = Follower(resume("orders", bob.model.version, way, as: "ann"))
    try ann.expectSnapshot()
    #expect(ann.keys == [[1], [2], [6]])
    for item in ["Cup", "Drum", "Gong"] { #expect(!ann.stream.text.contains(item)) }
  }

  @Test func `that a window has begins anew`() throws {
    let bob = try shop.follow("shelf", "?limit=100", as: "bob")
    for items in ["?limit=100", ""] {
      let path = "/v1/queries/shelf/events\(items)"
      let ann = Follower(shop.stream(path, as: "ann", after: bob.model.version))
      try ann.expectSnapshot()
      #expect(!ann.stream.text.contains("Secret"))
    }
  }

  @Test func `is nothing to a stranger`() throws {
    let bob = try shop.follow("shelf", as: "bob")
    let path = "/v1/queries/shelf/events"
    #expect(try shop.stream(path, after: bob.model.version).head().status == 401)
    let notices = shop.stream("/v1/queries/notices/events", after: bob.model.version)
    #expect(try notices.next()?.type == "snapshot")
    #expect(!notices.text.contains("Product"))
  }

  @Test func `that is of the same content goes on, and tells nobody anything`() throws {
    let guest = try shop.follow("shelf", as: "guest")
    let ann = Follower(
      resume("shelf", guest.model.version, .field, as: "ann"), model: guest.model)
    _ = try ann.stream.head()
    try shop.writer.commit("DELETE FROM product WHERE id = 1")
    while ann.keys.count != 189 { _ = try ann.next() }
    #expect(!ann.stream.text.contains("Secret"))
  }

  /// What the caller was shown under an earlier claim is no news to them; what another was shown
  /// meanwhile is.
  @Test func `says nothing of what was hidden between two of one's own`() throws {
    let ann = try shop.follow("shelf", as: "ann")
    let first = ann.model
    try shop.writer.commit(Shop.change("ann", "level = 0"))
    _ = try ann.next()
    #expect(ann.keys == [])
    ann.stream.close()
    try shop.writer.commit("UPDATE product SET name = 'Hidden ' || id")
    let again = Follower(
      shop.stream("/v1/queries/shelf/events", as: "ann", after: first.version), model: first)
    while !again.keys.isEmpty { _ = try again.next() }
    #expect(!again.stream.text.contains("Hidden"))
  }
}
