import Testing

@Suite(.endToEnd) struct `The bytes of a column` {
  private static let schema = """
    CREATE TABLE pet (name TEXT PRIMARY KEY NOT NULL, photo BLOB, about TEXT, legs INTEGER);
    INSERT INTO pet VALUES ('a/b, c', x'00010203040506070809', 'Grüße', 4), ('d', NULL, '', 2),
      ('..', '<svg/>', NULL, 2);
    """
  private static let query = """
    pets:
      table: pet
      where: legs >= :least AND name <> :not
      parameters: {least: {type: integer, default: 0}, not: {type: text, default: ''}}
      columns: {photo: {blob: image/png}}
    """
  private static let base = "/v1/queries/pets/"

  private func fixture() throws -> ServerFixture {
    try ServerFixture(Self.schema, queries: Self.query)
  }

  private func url(_ record: JSONValue) throws -> String {
    let photo = record["record"]["photo"]
    #expect(photo.names == ["url", "bytes"])
    return Self.base + (try #require(photo["url"].string))
  }

  @Test func `are at the URL that the record has`() throws {
    let fixture = try fixture()
    let path = "\(Self.base)records?least=3&not=d%26e"
    let page = try fixture.get(path).json
    #expect(page["records"].elements.count == 1)
    #expect(page["records"][0]["record"]["photo"]["bytes"].int == 10)
    let url = try url(page["records"][0])
    #expect(url.hasSuffix("&least=3&not=d%26e"), "\(url)")
    let answer = try fixture.get(url)
    #expect(answer.status == 200)
    #expect(answer.body == Array(0...9))
    #expect(answer.head["Content-Type"] == "image/png")
    #expect(answer.head["Accept-Ranges"] == "bytes")
    #expect(answer.head["Cache-Control"] == "no-cache")
    #expect(answer.head["Content-Security-Policy"]?.contains("sandbox") == true)
    // The same in the record itself and in a snapshot.
    let record = try fixture.get("\(Self.base)records/a%2Fb%2C%20c?least=3&not=d%26e").json
    #expect(try self.url(record) == url)
    let snapshot = try fixture.stream("\(Self.base)events?least=3&not=d%26e").next()
    #expect(try self.url(try #require(snapshot).json["records"][0]) == url)
  }

  @Test func `are asked for by parts, by head, and only where they are others`() throws {
    let fixture = try fixture()
    let client = fixture.client()
    defer { withExtendedLifetime(fixture) {} }
    let path = "\(Self.base)records/a%2Fb%2C%20c/photo"
    let whole = try client.get(path)
    let tag = try #require(whole.head["ETag"])
    let head = try client.send("HEAD", path)
    #expect(head.status == 200 && head.body.isEmpty)
    #expect(head.head["Content-Length"] == "10")
    #expect(head.head["ETag"] == tag)
    #expect(try client.get(path, ["If-None-Match: \(tag)"]).status == 304)
    #expect(try client.get(path, ["If-None-Match: \"x\""]).status == 200)
    let part = try client.get(path, ["Range: bytes=2-4"])
    #expect(part.status == 206)
    #expect(part.body == [2, 3, 4])
    #expect(part.head["Content-Range"] == "bytes 2-4/10")
    #expect(part.head["Content-Type"] == "image/png")
    #expect(try client.get(path, ["Range: bytes=-1", "If-Range: \(tag)"]).body == [9])
    #expect(try client.get(path, ["Range: bytes=-1", "If-Range: \"x\""]).status == 200)
    let none = try client.get(path, ["Range: bytes=10-"])
    #expect(none.status == 416)
    #expect(none.head["Content-Range"] == "bytes */10")
    #expect(try client.send("POST", path).status == 405)
    #expect(try client.get(path, ["Accept: text/html"]).status == 406)
    #expect(try client.get(path, ["Accept: image/webp, image/*;q=0.8"]).status == 200)
  }

  @Test func `may be text, and what has none says so`() throws {
    let fixture = try fixture()
    let client = fixture.client()
    defer { withExtendedLifetime(fixture) {} }
    let text = try client.get("\(Self.base)records/a%2Fb%2C%20c/about")
    #expect(text.text == "Grüße")
    #expect(text.head["Content-Type"] == "text/plain; charset=utf-8")
    let empty = try client.get("\(Self.base)records/d/about")
    #expect(empty.status == 200 && empty.body.isEmpty)
    // Text in a column of images is what its column says.
    let svg = try client.get("\(Self.base)records/..,/photo")
    #expect(svg.text == "<svg/>" && svg.head["Content-Type"] == "image/png")
    for (path, detail) in [
      ("d/photo", "NULL"), ("d/legs", "number"), ("d/phto", "did you mean photo?"),
      ("e/photo", "no record"),
    ] {
      let answer = try client.get("\(Self.base)records/\(path)")
      #expect(answer.status == 404, "\(path)")
      #expect(try answer.json["detail"].string?.contains(detail) == true, "\(answer.text)")
    }
    #expect(try client.get("\(Self.base)records/d/about?least=3").status == 404)
    #expect(try client.get("\(Self.base)records/d/about?limit=3").status == 400)
  }

  @Test func `have another URL when they change, and so has what they were`() throws {
    let fixture = try fixture()
    let follower = try fixture.follow("pets")
    let page = try fixture.get("\(Self.base)records").json["records"].elements
    let record = try #require(page.first { $0["key"][0].string == "a/b, c" })
    let old = try url(record)
    let tag = try #require(try fixture.get(old).head["ETag"])
    try fixture.writer().commit("UPDATE pet SET photo = x'ff' WHERE legs = 4")
    let change = try JSONValue(
      parsing: String(try follower.changes()[0].dropFirst("change ".count)))
    let new = try url(change)
    #expect(new != old)
    #expect(Self.base + (change["changes"]["photo"]["url"].string ?? "") == old)
    let answer = try fixture.get(new, ["If-None-Match: \(tag)"])
    #expect(answer.status == 200)
    #expect(answer.body == [0xFF])
    // Whoever comes with the old one is given what there is.
    #expect(try fixture.get(old).body == [0xFF])
  }

  @Test func `are for those who may read the record`() throws {
    let shop = try Shop(
      queries: """
        orders:
          table: purchase
          fields: [id, item, "CAST(item AS BLOB) AS photo"]
          where: customer = :customer AND price >= :least
          parameters:
            customer: {type: integer, claim: user}
            least: {type: integer, default: 0}
          columns: {photo: {blob: image/png}}
        """)
    let client = shop.fixture.client()
    let ann = ["Cookie: session=\(Shop.token("ann"))"]
    let bob = ["Cookie: session=\(Shop.token("bob"))"]
    let base = "/v1/queries/orders/"
    let page = try client.get("\(base)records?least=5", ann)
    let url = try #require(page.json["records"][0]["record"]["photo"]["url"].string)
    // Who somebody is, no URL says.
    #expect(url.hasSuffix("&least=5") && !url.contains("customer"), "\(url)")
    let answer = try client.get(base + url, ann)
    #expect(answer.text == "Anvil")
    #expect(answer.head["Cache-Control"] == "private, no-cache")
    #expect(answer.head["Vary"] == "Authorization, Cookie")
    #expect(try client.get(base + url, bob).status == 404)
    #expect(try client.get(base + url).status == 401)
    try shop.writer.commit("DELETE FROM session")
    #expect(try client.get(base + url, ann).status == 401)
  }
}
