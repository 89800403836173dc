import Foundation
import TestSupport
import Testing

/// What keeps a server from starting, so that nobody reads what they should not.
@Suite(.endToEnd) struct `A configuration of callers` {
  private static let opaque = """
    callers:
      opaque: true
      claims: SELECT user, role FROM session WHERE token = :token

    """
  private static let queries = "queries: {orders: {table: purchase}}\n"

  /// Starts a server with a file, which is not to start.
  ///
  /// - Returns: what it says.
  private func refusal(_ text: String, files: [String: String] = [:]) throws -> String {
    let folder = try TemporaryFolder()
    let database = try Database.make(folder.file("shop.sqlite"), Shop.schema, journal: .wal)
    for (name, text) in files { try folder.write(text, to: name) }
    let file = try folder.write(text, to: "didchange.yaml")
    let result = try Command.run(["serve", "--port", "0", "--config", file, database.path])
    #expect(result.exitCode == 1, "\(text)")
    #expect(result.output.isEmpty)
    let lines = result.errors.split(separator: "\n").filter { $0.hasPrefix("\(file):") }
    #expect(!lines.isEmpty, "\(text)\n\(result.errors)")
    return lines.map { $0.dropFirst(file.count + 1) }.joined(separator: "\n")
  }

  @Test func `is refused without queries, which would be all tables`() throws {
    let text = try refusal(Self.opaque)
    #expect(text.hasPrefix("1:") || text.hasPrefix("2:"))
    #expect(text.contains("`queries`"))
    _ = try refusal(Self.opaque + "queries: {}\n")
  }

  @Test(arguments: [
    "callers: {}\n", "callers:\n", "callers: true\n", "callers: []\n",
    "callers: {cookie: session}\n", "callers: {claims: SELECT 1 AS user}\n",
    "callers: {opaque: true}\n", "callers: {opaque: false, claims: SELECT 1 AS user}\n",
    "callers: {opaque: true, headers: {sub: X-User}, claims: SELECT 1 AS user}\n",
    "callers: {headers: {}}\n", "callers: {headers: {sub: \"X User\"}}\n",
    "callers: {opaque: true, cookie: \"a b\", claims: \"SELECT 1 AS a WHERE :token = 1\"}\n",
    "callers: {headers: {sub: X-User}, operators: everybody}\n",
    "callers: {headers: {sub: X-User}, operators: {role: }}\n",
    "callers: {headers: {sub: X-User}, wizards: {role: a}}\n",
    "callers: {headers: {sub: X-User}, ticketKey: none.key}\n",
    "callers: {headers: {sub: X-User}, ticketKey: short.key}\n",
  ])
  func `is refused where it says too little, too much or what is not there`(words: String) throws {
    let text = try refusal(words + Self.queries, files: ["short.key": "short"])
    #expect(text.hasPrefix("1:") || text.hasPrefix("2:"), "\(text)")
  }

  @Test(arguments: [
    "{}", "{algorithms: [ES256]}", "{keys: jwks.json}", "{secret: {file: secret.txt}}",
    "{keys: none.json, algorithms: [ES256]}", "{keys: broken.json, algorithms: [ES256]}",
    "{keys: jwks.json, algorithms: [none]}", "{keys: jwks.json, algorithms: []}",
    "{keys: jwks.json, algorithms: [HS256]}", "{keys: jwks.json, algorithms: [es256]}",
    "{keys: empty.json, algorithms: [ES256]}",
    "{secret: {file: secret.txt}, algorithms: [ES256]}",
    "{secret: {file: secret.txt}, algorithms: [HS256, RS256]}",
    "{secret: {file: secret.txt}, keys: jwks.json, algorithms: [HS256]}",
    "{secret: {file: short.txt}, algorithms: [HS256]}",
    "{secret: {file: none.txt}, algorithms: [HS256]}",
    "{secret: {env: DIDCHANGE_NO_SUCH_NAME}, algorithms: [HS256]}",
    "{secret: {}, algorithms: [HS256]}", "{secret: a-secret-in-the-file, algorithms: [HS256]}",
  ])
  func `is refused where its keys are none`(jwt: String) throws {
    let text = try refusal(
      "callers:\n  jwt: \(jwt)\n" + Self.queries,
      files: [
        "jwks.json": #"{"keys":[{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7"#
          + #"Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#,
        "broken.json": "{\"keys\":[", "empty.json": #"{"keys":[]}"#,
        "secret.txt": TokenSigner.secret, "short.txt": "short",
      ])
    #expect(text.hasPrefix("2:"), "\(text)")
    #expect(!text.contains(TokenSigner.secret) && !text.contains("a-secret-in-the-file"))
  }

  @Test(arguments: [
    "allow: everybody", "allow: true", "allow: {role: {a: b}}", "allow: {}", "allow: []",
    "allow: {role: []}", "parameters: {customer: {type: integer, claim: user, default: 7}}",
    "parameters: {customer: {type: integer, claim: [user]}}",
    "parameters: {customer: {type: integer, claim: \"\"}}",
  ])
  func `is refused where a query says something else of it`(word: String) throws {
    let text = try refusal(
      Self.opaque + "queries:\n  orders:\n    table: purchase\n    where: customer = :customer\n"
        + "    \(word)\n")
    #expect(text.hasPrefix("8:") || text.contains("\n8:"), "\(text)")
  }

  /// Whoever writes `allow` means that not everybody may.
  @Test(arguments: [
    "allow: anyone", "allow: signedIn", "allow: {role: [admin]}",
    "where: customer = :user\n    parameters: {user: {type: integer, claim: user}}",
  ])
  func `is missed where a query asks for one`(word: String) throws {
    let text = try refusal("queries:\n  orders:\n    table: purchase\n    \(word)\n")
    #expect(text.contains("callers"), "\(text)")
  }

  @Test func `makes a query for whoever is signed in, unless it says otherwise`() throws {
    let shop = try Shop(queries: "orders: {table: purchase}\n")
    try shop.get("/v1/queries/orders/records").expectUnauthorized(withToken: false)
    #expect(try shop.get("/v1/queries/orders/records", as: "guest").keys.count == 5)
  }

  @Test func `warns of a server that everybody can reach and read`() throws {
    let folder = try TemporaryFolder()
    let database = try Database.make(folder.file("shop.sqlite"), Shop.schema, journal: .wal)
    let hosts = "hosts: [example.org]\n"
    for (words, host, warns) in [
      (Self.opaque, "0.0.0.0", false), ("", "0.0.0.0", true), ("", "127.0.0.1", false),
    ] {
      let file = try folder.write(words + hosts + Self.queries, to: "didchange.yaml")
      let command = try Command(
        ["serve", "--port", "0", "--host", host, "--config", file, database.path])
      #expect(try command.process.output.next()?.hasPrefix("listening on ") == true)
      command.process.signal(SIGTERM)
      #expect(try command.process.exitCode() == 0)
      let warnings = try command.process.errors.rest().filter {
        $0.contains("warning") && $0.contains("callers")
      }
      #expect(warnings.isEmpty != warns, "\(words) \(host): \(warnings)")
    }
  }
}
