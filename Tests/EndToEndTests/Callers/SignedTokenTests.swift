import Crypto
import Foundation
import TestSupport
import Testing

@Suite(.endToEnd) struct `A signed token` {
  private static let path = "/v1/queries/orders/records"
  private static let now = Int(Date().timeIntervalSince1970)

  /// Whose callers are what their tokens say: `user`, `role`, `level`.
  private func serve(
    _ jwt: String, more: String = "", files: [String: String], queries: String = Shop.queries,
    log: LogKeeper = LogKeeper()
  ) throws -> ServerFixture {
    try ServerFixture(
      Shop.schema, queries: queries,
      words: "callers:\n  cookie: session\n  jwt: {\(jwt)}\n" + more, files: files,
      logger: log.logger)
  }

  private func serveSecret(_ more: String = "", jwt: String = "") throws -> ServerFixture {
    try serve(
      "algorithms: [HS256], secret: {file: secret.txt}\(jwt)", more: more,
      files: ["secret.txt": TokenSigner.secret + "\n"])
  }

  private let ann = #""sub":"ann","user":7,"role":"customer","level":1"#

  @Test func `says who its caller is, by a secret`() throws {
    let fixture = try serveSecret()
    let signer = TokenSigner.hs256()
    #expect(try fixture.get(Self.path, signer.bearer(ann)).keys == [[1], [2]])
    let bob = #""sub":"bob","user":8,"role":["customer","friend"]"#
    #expect(try fixture.get(Self.path, signer.bearer(bob)).keys == [[3], [4]])
    #expect(try fixture.get(Self.path, signer.bearer(#""sub":"x","role":"guest""#)).status == 403)
    #expect(
      try fixture.get(Self.path, signer.bearer(#""sub":"x","role":"customer""#)).status == 403)
    let field = try signer.bearer(ann)[0]
    let cookie = field.replacing("Authorization: Bearer ", with: "Cookie: session=")
    #expect(try fixture.get(Self.path, [cookie]).keys == [[1], [2]])
    let stream = fixture.stream("/v1/queries/orders/events", .init(fields: [field]))
    #expect(try stream.next()?.json["numberOfRecords"] == 2)
  }

  @Test func `says who its caller is, by a key of the set`() throws {
    let (one, two) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    let three = Curve25519.Signing.PrivateKey()
    let keys = TokenSigner.keySet(
      TokenSigner.jwk(one, keyID: "1"), TokenSigner.jwk(two, keyID: "2"),
      TokenSigner.jwk(three, keyID: "3"))
    let fixture = try serve(
      "keys: jwks.json, algorithms: [ES256, EdDSA]", files: ["jwks.json": keys])
    for signer in [
      TokenSigner.es256(one, keyID: "1"), .es256(two, keyID: "2"), .es256(two), .edDSA(three),
    ] {
      #expect(try fixture.get(Self.path, signer.bearer(ann)).keys == [[1], [2]])
    }
    let (forged, confused) = (P256.Signing.PrivateKey(), TokenSigner.hs256(keys))
    for signer in [
      TokenSigner.es256(forged, keyID: "1"), .es256(forged), .es256(one, keyID: "2"),
      .es256(one, keyID: "4"), confused,
    ] {
      try fixture.get(Self.path, signer.bearer(ann)).expectUnauthorized(withToken: true)
    }
  }

  @Test func `is known by keys that come while the server runs, and no more by those that go`()
    throws
  {
    let (old, new) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    let fixture = try serve(
      "keys: jwks.json, algorithms: [ES256]",
      files: ["jwks.json": TokenSigner.keySet(TokenSigner.jwk(old, keyID: "old"))])
    let (byOld, byNew) = (
      try TokenSigner.es256(old, keyID: "old").bearer(ann),
      try TokenSigner.es256(new, keyID: "new").bearer(ann)
    )
    #expect(try fixture.get(Self.path, byOld).status == 200)
    #expect(try fixture.get(Self.path, byNew).status == 401)
    try fixture.folder.write(
      TokenSigner.keySet(TokenSigner.jwk(new, keyID: "new")), to: "jwks.json")
    try eventually("the new key is known") { try fixture.get(Self.path, byNew).status == 200 }
    try fixture.get(Self.path, byOld).expectUnauthorized(withToken: true)
    // A broken file changes nothing.
    try fixture.folder.write("{\"keys\":", to: "jwks.json")
    #expect(try fixture.get(Self.path, byNew).status == 200)
  }

  @Test func `lets nobody in any more whose key was taken back, also not where it has let them in`()
    throws
  {
    let (old, new) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    let both = [TokenSigner.jwk(old, keyID: "old"), TokenSigner.jwk(new, keyID: "new")]
    let fixture = try serve(
      "keys: jwks.json, algorithms: [ES256]",
      files: ["jwks.json": TokenSigner.keySet(both[0], both[1])])
    let byOld = try TokenSigner.es256(old, keyID: "old").bearer(ann)
    let byNew = try TokenSigner.es256(new, keyID: "new").bearer(ann)
    let path = "/v1/queries/orders/events"
    let streams = [byOld, byNew].map { fixture.stream(path, .init(fields: $0)) }
    for stream in streams { #expect(try stream.next()?.type == "snapshot") }
    let answer = try fixture.client().send("POST", "/v1/tickets", byOld)
    let ticket = try #require(try answer.json["ticket"].string)
    try fixture.folder.write(TokenSigner.keySet(both[1]), to: "jwks.json")
    try streams[0].expectEnd(with: 401)
    try fixture.get("\(path)?access_token=\(ticket)").expectUnauthorized(withToken: true)
    try fixture.writer().run("INSERT INTO purchase VALUES (9, 7, 'Axe', 1)")
    #expect(try streams[1].next()?.type == "willChange")
  }

  @Test func `is refused where it is not good`() throws {
    let fixture = try serveSecret(jwt: ", issuer: https://id.example.org, audience: didchange")
    let signer = TokenSigner.hs256()
    let good = ann + #","iss":"https://id.example.org","aud":"didchange""#
    let later = Self.now + 3600
    #expect(try fixture.get(Self.path, signer.bearer(good)).status == 200)
    let token = try signer.token("{\(good),\"exp\":\(later)}")
    let parts = token.split(separator: ".").map(String.init)
    let none = Data(#"{"alg":"none"}"#.utf8).base64URL
    let admin = Data("{\(good.replacing("customer", with: "admin"))}".utf8).base64URL
    var refused = [
      "\(none).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])", "\(parts[0]).\(parts[1])",
      "\(parts[0]).\(admin).\(parts[2])", token + "x", String(token.dropLast(4)), token + ".",
      "x." + token, try TokenSigner.hs256("another secret that is as long as it is").token("{}"),
    ]
    for payload in [
      "{\(good),\"exp\":\(Self.now - 60)}", "{\(good),\"nbf\":\(later)}", "{\(good),\"exp\":\"1\"}",
      "{\(ann),\"exp\":\(later)}", "{\(ann),\"iss\":\"https://id.example.org\"}",
      "{\(ann),\"iss\":\"https://evil.example\",\"aud\":\"didchange\"}",
      "{\(ann),\"iss\":\"https://id.example.org\",\"aud\":[\"other\"]}", "[]", "7", "{\(good)",
      "{\(good),\"user\":8}",
    ] { refused.append(try signer.token(payload)) }
    for token in refused {
      for path in [Self.path, "/v1/queries/orders/events", "/v1/queries/notices/records"] {
        let answer = try fixture.get(path, ["Authorization: Bearer \(token)"])
        answer.expectUnauthorized(withToken: true, "\(token)")
        #expect(!answer.text.contains(token) && !answer.text.contains(parts[1]))
      }
    }
    // The clocks of two machines may differ by half a minute.
    let justOver = try signer.token("{\(good),\"exp\":\(Self.now - 5)}")
    #expect(try fixture.get(Self.path, ["Authorization: Bearer \(justOver)"]).status == 200)
  }

  @Test func `ends its streams when it ends`() throws {
    let fixture = try serveSecret()
    let leeway = 30
    let end = Int(Date().timeIntervalSince1970) - leeway + 3
    let token = try TokenSigner.hs256().token("{\(ann),\"exp\":\(end)}")
    let fields = ["Authorization: Bearer \(token)"]
    let stream = fixture.stream("/v1/queries/orders/events", .init(fields: fields))
    #expect(try stream.next()?.type == "snapshot")
    try stream.expectEnd(with: 401)
    let now = Date().timeIntervalSince1970
    let late = now - Double(end + leeway)
    #expect(late >= 0 && late < 3, "\(late) s after the end")
    try fixture.get(Self.path, fields).expectUnauthorized(withToken: true)
  }

  @Test func `is joined by what the database says of its subject`() throws {
    let fixture = try serveSecret("  claims: SELECT user, role FROM session WHERE user = :user\n")
    let writer = try fixture.writer()
    let signer = TokenSigner.hs256()
    // A column wins over the token's claim of its name.
    let fields = try signer.bearer(#""sub":"ann","user":7,"role":"admin""#)
    #expect(try fixture.get(Self.path, fields).keys == [[1], [2]])
    #expect(try fixture.get("/v1/queries/ledger/records", fields).status == 403)
    let unknown = try signer.bearer(#""sub":"ann","user":70,"role":"admin""#)
    try fixture.get(Self.path, unknown).expectUnauthorized(withToken: true)
    let stream = fixture.stream("/v1/queries/orders/events", .init(fields: fields))
    #expect(try stream.next()?.type == "snapshot")
    try writer.commit(Shop.signOut("ann"))
    try stream.expectEnd(with: 401)
    try fixture.get(Self.path, fields).expectUnauthorized(withToken: true)
  }

  @Test func `has claims inside of others, and lists of them`() throws {
    let queries = """
      team:
        table: purchase
        where: customer = :customer
        parameters: {customer: {type: integer, claim: org.id}}
        allow: {org.groups: [staff, board]}
      some:
        table: purchase
        where: customer IN (SELECT value FROM json_each(:customers))
        parameters: {customers: {type: text, claim: customers}}
      """
    let fixture = try serve(
      "algorithms: [HS256], secret: {file: secret.txt}", files: ["secret.txt": TokenSigner.secret],
      queries: queries)
    let signer = TokenSigner.hs256()
    let (team, some) = ("/v1/queries/team/records", "/v1/queries/some/records")
    let staff = try signer.bearer(
      #""org":{"id":8,"groups":["x","staff"]},"customers":[7,9]"#)
    #expect(try fixture.get(team, staff).keys == [[3], [4]])
    #expect(try fixture.get(some, staff).keys == [[1], [2], [5]])
    for claims in [
      #""org":{"id":8,"groups":["x"]}"#, #""org":{"id":8,"groups":[]}"#, #""org":{"id":8}"#,
      #""org":{"groups":["staff"]}"#, #""org":8"#, #""org":{"id":null,"groups":"staff"}"#,
      #""org":{"id":[8],"groups":"staff"}"#,
    ] {
      #expect(try fixture.get(team, signer.bearer(claims)).status == 403, "\(claims)")
      #expect(try fixture.get(some, signer.bearer(claims)).status == 403, "\(claims)")
    }
  }

  @Test func `by a secret of the environment says who its caller is`() throws {
    setenv("DIDCHANGE_TEST_SECRET", TokenSigner.secret, 1)
    let fixture = try serve(
      "algorithms: [HS256], secret: {env: DIDCHANGE_TEST_SECRET}", files: [:])
    #expect(try fixture.get(Self.path, TokenSigner.hs256().bearer(ann)).keys == [[1], [2]])
  }
}
