import Testing

@Suite(.endToEnd) struct `Parameters` {
  private let fixture: ServerFixture
  private let client: HTTPClient

  init() throws {
    fixture = try ServerFixture(
      """
      CREATE TABLE thing (id INTEGER PRIMARY KEY, t TEXT, i INTEGER, r REAL, b BLOB);
      INSERT INTO thing VALUES (1, 'FR', 9007199254740993, 1.5, x'00ff'),
        (2, 'a&b=c +%é', -1, -0.25, x''), (3, '', 0, 0.0, x'666f6f');
      """,
      queries: """
        texts: {table: thing, fields: [id], where: "t = :t", parameters: {t: {type: text}}}
        integers: {table: thing, fields: [id], where: "i = :i", parameters: {i: {type: integer}}}
        reals: {table: thing, fields: [id], where: "r = :r", parameters: {r: {type: real}}}
        blobs: {table: thing, fields: [id], where: "b = :b", parameters: {b: {type: blob}}}
        defaults:
          table: thing
          fields: [id]
          where: t = :country
          parameters: {country: {type: text, default: FR}}
        plain: {table: thing, fields: [id]}
        """)
    client = fixture.client()
  }

  private func ids(_ path: String) throws -> [Int?] {
    let answer = try client.get("/v1/queries/\(path)")
    #expect(answer.status == 200, "\(answer.text)")
    return try answer.json["records"].elements.map { $0["key"][0].int }
  }

  @Test func `are bound as their types say`() throws {
    #expect(try ids("texts/records?t=FR") == [1])
    #expect(try ids("texts/records?t=a%26b%3Dc%20%2B%25%C3%A9") == [2])
    #expect(try ids("texts/records?t=") == [3])
    #expect(try ids("texts/records?t=%27%20OR%201--") == [])
    #expect(try ids("integers/records?i=9007199254740993") == [1])
    #expect(try ids("integers/records?i=9007199254740992") == [])
    #expect(try ids("integers/records?i=-1") == [2])
    #expect(try ids("reals/records?r=1.5") == [1])
    #expect(try ids("reals/records?r=-25e-2") == [2])
    #expect(try ids("reals/records?r=0") == [3])
    #expect(try ids("blobs/records?b=AP8%3D") == [1])
    #expect(try ids("blobs/records?b=AP8") == [1])
    #expect(try ids("blobs/records?b=") == [2])
    #expect(try ids("blobs/records?b=Zm9v") == [3])
  }

  @Test func `have defaults`() throws {
    #expect(try ids("defaults/records") == [1])
    #expect(try ids("defaults/records?country=") == [3])
  }

  @Test func `stand beside the words of a page and of access`() throws {
    #expect(try ids("texts/records?limit=5&t=FR&access_token=secret") == [1])
  }

  @Test(arguments: [
    ("texts", "", "t"), ("texts", "t=FR&t=FR", "t"), ("texts", "t=FR&u=1", "u"),
    ("texts", "T=FR", "T"), ("texts", "t=FR&snapshot=true", "snapshot"),
    ("texts", "t=FR&minInterval=1", "minInterval"), ("texts", "t=FR&lastEventId=x", "lastEventId"),
    ("texts", "t=FR&query=x", "query"), ("texts", "t=FR&before=x", "before"),
    ("integers", "i=1.5", "i"), ("integers", "i=x", "i"), ("integers", "i=", "i"),
    ("integers", "i=9223372036854775808", "i"), ("integers", "i=%2B", "i"),
    ("reals", "r=x", "r"), ("reals", "r=nan", "r"), ("reals", "r=inf", "r"), ("reals", "r=", "r"),
    ("reals", "r=1e999", "r"), ("blobs", "b=*", "b"), ("blobs", "b=A", "b"),
    ("plain", "x=1", "x"), ("defaults", "contry=DE", "country"),
  ])
  func `that are wrong are refused everywhere`(query: String, items: String, word: String) throws {
    for resource in [
      "records", "sections", "sections/0", "sections/0/records", "sections/0/records/0",
      "records/1", "sectionIndexTitles", "sectionIndexTitles/A", "events",
    ] {
      // A stream knows some of the words.
      if resource == "events", ["snapshot", "minInterval", "lastEventId"].contains(word) {
        continue
      }
      let answer = try client.get("/v1/queries/\(query)/\(resource)?\(items)")
      #expect(answer.status == 400, "\(resource)")
      #expect(answer.head["Content-Type"] == "application/problem+json")
      #expect(try answer.json["status"] == 400)
      #expect(try answer.json["detail"].string?.contains(word) == true, "\(answer.text)")
    }
    #expect(try client.post("/v1/queries/\(query)/fetch?\(items)").status == 400)
  }

  @Test func `that are unknown are answered with those that are declared`() throws {
    let detail = try client.get("/v1/queries/defaults/records?land=DE").json["detail"].string
    #expect(detail?.contains("country") == true)
  }

  @Test func `that are not percent-encoded UTF-8 are refused`() throws {
    for items in ["t=%", "t=%4", "t=%zz", "t=%FF", "%FF=1"] {
      #expect(try client.get("/v1/queries/texts/records?\(items)").status == 400, "\(items)")
    }
  }
}
