import Callers
import OrderedResults
import QueryAnalysis
import Testing

@testable import RecordsAPI

@Suite struct `The words of callers` {
  private static let queries = "queries: {a: {table: t}}"
  private static let opaque = "callers: {opaque: true, claims: 'SELECT :token'}"

  @Test(arguments: [
    (
      "callers: {cookie: a}",
      "c:1:10: `callers` must say by what somebody is known, and has none; "
        + "give one of jwt, opaque and headers"
    ),
    (
      "callers: {opaque: true, headers: {sub: X-User}}",
      "c:1:10: `callers` must say by what somebody is known, and has `opaque` and `headers`; "
        + "give one of jwt, opaque and headers"
    ),
    (
      "callers: {opaque: true}",
      "c:1:10: an opaque token says nothing by itself; add claims: SELECT … WHERE token = :token"
    ),
    (
      "callers: {opaque: true, claims: SELECT 1 AS user}",
      "c:1:33: `claims` does not ask by :token, and so any token would do; add WHERE token = :token"
    ),
    (
      "callers: {headers: {sub: X-User}, claims: SELECT 1 AS user}",
      "c:1:43: `claims` does not ask who it is about, and so everybody would be the same; "
        + "add WHERE user = :sub, or another claim"
    ),
    (
      "callers: {headers: {sub: X-User}, cookie: a}",
      "c:1:43: `cookie` beside `headers`: the proxy says who somebody is, and no token; "
        + "leave the word out"
    ),
    (
      "callers: {headers: {sub: X-User}}",
      "c:1:10: `headers` are believed of `proxies`, and none is named; list under `proxies` the "
        + "addresses of those that say who somebody is"
    ),
    (
      "callers: {opaque: false}",
      "c:1:19: `opaque` is false; write opaque: true, or leave the word out"
    ),
    (
      "callers: {headers: {sub: 'X User'}}",
      "c:1:26: \"X User\" is no name of a header; X-Forwarded-User"
    ),
    (
      "callers: {headers: {sub: X-User, groups: [X-Groups, X-Teams]}}",
      "c:1:42: the list \"groups\" is made of 2 headers; write one in brackets, whose values stand "
        + "with commas between them"
    ),
    (
      "callers: {headers: {groups: []}}",
      "c:1:29: the list \"groups\" is made of 0 headers; write one in brackets, whose values stand "
        + "with commas between them"
    ),
    (
      "callers: {headers: {groups: ['X Groups']}}",
      "c:1:30: \"X Groups\" is no name of a header; X-Forwarded-User"
    ),
    (
      "callers: {headers: {groups: [[X-Groups]]}}",
      "c:1:30: the header of \"groups\" is a list, not text"
    ),
    (
      "callers: {headers: {sub: [X-User]}}",
      "c:1:26: \"sub\" is who somebody is, and no list; take the brackets away"
    ),
    (
      "callers: {opaque: true, claims: 'SELECT a FROM s WHERE t = :token AND e > unixepoch()'}",
      "c:1:33: `claims` asks what time it is by unixepoch(), which changes without a commit; select "
        + "the time as `expires` instead, in Unix seconds: unixepoch(column) AS expires"
    ),
    (
      "callers: {headers: {sub: X-User}, cookie: 'a b'}",
      "c:1:43: \"a b\" is no name of a cookie; letters, digits, - and _"
    ),
    (
      "callers: {headers: {sub: X-User}, operators: admin}",
      "c:1:46: `operators` is \"admin\"; write anyone, signedIn, or claims such as "
        + "{role: [customer, admin]}"
    ),
    (
      "callers: {jwt: {keys: k.json}}",
      "c:1:16: `jwt` does not say which `algorithms` are good; add algorithms: [ES256], or what "
        + "your tokens are signed with"
    ),
    (
      "callers: {jwt: {algorithms: [ES265], keys: k.json}}",
      "c:1:30: \"ES265\" is no algorithm of a signature; did you mean \"ES256\"?"
    ),
    (
      "callers: {jwt: {algorithms: [ES256]}}",
      "c:1:16: `jwt` needs either `keys` or `secret`; keys: FILE names a JWK set; "
        + "secret: {file: FILE} is for HS256"
    ),
    (
      "callers: {jwt: {algorithms: [HS256], secret: {env: A, file: b}}}",
      "c:1:46: `secret` names no single place; write {env: NAME} or {file: FILE}"
    ),
    (
      "callers: {opaque: true, claims: 'SELECT :token', tickets: a}",
      "c:1:50: \"tickets\" is not a word of `callers`; did you mean \"ticketKey\"?"
    ),
  ])
  func `are told with their place`(yaml: String, problem: String) {
    #expect(problems("\(yaml)\n\(Self.queries)").first == problem)
  }

