import Crypto
import Foundation

/// A shop whose customers see their own purchases: a server that knows them by what their session
/// row says, and a writer of another process.
///
/// Signed in are `ann` (user 7, level 1) and `bob` (user 8, level 2), who are customers, `root`
/// (user 1, level 3), who is an admin, `guest` (user 9, level 1), whose role is in no list, and
/// `clerk`, a customer who is no user and has no level.
final class Shop {
  static let schema = """
    CREATE TABLE session (
      token TEXT PRIMARY KEY, user INTEGER, role TEXT, level INTEGER, expires INTEGER);
    CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, item TEXT, price INTEGER);
    INSERT INTO purchase VALUES (1, 7, 'Anvil', 10), (2, 7, 'Bell', 20), (3, 8, 'Cup', 30),
      (4, 8, 'Drum', 40), (5, 9, 'Egg', 50);
    CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, level INTEGER);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
    INSERT INTO product SELECT i, printf('Product %03d', i), 1 + (i % 20 = 0) FROM n;
    CREATE TABLE bulk (id INTEGER PRIMARY KEY, item TEXT);
    CREATE TABLE notice (id INTEGER PRIMARY KEY, text TEXT);
    INSERT INTO notice VALUES (1, 'Open today');
    """ + sessions.map { insertion(of: $0.name, $0.values) + ";" }.joined(separator: "\n")

  private static let sessions: [(name: String, values: String)] = [
    ("ann", "7, 'customer', 1, NULL"), ("bob", "8, 'customer', 2, NULL"),
    ("root", "1, 'admin', 3, NULL"), ("guest", "9, 'guest', 1, NULL"),
    ("clerk", "NULL, 'customer', NULL, NULL"),
  ]

  static let callers = """
    callers:
      cookie: session
      opaque: true
      claims: SELECT user, role, level, expires FROM session WHERE token = :token
      operators: {role: admin}

    """

  /// `orders` and `shelf` are a caller's own; `shelf` is for whoever is signed in.
  static let queries = """
    orders:
      table: purchase
      where: customer = :customer AND price >= :least
      order: [item]
      parameters:
        customer: {type: integer, claim: user}
        least: {type: integer, default: 0}
      allow: {role: [customer, admin]}
    shelf:
      table: product
      fields: [id, name]
      where: level <= :level
      parameters:
        level: {type: integer, claim: level}
    ledger:
      table: purchase
      allow: {role: [admin]}
    notices:
      table: notice
      allow: anyone
    """

  let fixture: ServerFixture
  let writer: ForeignWriter

  init(
    _ callers: String = Shop.callers, queries: String = Shop.queries, words: String = "",
    explores: Bool = false
  ) throws {
    fixture = try ServerFixture(
      Self.schema, queries: queries, words: callers + words, explores: explores)
    writer = try fixture.writer()
  }

  // MARK: - Sessions

  /// What a session's cookie is; the database has its digest only.
  static func token(_ name: String) -> String { "\(name)-7f3c0de8a15b" }

  static func digest(_ token: String) -> String {
    SHA256.hash(data: Data(token.utf8)).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  private static func insertion(of name: String, _ values: String) -> String {
    "INSERT INTO session VALUES ('\(digest(token(name)))', \(values))"
  }

  /// Signs in with user, role, level and end, in SQL.
  static func signIn(_ name: String, _ values: String) -> String { insertion(of: name, values) }

  static func signOut(_ name: String) -> String {
    "DELETE FROM session WHERE \(isSession(of: name))"
  }

  /// Changes a session's columns.
  static func change(_ name: String, _ columns: String) -> String {
    "UPDATE session SET \(columns) WHERE \(isSession(of: name))"
  }

  static func isSession(of name: String) -> String { "token = '\(digest(token(name)))'" }

  // MARK: - Requests

  static func bearer(_ name: String) -> [String] { ["Authorization: Bearer \(token(name))"] }

  static func cookie(_ name: String) -> [String] { ["Cookie: session=\(token(name))"] }

  /// Somebody's answer, on a connection of its own.
  func get(_ path: String, as name: String? = nil) throws -> HTTPClient.Answer {
    try fixture.get(path, name.map(Self.bearer) ?? [])
  }

  func post(_ path: String, as name: String? = nil) throws -> HTTPClient.Answer {
    try fixture.client().send("POST", path, name.map(Self.bearer) ?? [])
  }

  /// Somebody's stream.
  func stream(_ path: String, as name: String? = nil, after version: String? = nil) -> EventStream {
    fixture.stream(
      path, .init(lastEventID: version, fields: name.map(Self.bearer) ?? []))
  }

  /// Somebody's client of a query, which has its snapshot.
  func follow(_ query: String, _ items: String = "", as name: String) throws -> Follower {
    let follower = Follower(stream("/v1/queries/\(query)/events\(items)", as: name))
    try follower.expectSnapshot()
    return follower
  }

  /// Somebody's client of orders that there are none of any more: no content that is as empty has the
  /// same number of a version.
  func followEmptyOrders(as name: String) throws -> Follower {
    try writer.run("DELETE FROM purchase")
    let follower = try follow("orders", as: name)
    for sql in ["INSERT INTO purchase VALUES (3, 8, 'Cup', 30)", "DELETE FROM purchase"] {
      try writer.commit(sql)
      _ = try follower.changes()
    }
    return follower
  }

  /// A ticket, which was asked for with somebody's token.
  func ticket(as name: String) throws -> String {
    let answer = try post("/v1/tickets", as: name)
    guard answer.status == 200, let ticket = try answer.json["ticket"].string else {
      throw ContractViolation("no ticket: \(answer.text)")
    }
    return ticket
  }
}

extension HTTPClient.Answer {
  /// The keys of a page's records.
  var keys: [JSONValue] {
    get throws { try json["records"].elements.map { $0["key"] } }
  }
}
