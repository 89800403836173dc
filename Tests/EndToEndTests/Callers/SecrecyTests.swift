import Foundation
import TestSupport
import Testing

/// What of a query that fails is told to those who may read it.
@Suite(.endToEnd) struct `Nothing of somebody else's row` {
  private static let schema =
    Shop.schema + """
      CREATE TABLE doc (id INTEGER PRIMARY KEY, customer INTEGER, path TEXT);
      INSERT INTO doc VALUES (1, 7, '$.a'), (2, 8, '$.a');
      """
  /// It looks at all rows before it looks whose they are.
  private static let queries = """
    docs:
      sql: >
        SELECT id, customer FROM doc
        WHERE json_extract('{"a":1}', path) > 0 AND customer = :customer ORDER BY id
      parameters: {customer: {type: integer, claim: user}}
    public:
      sql: SELECT id FROM doc WHERE json_extract('{"a":1}', path) > 0
      allow: anyone
    """

  @Test func `is told where a query fails`() throws {
    let log = LogKeeper()
    let fixture = try ServerFixture(
      Self.schema, queries: Self.queries, words: Shop.callers, logger: log.logger)
    let writer = try fixture.writer()
    let ann = EventStream.Options(fields: Shop.bearer("ann"))
    let streams = [
      fixture.stream("/v1/queries/docs/events", ann),
      fixture.stream("/v1/queries/docs/events?limit=1", ann),
      fixture.stream("/v1/events?query=docs&query=public", ann),
      fixture.stream("/v1/queries/public/events"),
    ]
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    try writer.commit("UPDATE doc SET path = 'SECRET' WHERE id = 2")
    for stream in streams {
      var event = try #require(try stream.next())
      while event.type != "fetchError" { event = try #require(try stream.next()) }
      #expect(try event.json["detail"] == "The query fails; the server's log says why.")
    }
    var answers: [HTTPClient.Answer] = []
    for path in ["records", "sections", "changes"] {
      answers.append(try fixture.get("/v1/queries/docs/\(path)", Shop.bearer("ann")))
      answers.append(try fixture.get("/v1/queries/public/\(path)"))
      // Nobody has asked for it before.
      answers.append(try fixture.get("/v1/queries/docs/\(path)", Shop.bearer("bob")))
    }
    for answer in answers { #expect(answer.status == 500) }
    for text in answers.map(\.text) + streams.map(\.text) { #expect(!text.contains("SECRET")) }
    #expect(log.text.contains("SECRET"))
    try writer.commit("ALTER TABLE doc RENAME COLUMN path TO way")
    try eventually("it does not fit the schema") {
      try fixture.get("/v1/queries/docs", Shop.bearer("ann")).text.contains("\"problem\"")
    }
    #expect(try !fixture.get("/v1/queries", Shop.bearer("ann")).text.contains("path"))
    #expect(try fixture.get("/v1/queries", Shop.bearer("root")).text.contains("path"))
  }
}

/// What of a token or a ticket is told again.
@Suite(.endToEnd) struct `Nothing of a token` {
  private let tokens = ["ann", "stranger"].map(Shop.token)

  /// Everything that a client may do with tokens, good ones and others.
  private func ask(_ base: String) throws -> (answers: [String], secrets: [String]) {
    let client = HTTPClient(base)
    var answers: [String] = []
    func note(_ answer: HTTPClient.Answer) {
      answers.append("\(answer.head.fields) \(answer.text)")
    }
    let signed = try TokenSigner.hs256().token(#"{"sub":"somebody-to-be-hidden"}"#)
    var tickets: [String] = []
    for token in tokens + [signed, "x.\(signed)"] {
      for fields in [
        ["Authorization: Bearer \(token)"], ["Cookie: session=\(token)"],
        ["Cookie: session=\(token); session=\(token)"], ["Authorization: Basic \(token)"],
        ["Authorization: Bearer \(token) \(token)"],
      ] {
        for path in [
          "/v1/queries", "/v1/queries/orders/records", "/v1/queries/ledger/records", "/metrics",
          "/v1/queries/orders/records?customer=8", "/v1/queries/none",
        ] { note(try client.get(path, fields)) }
        let answer = try client.send("POST", "/v1/tickets", fields)
        if let ticket = try answer.json["ticket"].string { tickets.append(ticket) }
      }
      for path in [
        "/v1/queries/orders/records?access_token=\(token)", "/v1/events?access_token=\(token)",
        "/v1/queries/orders/events?access_token=\(token)&access_token=x",
      ] { note(try client.get(path, ["Referer: \(base)/?access_token=\(token)"])) }
    }
    for ticket in tickets {
      let path = "/v1/queries/orders/events?access_token=\(ticket)"
      let stream = EventStream(base, path)
      #expect(try stream.next()?.type == "snapshot")
      note(try client.get(path))
      answers.append(stream.text)
      stream.close()
    }
    #expect(!tickets.isEmpty)
    let secrets = tokens + tickets + [signed.split(separator: ".").map(String.init)[2]]
    return (answers, secrets + tokens.map(Shop.digest))
  }

  @Test func `is in an answer or in the log`() throws {
    let log = LogKeeper()
    let fixture = try ServerFixture(
      Shop.schema, queries: Shop.queries, words: Shop.callers + "accessLog: json\n",
      logger: log.logger)
    let (answers, secrets) = try ask(fixture.base)
    fixture.drain()
    #expect(log.text.contains("/v1/tickets"))
    for secret in secrets {
      #expect(!log.text.contains(secret), "\(secret)")
      let shown = answers.filter { $0.contains(secret) }
      #expect(shown.isEmpty, "\(secret) is in \(shown)")
    }
  }

  @Test(arguments: ["json", "line", "{caller} {target} {referer} {status}"])
  func `is in what the command writes`(format: String) throws {
    let folder = try TemporaryFolder()
    let database = try Database.make(folder.file("shop.sqlite"), Shop.schema, journal: .wal)
    let file = try folder.write(
      "database: \(database.path)\naccessLog: \"\(format)\"\n" + Shop.callers + "queries:\n"
        + Shop.queries.indented, to: "didchange.yaml")
    let command = try Command.serve(["--config", file, "--log-level", "trace"])
    let (_, secrets) = try ask(command.base)
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
    let log = try command.process.errors.rest().joined(separator: "\n")
    #expect(log.contains("/v1/queries/ledger/records"))
    for secret in secrets { #expect(!log.contains(secret), "\(secret)") }
  }

  @Test func `is needed to tell callers apart in the access log`() throws {
    let log = LogKeeper()
    let fixture = try ServerFixture(
      Shop.schema, queries: Shop.queries,
      words: Shop.callers + "accessLog: \"<{caller}> {target} {status}\"\n", logger: log.logger)
    let path = "/v1/queries/orders/records"
    let names = ["ann", "bob", "ann"].map { Optional($0) } + [nil]
    for (index, name) in names.enumerated() {
      _ = try fixture.get("\(path)?least=\(index)", name.map(Shop.bearer) ?? [])
    }
    fixture.drain()
    let callers = try (0...3).map { index in
      let line = log.text.split(separator: "\n").first { $0.contains("least=\(index)") }
      return try #require(line?.firstMatch(of: /<([^>]*)>/)?.1, "\(log.text)")
    }
    #expect(callers[0] == callers[2])
    #expect(callers[0] != callers[1])
    #expect(callers[3] == "-")
    #expect(callers[0].count >= 8)
    // Who has read the database does not know who it is.
    #expect(!Shop.digest(Shop.token("ann")).contains(callers[0]))
  }

  @Test func `is in the log's name of a caller whose token says it`() throws {
    let log = LogKeeper()
    let fixture = try ServerFixture(
      Shop.schema, queries: Shop.queries,
      words: "callers:\n  jwt: {algorithms: [HS256], secret: {file: secret.txt}}\n"
        + "accessLog: \"<{caller}> {target} {status}\"\n",
      files: ["secret.txt": TokenSigner.secret], logger: log.logger)
    for subject in ["ann", #"a\"b c>\n\u001b"#] {
      _ = try fixture.get("/v1/queries", TokenSigner.hs256().bearer("\"sub\":\"\(subject)\""))
    }
    fixture.drain()
    let lines = log.text.split(separator: "\n").filter { $0.contains("/v1/queries 200") }
    #expect(lines.count == 2)
    #expect(lines.first?.contains("<ann>") == true)
    #expect(lines.last?.contains("\u{1B}") == false)
  }
}
