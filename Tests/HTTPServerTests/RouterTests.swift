import HTTP1
import HTTPServer
import HTTPTypes
import Locks
import Testing

/// The response of a router to a request, without a server.
private func respond(_ router: Router, _ line: String) throws -> Response {
  let bytes = Array("\(line) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
  var parser = RequestHeadParser(limits: MessageLimits())
  var offset = 0
  let head = try #require(try parser.parse(bytes.span, from: &offset))
  let result = Result()
  router.handle(Request(head: head), Responder { response in result.set(response) })
  return try #require(result.response)
}

private final class Result: Sendable {
  private let stored = Mutex<Response?>(nil)

  var response: Response? { stored.withLock { $0 } }

  func set(_ response: Response) { stored.withLock { $0 = response } }
}

extension Response {
  fileprivate var text: String {
    if case .bytes(let bytes) = body { String(decoding: bytes, as: UTF8.self) } else { "" }
  }
}

private let router: Router = {
  var router = Router()
  func answer(_ name: String) -> Server.Handler {
    { request, responder in
      let key = request.parameters["key"]
      let encoded = request.parameters.encoded("key")
      responder.respond(
        .ok, body: .text("\(name) \(request.parameters["query"]) \(key) \(encoded)"))
    }
  }
  router.on(.get, "/", answer("root"))
  router.on(.get, "/v1/queries", answer("queries"))
  router.on(.get, "/v1/queries/{query}", answer("query"))
  router.on(.get, "/v1/queries/special", answer("special"))
  router.on(.get, "/v1/queries/{query}/records/{key}", answer("record"))
  router.on(.post, "/v1/queries/{query}/fetch", answer("fetch"))
  router.on(.delete, "/v1/queries/{query}/fetch", answer("unfetch"))
  return router
}()

@Test(arguments: [
  ("GET /", "root   "), ("GET /v1/queries", "queries   "), ("GET /v1/queries/a", "query a  "),
  ("GET /v1/queries/special", "special   "), ("GET /v1/queries/a%2Fb?c=d", "query a/b  "),
  ("GET /v1/queries/special/records/1", "record special 1 1"),
  ("GET /v1/queries/a/records/b%2Cc,d", "record a b,c,d b%2Cc,d"),
  ("GET /v1/queries/a/records/", "record a  "), ("GET /v1/queries/", "query   "),
  ("HEAD /v1/queries", "queries   "), ("POST /v1/queries/a/fetch", "fetch a  "),
])
func `a request finds the handler of its path and method`(line: String, text: String) throws {
  let response = try respond(router, line)
  #expect(response.status == .ok)
  #expect(response.text == text)
}

@Test(arguments: [
  "GET /v1", "GET /v1/", "GET /v1/queries/a/records", "GET /v1/queries/a/", "GET /nope",
  "POST /nope", "GET /v1/queries/a/records/b/c", "GET //",
])
func `a path without a route is 404`(line: String) throws {
  #expect(try respond(router, line).status == .notFound)
}

@Test func `another method is 405 and told what is allowed`() throws {
  let response = try respond(router, "PUT /v1/queries")
  #expect(response.status == .methodNotAllowed)
  #expect(response.fields[.allow] == "GET, HEAD, OPTIONS")
  let other = try respond(router, "GET /v1/queries/a/fetch")
  #expect(other.fields[.allow] == "POST, DELETE, OPTIONS")
}

@Test func `an unknown method is 501`() throws {
  #expect(try respond(router, "BREW /v1/queries").status == .notImplemented)
}

@Test func `OPTIONS lists what is allowed, of a resource and of the server`() throws {
  let response = try respond(router, "OPTIONS /v1/queries/a/fetch")
  #expect(response.status == .noContent)
  #expect(response.fields[.allow] == "POST, DELETE, OPTIONS")
  #expect(try respond(router, "OPTIONS *").fields[.allow] == "OPTIONS, GET, HEAD, POST, DELETE")
}

@Test func `what has no route is left to the files, for GET and HEAD`() throws {
  var router = router
  router.otherwise { _, responder in responder.respond(.ok, body: .text("file")) }
  #expect(try respond(router, "GET /a.js").text == "file")
  #expect(try respond(router, "HEAD /a.js").text == "file")
  #expect(try respond(router, "POST /a.js").status == .methodNotAllowed)
  #expect(try respond(router, "PUT /v1/queries").status == .methodNotAllowed)
}

@Test func `a problem is RFC 9457 and its texts are escaped`() throws {
  let response = Problem.response(Problem(.notFound, "no \"a\\b\"\n"))
  #expect(response.fields[.contentType] == "application/problem+json")
  #expect(
    response.text
      == #"{"type":"about:blank","title":"Not Found","status":404,"detail":"no \"a\\b\"\n"}"#
      + "\n")
}