  @Test func `of a token that say yes or no are no number of somebody`() {
    #expect(Value(.boolean(true), as: .integer) == nil)
    #expect(Value(.string("7"), as: .integer) == .integer(7))
  }

  @Test func `name what cannot be read, at its place`() throws {
    let yaml = "callers: {jwt: {algorithms: [ES256], keys: nowhere/jwks.json}}\n\(Self.queries)"
    let problem = try #require(problems(yaml).first)
    #expect(problem.hasPrefix("c:1:44: "))
    #expect(problem.contains("nowhere/jwks.json"))
  }

  @Test func `need queries, which else would be every table`() {
    #expect(
      problems(Self.opaque) == [
        "c:1:10: `callers` without `queries`; name under `queries` what may be read: without them it "
          + "would be every table"
      ])
  }

  /// Whoever reads them in a file believes that they protect something.
  @Test func `of a query mean nothing without callers, and are refused`() {
    #expect(
      problems("queries: {a: {table: t, allow: signedIn}}") == [
        "c:1:32: the query \"a\" has `allow`, and nobody is told from anybody; say under `callers` "
          + "how callers are known"
      ])
    #expect(
      problems(
        "callers: {opaque: true, claims: 'SELECT :token'}\nqueries: {a: {table: t, allow: {'': x}}}"
      )
      .contains { $0.contains("has no name; write one, such as role") })
    #expect(
      problems("queries: {a: {table: t, parameters: {p: {type: text, claim: sub}}}}") == [
        "c:1:38: the parameter \"p\" takes a claim, and nobody has any; say under `callers` how "
          + "callers are known"
      ])
  }

  /// Else a group of the name ["admins"] would be the group admins.
  @Test(arguments: [
    "sql: SELECT 1 AS a WHERE 'a' IN (SELECT value FROM JSON_EACH ( :g ))",
    "table: t, where: a IN (SELECT value FROM json_tree(:g))",
  ])
  func `of a header that is a text let nobody read its items`(query: String) throws {
    func yaml(_ header: String) -> String {
      """
      proxies: [127.0.0.1]
      callers: {headers: {sub: X-User, groups: \(header)}}
      queries:
        a: {\(query), parameters: {g: {type: text, claim: groups}}}
      """
    }
    let problem = try #require(problems(yaml("X-Groups")).first)
    #expect(problem.hasPrefix("c:4:"))
    #expect(
      problem.hasSuffix(
        ": the items of \"g\" are read, and \"groups\" of `headers` is a text; make it a list, "
          + "groups: [X-Groups]"))
    #expect(problems(yaml("[X-Groups]")) == [])
  }

  @Test func `are read`() throws {
    let yaml = """
      callers: {opaque: true, cookie: session, claims: SELECT user FROM s WHERE token = :token,
        operators: {role: admin, level: [1, 2.5, true]}}
      queries:
        a: {table: t, allow: anyone}
        b: {table: t, allow: {role: [x, y]}, parameters: {p: {type: integer, claim: org.id}}}
        c: {table: t}
      """
    let configuration = try Configuration.parse(yaml, file: "c")
    let callers = try #require(configuration.callers)
    #expect(callers.cookie == "session")
    #expect(callers.claims == "SELECT user FROM s WHERE token = :token")
    #expect(
      callers.operators
        == .claims([
          "role": [.string("admin")], "level": [.integer(1), .double(2.5), .boolean(true)],
        ]))
    #expect(configuration.access["a"]?.rule == .anyone)
    #expect(configuration.access["b"]?.rule == .claims(["role": [.string("x"), .string("y")]]))
    #expect(configuration.access["b"]?.claims == ["p": "org.id"])
    #expect(configuration.access["c"] == nil)
  }
}
