import TestSupport
import Testing

@Suite(.endToEnd) struct `The description of the interface` {
  @Test func `has each query's paths, parameters and columns`() throws {
    let fixture = try ServerFixture(
      """
      CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score REAL, photo BLOB) STRICT;
      CREATE TABLE note (text TEXT);
      CREATE TABLE seat (row TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (row, number));
      CREATE VIEW noted AS SELECT text, player.id FROM note LEFT JOIN player ON name = text;
      INSERT INTO note VALUES ('of nobody');
      """,
      queries: """
        players:
          sql: SELECT * FROM player WHERE score >= :least AND name <> :name
          parameters: {least: {type: real, default: 0}, name: {type: text}}
        noted: {table: noted}
        seats: {table: seat}
        photos: {table: player, columns: {photo: {blob: image/png}}}
        notes: {table: note, orders: {up: [text], down: [text DESC]}}
        """)
    let answer = try fixture.get("/v1/openapi.json")
    #expect(answer.status == 200)
    #expect(answer.head["Content-Type"] == "application/json")
    let document = try answer.json
    #expect(document["openapi"] == "3.1.0")
    let record = document["components"]["schemas"]["players.Record"]
    #expect(record["required"].elements.map(\.string) == ["id", "name", "score", "photo"])
    #expect(record["properties"]["id"]["type"].elements.map(\.string) == ["integer", "null"])
    #expect(record["properties"]["name"]["type"].elements.map(\.string) == ["string", "null"])
    #expect(record["properties"]["score"]["type"].elements.map(\.string) == ["number", "null"])
    #expect(record["properties"]["photo"]["$ref"] == "#/components/schemas/Value")
    // A view may leave out a row, and its key with it.
    let left = document["components"]["schemas"]["noted.Record"]["properties"]["id"]
    #expect(left["type"].elements.map(\.string) == ["integer", "null"])
    #expect(
      try fixture.get("/v1/queries/noted/records").json["records"].elements[0]["record"]["id"]
        == .null)
    let photos = document["components"]["schemas"]["photos.Record"]["properties"]["photo"]
    #expect(photos["anyOf"].elements.first?["properties"].names == ["url", "bytes"])
    let bytes = document["paths"]["/v1/queries/photos/records/{key}/{column}"]["get"]["parameters"]
    #expect(bytes.elements.map(\.["name"].string) == ["key", "column", "digest"])
    #expect(
      bytes.elements[1]["schema"]["enum"].elements.map(\.string)
        == ["id", "name", "score", "photo"])
    let page = document["paths"]["/v1/queries/photos/records"]["get"]["responses"]["200"]["content"]
    #expect(page.names == ["application/json", "text/csv"])
    // A key of two columns, which the style of paths joins by a comma.
    let seat = document["paths"]["/v1/queries/seats/records/{key}"]["get"]["parameters"].elements[0]
    #expect(seat["schema"]["type"] == "array" && seat["schema"]["minItems"] == .number("2"))
    // What a column declares is a wish, where its table is not STRICT.
    let note = document["components"]["schemas"]["notes.Record"]["properties"]["text"]
    #expect(note["$ref"] == "#/components/schemas/Value")
    let parameters = document["paths"]["/v1/queries/players/records"]["get"]["parameters"].elements
    let required = parameters.filter { $0["required"] == .bool(true) }.map(\.["name"].string)
    #expect(required == ["name"])
    #expect(parameters.contains { $0["name"] == "least" && $0["schema"]["type"] == "number" })
    let order = document["paths"]["/v1/queries/notes/events"]["get"]["parameters"].elements
      .first { $0["name"] == "order" }
    #expect(order?["schema"]["enum"].elements.map(\.string) == ["up", "down"])
    #expect(document["paths"]["/v1/tickets"] == .null)
  }

  @Test(arguments: [true, false])
  func `has exploring where the server does it`(isExploring: Bool) throws {
    let folder = try TemporaryFolder()
    let database = try Database.make(folder.file("music.sqlite"), Teams.schema, journal: .wal)
    let command = try Command.serve([database.path] + (isExploring ? ["--explore"] : []))
    let client = HTTPClient(command.base)
    let paths = try client.get("/v1/openapi.json").json["paths"]
    #expect((paths["/v1/explore"] != .null) == isExploring)
    let list = paths["/v1/queries"]["get"]["responses"]["200"]["content"]["application/json"]
    #expect(try client.get("/v1/queries").json.names == list["schema"]["properties"].names)
  }

  @Test func `shows a caller what that one may read`() throws {
    let shop = try Shop()
    let names = { (answer: HTTPClient.Answer) in
      try answer.json["components"]["schemas"].names.filter { $0.hasSuffix(".Record") }
    }
    let anybody = try names(try shop.get("/v1/openapi.json"))
    let customer = try shop.get("/v1/openapi.json", as: "ann")
    #expect(!anybody.contains("orders.Record"))
    #expect(try names(customer).contains("orders.Record"))
    #expect(try !names(customer).contains("ledger.Record"))
    let orders = try customer.json["paths"]["/v1/queries/orders/records"]["get"]["parameters"]
    #expect(!orders.elements.contains { $0["name"] == "customer" })
    #expect(try customer.json["paths"]["/v1/tickets"] != .null)
  }
}
