import TestSupport
import Testing

/// Queries that hold much: 10 000 products of some 500 bytes.
enum BulkQueries {
  static let queries = """

    bulk:
      sql: SELECT id, item, :k AS k FROM bulk
      key: [id]
      parameters: {k: {type: integer}}
      allow: signedIn
    some:
      sql: SELECT id, item, :k AS k FROM bulk WHERE id <= 100
      key: [id]
      parameters: {k: {type: integer}}
      allow: signedIn
    """

  static let rows = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO bulk SELECT i, hex(randomblob(250)) FROM n
    """

  /// A stream of one record keeps the whole result up to date, and leaves nothing unread: who does
  /// not read is let go on a slow machine, and what it showed with it.
  static func path(_ number: Int) -> String { "/v1/queries/bulk/events?k=\(number)&limit=1" }
}

/// One caller who takes all memory, and others. A process of its own: what is held is counted for a
/// process.
@Suite(.endToEnd) struct `A caller who takes all` {
  /// The shop, served by the program.
  private struct LoneShop {
    private let folder: TemporaryFolder
    private let command: Command
    let writer: ForeignWriter

    init(_ words: String) throws {
      folder = try TemporaryFolder()
      let database = try Database.make(folder.file("shop.sqlite"), Shop.schema, journal: .wal)
      writer = try ForeignWriter(database.path)
      try writer.run(BulkQueries.rows)
      let queries = (Shop.queries + BulkQueries.queries).indented
      let file = try folder.write(
        "database: \(database.path)\n\(Shop.callers)\(words)queries:\n\(queries)",
        to: "didchange.yaml")
      command = try Command.serve(["--config", file])
    }

    func get(_ path: String, as name: String) throws -> HTTPClient.Answer {
      try HTTPClient(command.base).get(path, Shop.bearer(name))
    }

    func stream(_ path: String, as name: String) -> EventStream {
      EventStream(command.base, path, .init(fields: Shop.bearer(name)))
    }
  }

  @Test func `who has taken all memory leaves room for whoever signs in`() throws {
    let shop = try LoneShop(
      "limits: {memory: 67108864, resultBytes: 60000000, memoryPerCaller: 1000000000}\n")
    var streams: [EventStream] = []
    func open(atMost count: Int, _ stream: (Int) -> EventStream) throws {
      for _ in 0..<count {
        let stream = stream(streams.count)
        guard try stream.head().status == 200 else { break }
        streams.append(stream)
      }
    }
    try open(atMost: 60) { shop.stream(BulkQueries.path($0), as: "ann") }
    #expect(streams.count > 2 && streams.count < 60)
    try shop.get("/v1/queries/bulk/events?k=99", as: "bob").expectProblem(503)
    let orders = shop.stream("/v1/queries/orders/events", as: "bob")
    #expect(try orders.next()?.type == "snapshot")
    #expect(try shop.get("/v1/queries/shelf/records?limit=1", as: "guest").status == 200)
    try shop.writer.run("INSERT INTO purchase VALUES (20, 8, 'Axe', 10)")
    while let event = try orders.next(), event.type != "change" {}
    // Large ones, and then small ones, take what is left: what was only needed to fetch the first ones
    // was let go a moment later, and is theirs, too. Then nobody new is shown anything, but who asks is
    // known still. On a slow machine some of the first may have been let go meanwhile.
    try eventually("nobody new is shown anything") {
      try open(atMost: 60) { shop.stream(BulkQueries.path($0), as: "ann") }
      try open(atMost: 300) {
        shop.stream("/v1/queries/some/events?k=\($0)&limit=1", as: "ann")
      }
      let refused = try shop.get("/v1/queries/some/records?k=-1", as: "guest")
      guard refused.status != 200 else { return false }
      refused.expectProblem(503)
      return true
    }
    #expect(try shop.get("/metrics", as: "root").status == 200)
    #expect(try shop.get("/metrics", as: "clerk").status == 403)
    for stream in streams { stream.close() }
  }
}
