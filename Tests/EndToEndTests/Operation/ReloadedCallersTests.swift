import CCurl
import Foundation
import TestSupport
import Testing

@Suite(.endToEnd) struct `Reading what callers may read again` {
  private static let callers = "proxies: [127.0.0.1]\ncallers: {headers: {sub: X-User}}\n"

  private static func queries(_ who: String) -> String {
    "queries:\n  all: {table: player}\n  players: {table: player, allow: {sub: [\(who)]}}\n"
  }

  @Test func `ends the streams of who may read a query no more, and no others`() throws {
    let server = try ReloadedServer(Self.callers + Self.queries("ada, bob"))
    let follow = { (query: String, name: String) in
      let follower = Follower(
        EventStream(
          server.command.base, "/v1/queries/\(query)/events", .init(fields: ["X-User: \(name)"])))
      try follower.expectSnapshot()
      return follower
    }
    let (ada, bob, any) = (
      try follow("players", "ada"), try follow("players", "bob"), try follow("all", "ada")
    )
    try server.reload(Self.callers + Self.queries("bob"))
    #expect(try ada.failure()["status"] == 403)
    #expect(try ada.stream.end() == CURLE_OK)
    #expect(try server.get("/v1/queries/players/records", ["X-User: ada"]).status == 403)
    let writer = try ForeignWriter(server.database.path)
    try writer.commit("DELETE FROM player WHERE id = 1")
    for follower in [bob, any] { #expect(try follower.changes().count == 1) }
  }

  @Test func `asks everybody anew where callers are known in another way`() throws {
    let server = try ReloadedServer("queries:\n  all: {table: player}\n")
    let stream = try server.follow("/v1/queries/all/events").stream
    try server.reload(Self.callers + Self.queries("ada"))
    #expect(try stream.end() == CURLE_OK)
    #expect(try server.get("/v1/queries/all/records").status == 401)
    #expect(try server.get("/v1/queries/all/records", ["X-User: ada"]).status == 200)
    try server.reload("queries:\n  all: {table: player}\n")
    #expect(try server.get("/v1/queries/all/records").status == 200)
  }

  @Test func `stays as it was where a secret is gone, and says where it is named`() throws {
    let words = "callers:\n  jwt: {secret: {file: secret}, algorithms: [HS256], audience: a}\n"
    let server = try ReloadedServer(
      words + Self.queries("ada"), files: ["secret": String(repeating: "s", count: 48)])
    try FileManager.default.removeItem(atPath: server.folder.file("secret"))
    server.command.process.signal(SIGHUP)
    let line = try #require(try server.command.line(with: "the configuration stays as it was: "))
    #expect(line.contains("didchange.yaml:3:"))
    #expect(line.contains("secret"))
    #expect(try server.get("/v1/queries/all/records").status == 401)
  }
}
